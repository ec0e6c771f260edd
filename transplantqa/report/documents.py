"""The documents read, for the terminal: what was found in each, the verdict, and its reasons."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from transplantqa.report.text import plain

NAMES = ("document_id", "institution", "group", "phase")
COUNTS = ("pages", "sections", "chunks", "characters")


def documents_read(rows: Sequence[Mapping[str, Any]]) -> RenderableType:
    """Return rows of the ingest table for people: the counts as a table, and below it each document's reasons.

    Reasons are sentences; in a column of a narrow terminal nobody could read them. One that every document has is told
    once. A column that no document has a value for is left out.
    """
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    names = [name for name in NAMES if any(row[name] for row in rows)]
    for name in names:
        table.add_column(name.removesuffix("_id"), overflow="fold")
    for column in COUNTS:
        table.add_column(column, justify="right", no_wrap=True, min_width=len(column))
    table.add_column("verdict")
    for row in rows:
        words = [plain(row[name] or "") for name in names]
        counts = [row["pages"], len(row["sections"]), len(row["chunks"]), row["characters"]]
        table.add_row(*map(Text, words), *(f"{count:,}" for count in counts), row["verdict"])
    return Group(table, *_reasons(rows))


def _reasons(rows: Sequence[Mapping[str, Any]]) -> Iterator[RenderableType]:
    shared = set.intersection(*(set(row["reasons"]) for row in rows)) if len(rows) > 1 else set()
    if shared:
        yield Text("every document")
        yield from map(_indented, sorted(shared))
    for row in rows:
        own = [reason for reason in row["reasons"] if reason not in shared]
        if own:
            yield Text(f"{plain(row['document_id'])} ({row['verdict']})")
            yield from map(_indented, own)


def _indented(reason: str) -> RenderableType:
    return Padding(Text(plain(reason)), (0, 0, 0, 2))
