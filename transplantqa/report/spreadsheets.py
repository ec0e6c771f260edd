"""The tables of a run's findings as CSV, for those who open them in a spreadsheet."""

import csv
import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from transplantqa.formulas import guarded
from transplantqa.report.text import plain
from transplantqa.store.atomic import refusals, write_atomically
from transplantqa.store.run_folder import RunFolder

SPREADSHEETS_FOLDER = "csv"
STAGE_TABLES = frozenset(
    {"documents", "sections", "chunks", "questions", "evidence", "answers", "judgements", "comparisons"}
)
"""What the findings are made from: Parquet alone, being large, nested, or not to be passed on."""


def write_spreadsheets(run: RunFolder, folder: Path) -> list[Path]:
    """Write each table of findings into ``folder`` and return the paths.

    Lists are joined by "; ". Text that a spreadsheet would take for a formula gets an apostrophe before it.

    Raises:
        StoreError: the disk refuses.
    """
    written = []
    with refusals("write", folder):
        folder.mkdir(parents=True, exist_ok=True)
    for name in run.tables():
        if name not in STAGE_TABLES:
            path = folder / f"{name}.csv"
            write_atomically(path, "".join(_lines(run, name)).encode("utf-8", "replace"))
            written.append(path)
    return written


def _lines(run: RunFolder, name: str) -> Iterator[str]:
    yield _csv([pq.read_schema(run.table_path(name)).names])
    for batch in run.batches(name):
        columns = ([_cell(value) for value in column.to_pylist()] for column in batch.columns)
        yield _csv(zip(*columns, strict=True))


def _csv(rows: Iterable[Iterable[Any]]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(rows)
    return buffer.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        value = "; ".join(map(str, value))
    if not isinstance(value, str):
        return value
    return guarded(plain(value))
