"""Mending a fingerprint's folder: what was done, and parts rewritten without the rows that others have already."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from transplantqa.store.atomic import refusals, sync_folder
from transplantqa.store.matching import distinct, identifying_columns
from transplantqa.store.parts import LedgerFile, ledger_files, read_part, write_part
from transplantqa.store.tables import TableSpec


@dataclass(frozen=True, slots=True)
class RepairReport:
    """What repairing did: journals of killed writers sealed, damaged parts set aside, repeated rows dropped."""

    journals: int
    damaged: tuple[Path, ...]
    dropped: int


def drop_repetitions(folder: Path, spec: TableSpec) -> int:
    """Keep the first row of each unit, inputs and attempt, in order of file name; return how many rows were dropped.

    A part is written anew before the old one goes, so that a crash in between leaves rows twice, never none.

    Raises:
        StoreError: the disk refuses.
    """
    names = [*identifying_columns(spec), "attempt"]
    files = [file for file in ledger_files(folder) if file.kind == "part"]
    indexes = [read_part(file, names) for file in files]
    if not files:
        return 0
    rows = pa.concat_tables(indexes)
    numbered = rows.append_column("row", pa.array(np.arange(len(rows))))
    kept = distinct(numbered, spec, "attempt")["row"].to_numpy()
    starts = np.cumsum([0, *(len(index) for index in indexes)])
    for file, start, end in zip(files, starts[:-1], starts[1:], strict=True):
        own = kept[(kept >= start) & (kept < end)] - start
        if len(own) < end - start:
            _rewrite(file, own, folder, spec)
    return int(len(rows) - len(kept))


def _rewrite(file: LedgerFile, kept: np.ndarray, folder: Path, spec: TableSpec) -> None:
    if len(kept):
        write_part(folder, file.stem, read_part(file, spec.schema.names).take(pa.array(kept)))
    with refusals("remove", file.path):
        file.path.unlink(missing_ok=True)
        sync_folder(folder)
