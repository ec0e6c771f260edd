"""Tables for people: CSV that is safe to open in a spreadsheet."""

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from transplantqa.formulas import harmless
from transplantqa.store.atomic import write_atomically

MARK = b"\xef\xbb\xbf"
"""Tells a spreadsheet that a file is UTF-8."""


def sheet(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    """Return rows as CSV for a spreadsheet: UTF-8 with a mark, a line a row, no cell a formula; null is empty."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow(columns)
    writer.writerows([["" if value is None else harmless(str(value)) for value in row] for row in rows])
    return MARK + text.getvalue().encode("utf-8", "replace")


def write_sheet(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write what ``sheet`` returns.

    Raises:
        StoreError: the disk refuses.
    """
    write_atomically(path, sheet(columns, rows))
