"""A split read back from the Hub by ``datasets`` and compared with the file that was pushed."""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from transplantqa.errors import InputError
from transplantqa.hub.dataset import HubDataset
from transplantqa.release.record import ReleaseRecord, table_path
from transplantqa.store.hashing import file_sha256

_BATCH_ROWS = 20_000


@dataclass(frozen=True)
class Reloaded:
    """A split that came back as it was sent: its rows and its file's SHA-256."""

    config: str
    split: str
    rows: int
    sha256: str


def reload(dataset: HubDataset, folder: Path, record: ReleaseRecord, table: tuple[str, str], commit: str) -> Reloaded:
    """Load a split with ``datasets.load_dataset`` and compare rows, schema and every value with the pushed file.

    Raises:
        InputError: something differs.
        HubUnavailableError: the Hub doesn't answer.
    """
    import datasets  # noqa: PLC0415 - heavy

    config, split = table
    path = folder / table_path(config, split)
    with tempfile.TemporaryDirectory(prefix="transplantqa-reload-") as cache:
        datasets.disable_progress_bars()
        try:
            loaded = dataset.patience.call(
                f"load {config}/{split} of {dataset.repo}",
                lambda: datasets.load_dataset(dataset.repo, config, split=split, revision=commit, cache_dir=cache),
            )
            problem = _problem(loaded, path, record.rows[config][split])
        except datasets.exceptions.DatasetsError as error:
            problem = f"datasets can't load it ({' '.join(str(error).split())[:200]})"
    if problem:
        raise InputError(
            f"{dataset.repo} at {commit[:12]}: {config}/{split} came back changed: {problem}.\n"
            "Push again; if it stays, report it."
        )
    return Reloaded(config, split, record.rows[config][split], file_sha256(path))


def _problem(loaded: Any, path: Path, rows: int) -> str | None:
    import datasets  # noqa: PLC0415 - heavy

    if len(loaded) != rows:
        return f"{len(loaded):,} rows, {rows:,} were pushed"
    with pq.ParquetFile(path) as file:
        expected = datasets.Features.from_arrow_schema(file.schema_arrow)
        if loaded.features != expected:
            changed = sorted(
                name for name in {*loaded.features, *expected} if loaded.features.get(name) != expected.get(name)
            )
            return f"the schema of {', '.join(changed)}"
        view, start = loaded.with_format("arrow"), 0
        for batch in file.iter_batches(batch_size=_BATCH_ROWS):
            sent = pa.Table.from_batches([batch])
            back = view[start : start + batch.num_rows].cast(sent.schema)
            if not back.equals(sent):
                return f"rows {start:,} to {start + batch.num_rows:,}"
            start += batch.num_rows
    return None
