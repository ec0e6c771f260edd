"""A contrast's folder: ``contrast.json`` and one Parquet file a table."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from transplantqa.store.atomic import json_bytes, refusals, write_atomically
from transplantqa.store.json_record import read_json_record

CONTRAST_FILE = "contrast.json"


def contrast_folder(root: Path, contrast_id: str) -> Path:
    """Return where a contrast lies, given the artifacts folder."""
    return root / "contrasts" / contrast_id


def write_contrast(root: Path, record: Mapping[str, Any], tables: Mapping[str, pa.Table]) -> "ContrastFolder":
    """Write a contrast; ``contrast.json`` comes last, so that a folder that has it is whole.

    Raises:
        StoreError: the disk refuses.
    """
    folder = contrast_folder(root, str(record["contrast_id"]))
    with refusals("write", folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name, table in tables.items():
            partial = folder / f"{name}.partial"
            pq.write_table(table, partial, compression="zstd")
            partial.replace(folder / f"{name}.parquet")
    write_atomically(folder / CONTRAST_FILE, json_bytes(record))
    return ContrastFolder(folder)


class ContrastFolder:
    """A finished contrast, read from its folder.

    Raises:
        InputError: the folder has no ``contrast.json``, or it can't be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def record(self) -> Mapping[str, Any]:
        """The whole of ``contrast.json``."""
        return read_json_record(self.path / CONTRAST_FILE, "Run transplantqa contrast again.")

    @property
    def contrast_id(self) -> str:
        """The hash of both runs and of everything else that can change the contrast."""
        return str(self.record["contrast_id"])

    @property
    def metrics(self) -> Mapping[str, float]:
        """Flat figures by name."""
        return {str(name): float(value) for name, value in self.record["metrics"].items()}

    def rows(self, name: str) -> list[dict[str, Any]]:
        """Return a table as plain rows; none where it isn't there."""
        file = self.path / f"{name}.parquet"
        return list(pq.read_table(file).to_pylist()) if file.is_file() else []

    def tables(self) -> tuple[Path, ...]:
        """Return the files of its tables, sorted."""
        return tuple(sorted(self.path.glob("*.parquet")))
