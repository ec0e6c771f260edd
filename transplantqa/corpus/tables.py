"""Which rows of a table name its columns."""

import re
from collections.abc import Sequence

from transplantqa.corpus.lines import CELL_SEPARATOR, Line

MAX_HEADER_ROWS = 3
"""Rows that may name columns together. Ours: two are common, with groups of columns above."""
MAX_HEADER_CELL = 40
"""Characters of a cell above which it doesn't name a column. Ours."""
_DIGIT = re.compile(r"\d")


def table_of(rows: Sequence[tuple[int, Line]]) -> list[tuple[int, int, int]]:
    """Return the (start, end of the header, end) of the table that consecutive rows make; none for fewer than two.

    Args:
        rows: each with the position of its text.
    """
    if len(rows) < 2:
        return []
    count = header_rows([line for _, line in rows])
    start = rows[0][0]
    header_end = rows[count - 1][0] + len(rows[count - 1][1].text) if count else start
    return [(start, header_end, rows[-1][0] + len(rows[-1][1].text))]


def header_rows(rows: Sequence[Line]) -> int:
    """Return how many of the first rows name the columns.

    Those the file marks as such; else the first one if it alone is bold; else those without a digit above rows of which
    most have one; else, in a table of words, the first one if it has a short cell for every column.
    """
    marked = _leading(rows, [row.header for row in rows])
    if marked:
        return marked
    if rows[0].bold and not all(row.bold for row in rows[1:]):
        return 1
    digits = [_DIGIT.search(row.text) is not None for row in rows]
    bare = _leading(rows, [not digit for digit in digits])
    if bare and 2 * sum(digits[bare:]) > len(rows) - bare:
        return bare
    cells = [row.text.split(CELL_SEPARATOR) for row in rows]
    columns = max(len(row) for row in cells[1:])
    short = max(map(len, cells[0])) <= MAX_HEADER_CELL
    longest = max(len(cell) for row in cells[1:] for cell in row)
    names = len(rows) > 2 and short and not digits[0] and len(cells[0]) == columns > 1
    return int(names and max(map(len, cells[0])) < longest)


def _leading(rows: Sequence[Line], wanted: Sequence[bool]) -> int:
    """Return for how many rows from the first it is so; 0 where that leaves no row under them or is too many."""
    count = next((number for number, holds in enumerate(wanted) if not holds), len(rows))
    return count if count < len(rows) and count <= MAX_HEADER_ROWS else 0
