"""Parts rewritten without the rows that other parts have already."""

from pathlib import Path

import pyarrow as pa

from transplantqa.store.atomic import refusals, sync_folder
from transplantqa.store.matching import identifying_columns
from transplantqa.store.parts import ledger_files, read_part, write_part
from transplantqa.store.tables import TableSpec


def drop_repetitions(folder: Path, spec: TableSpec) -> int:
    """Keep the first row of each unit, inputs and attempt, in order of file name; return how many rows were dropped.

    A part is written anew before the old one goes, so that a crash in between leaves rows twice, never none.

    Raises:
        StoreError: the disk refuses.
    """
    seen: set[tuple[object, ...]] = set()
    dropped = 0
    for file in [file for file in ledger_files(folder) if file.kind == "part"]:
        rows = read_part(file, spec.schema.names)
        names = [*identifying_columns(spec), "attempt"]
        kept = []
        for position, identity in enumerate(zip(*(rows[name].to_pylist() for name in names), strict=True)):
            if identity not in seen:
                seen.add(identity)
                kept.append(position)
        if len(kept) < len(rows):
            dropped += len(rows) - len(kept)
            if kept:
                write_part(folder, file.stem, rows.take(pa.array(kept)), spec)
            with refusals("remove", file.path):
                file.path.unlink(missing_ok=True)
                sync_folder(folder)
    return dropped
