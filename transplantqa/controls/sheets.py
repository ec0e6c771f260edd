"""Tables for people: CSV that is safe to open in a spreadsheet."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from transplantqa.formulas import harmless
from transplantqa.store.atomic import write_atomically

MARK = b"\xef\xbb\xbf"
"""Tells a spreadsheet that a file is UTF-8."""


def write_sheet(path: Path, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Write a CSV that is safe to open in a spreadsheet: no cell is a formula, UTF-8 with a mark.

    Raises:
        StoreError: the disk refuses.
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow(columns)
    writer.writerows([["" if value is None else harmless(str(value)) for value in row] for row in rows])
    write_atomically(path, MARK + text.getvalue().encode("utf-8", "replace"))
