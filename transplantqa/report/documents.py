"""The documents read, for the terminal: what was found in each, the verdict, and its reasons."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from transplantqa.report.text import plain

COUNTS = ("pages", "sections", "chunks", "characters")


def documents_read(rows: Sequence[Mapping[str, Any]]) -> RenderableType:
    """Return rows of the ingest table for people: the counts as a table, and below it each document's reasons.

    Reasons are sentences; in a column of a narrow terminal nobody could read them.
    """
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("document", "institution", "group", "phase"):
        table.add_column(column, overflow="fold")
    for column in COUNTS:
        table.add_column(column, justify="right")
    table.add_column("verdict")
    reasons: list[RenderableType] = []
    for row in rows:
        words = [plain(row[name] or "") for name in ("document_id", "institution", "group", "phase")]
        counts = [row["pages"], len(row["sections"]), len(row["chunks"]), row["characters"]]
        table.add_row(*map(Text, words), *(f"{count:,}" for count in counts), row["verdict"])
        if row["reasons"]:
            reasons.append(Text(f"{words[0]} ({row['verdict']})"))
            reasons += [Padding(Text(plain(reason)), (0, 0, 0, 2)) for reason in row["reasons"]]
    return Group(table, *reasons)
