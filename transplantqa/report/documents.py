"""The table of documents read: what was found in each, and the verdict with its reasons."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from transplantqa.report.text import plain

COUNTS = ("pages", "sections", "chunks", "characters")


def documents_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return rows of the ingest table for people."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("document", "institution", "group", "phase"):
        table.add_column(column, overflow="fold")
    for column in COUNTS:
        table.add_column(column, justify="right")
    table.add_column("verdict")
    table.add_column("reasons", overflow="fold")
    for row in rows:
        words = [plain(row[name] or "") for name in ("document_id", "institution", "group", "phase")]
        counts = [row["pages"], len(row["sections"]), len(row["chunks"]), row["characters"]]
        reasons = plain("; ".join(row["reasons"]))
        table.add_row(*map(Text, words), *(f"{count:,}" for count in counts), row["verdict"], Text(reasons))
    return table
