"""Reading order of one page: fragments to rows, rows to blocks, blocks to columns."""

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from transplantqa.corpus.pdf_text import BOLD, Fragment

LEADING = 1.7
"""Line heights between two baselines from which they belong to different blocks."""
_WORD_SPACE = (0.19, 0.5)
"""Ems of white that are a usual space between words."""
_CELL_LINES = 8
"""Lines a table cell may run to before text beside it counts as a column of its own."""
_PROSE_CELL = 25
"""Characters from which a cell may be a line of a column of prose instead."""


@dataclass(slots=True)
class Row:
    """Cells side by side, each the fragments of its lines; a plain line is a row of one cell of one fragment."""

    cells: list[list[Fragment]]

    @property
    def fragments(self) -> Sequence[Fragment]:
        """Every fragment, cell by cell."""
        if len(self.cells) == 1:
            return self.cells[0]
        return [fragment for cell in self.cells for fragment in cell]

    @property
    def x0(self) -> float:
        """Left edge."""
        if len(self.cells) == 1 and len(self.cells[0]) == 1:
            return self.cells[0][0].x0
        return min(fragment.x0 for fragment in self.fragments)

    @property
    def x1(self) -> float:
        """Right edge."""
        if len(self.cells) == 1 and len(self.cells[0]) == 1:
            return self.cells[0][0].x1
        return max(fragment.x1 for fragment in self.fragments)

    @property
    def top(self) -> float:
        """Upper edge, from the first baseline and the size of the text."""
        return max(fragment.base + 0.75 * fragment.size for fragment in self.fragments)

    @property
    def bottom(self) -> float:
        """Lower edge, from the last baseline and the size of the text."""
        return min(fragment.base - 0.25 * fragment.size for fragment in self.fragments)

    @property
    def size(self) -> float:
        """Size of most of the characters."""
        fragments = self.fragments
        if len(fragments) == 1:
            return fragments[0].size
        weights: dict[float, int] = {}
        for fragment in fragments:
            weights[fragment.size] = weights.get(fragment.size, 0) + len(fragment.text)
        return max(weights, key=lambda size: (weights[size], size))


@dataclass(slots=True)
class Block:
    """Rows that follow each other closely in one column."""

    rows: list[Row] = field(default_factory=list)
    x0: float = 0.0
    x1: float = 0.0
    top: float = 0.0
    bottom: float = 0.0

    def add(self, row: Row) -> None:
        """Append a row below."""
        if len(row.cells) == 1 and len(row.cells[0]) == 1:
            line = row.cells[0][0]
            x0, x1 = line.x0, line.x1
            top, bottom = line.base + 0.75 * line.size, line.base - 0.25 * line.size
        else:
            x0, x1, top, bottom = row.x0, row.x1, row.top, row.bottom
        if not self.rows:
            self.x0, self.x1, self.top, self.bottom = x0, x1, top, bottom
        self.x0, self.x1 = min(self.x0, x0), max(self.x1, x1)
        self.top, self.bottom = max(self.top, top), min(self.bottom, bottom)
        self.rows.append(row)


def reading_order(fragments: Sequence[Fragment]) -> list[Block]:
    """Arrange a page's fragments, given in content order, as blocks in reading order.

    Text turned away from the direction of most of the page comes last.
    """
    weights: dict[int, int] = {}
    for fragment in fragments:
        weights[fragment.turn] = weights.get(fragment.turn, 0) + len(fragment.text)
    blocks: list[Block] = []
    for turn in sorted(weights, key=lambda turn: (-weights[turn], turn)):
        rows = _rows(_split_at_columns([fragment for fragment in fragments if fragment.turn == turn]))
        blocks.extend(_ordered(_blocks(_split_columns(_split_cells(rows)))))
    return blocks


def _split_at_columns(fragments: Sequence[Fragment]) -> list[Fragment]:
    """Part cells that nearly touch: before a word that starts where others in mid-line do, after no usual space."""
    edges: dict[int, float] = {}
    for fragment in fragments:
        edges[round(fragment.base)] = min(fragment.x0, edges.get(round(fragment.base), fragment.x0))
    lefts = Counter(round(2 * f.x0) for f in fragments if f.x0 > edges[round(f.base)])
    if max(lefts.values(), default=0) < 2:
        return list(fragments)
    result = []
    for fragment in fragments:
        pairs = zip(fragment.ends, fragment.starts[1:], strict=False)
        cuts = [
            number
            for number, (end, start) in enumerate(pairs, start=1)
            if not _WORD_SPACE[0] < (start - end) / fragment.size < _WORD_SPACE[1] and lefts[round(2 * start)] > 1
        ]
        result += fragment.cut(cuts) if cuts and len(fragment.starts) == fragment.text.count(" ") + 1 else [fragment]
    return result


def _rows(fragments: Iterable[Fragment]) -> list[Row]:
    """Put fragments beside each other into rows, following the order in which the page draws them."""
    rows: list[Row] = []
    for fragment in fragments:
        if not (rows and (_beside(rows, fragment) or _below_in_cell(rows[-1], fragment))):
            rows.append(Row([[fragment]]))
    return rows


def _beside(rows: list[Row], fragment: Fragment) -> bool:
    """Add the fragment as the next cell of the last row, taking in the lines just drawn if they are its first cell."""
    row = rows[-1]
    last = row.cells[-1][-1]
    if abs(last.base - fragment.base) < 0.5 * max(last.size, fragment.size) and len(row.cells[-1]) == 1:
        gap = fragment.x0 - last.x1
        if -0.3 * fragment.size < gap < 0.6 * fragment.size and not fragment.starts_cell:
            row.cells[-1][-1] = _joined(last, fragment)
            return True
        if gap >= 0 or fragment.starts_cell:
            row.cells.append([fragment])
            return True
    if len(row.cells) > 1:
        if (
            fragment.x0 >= row.cells[-1][-1].x1
            and row.bottom - fragment.size < fragment.base < row.top + 0.5 * fragment.size
        ):
            row.cells.append([fragment])
            return True
        return False
    return _beside_stack(rows, fragment)


def _beside_stack(rows: list[Row], fragment: Fragment) -> bool:
    """Take the single lines just drawn, one below the other, as the first cell of a row the fragment continues."""
    stack = [rows[-1]]
    for row in reversed(rows[-_CELL_LINES:-1]):
        above, below = row.cells[0][0], stack[0].cells[0][0]
        if len(row.cells) > 1 or not 0 < above.base - below.base < LEADING * below.size:
            break
        if abs(above.x0 - below.x0) > 2 * below.size or above.size != below.size:
            break
        stack.insert(0, row)
    while stack and stack[0].cells[0][0].base > fragment.base + 0.5 * fragment.size:
        stack.pop(0)
    if len(stack) < 2 or fragment.size != stack[0].size:
        return False
    if len(stack) > 3 and statistics.median(len(row.cells[0][0].text) for row in stack) >= _PROSE_CELL:
        return False
    first = stack[0].cells[0][0]
    if fragment.x0 < max(row.x1 for row in stack) or abs(first.base - fragment.base) > 0.5 * first.size:
        return False
    del rows[-len(stack) :]
    rows.append(Row([[row.cells[0][0] for row in stack], [fragment]]))
    return True


def _below_in_cell(row: Row, fragment: Fragment) -> bool:
    """Add the fragment to the last cell of a row of several, when it stands just under that cell's last line."""
    if len(row.cells) < 2:
        return False
    last = row.cells[-1][-1]
    beside_previous = fragment.x0 >= max(line.x1 for line in row.cells[-2])
    close = 0 < last.base - fragment.base < LEADING * last.size
    if beside_previous and close and fragment.x0 < last.x1 and last.size == fragment.size:
        row.cells[-1].append(fragment)
        return True
    return False


def _joined(left: Fragment, right: Fragment) -> Fragment:
    """Join two fragments of one line that only a change of style or an unusual gap set apart."""
    total = len(left.text) + len(right.text)
    marks = dict(left.marks)
    for mark, count in right.marks.items():
        marks[mark] = marks.get(mark, 0) + count
    return Fragment(
        text=f"{left.text} {right.text}",
        x0=left.x0,
        x1=right.x1,
        base=left.base,
        size=left.size if len(left.text) >= len(right.text) else right.size,
        bold_share=(left.bold_share * len(left.text) + right.bold_share * len(right.text)) / total,
        turn=left.turn,
        hyphen=right.hyphen,
        marks=marks,
        starts=left.starts + right.starts,
        ends=left.ends + right.ends,
        places=left.places + right.places,
    )


def _split_cells(rows: list[Row]) -> list[Row]:
    """Part cells that nearly touch, where words start exactly at every column of the table row above or below."""
    result = []
    for index, row in enumerate(rows):
        near = [rows[other] for other in (index - 1, index + 1) if 0 <= other < len(rows)]
        table = max(near, key=lambda other: len(other.cells), default=row)
        parted = _parted(row, [cell[0].x0 for cell in table.cells]) if len(table.cells) > len(row.cells) else None
        close = parted is not None and abs(row.top - table.top) < 4 * row.size and table.size == row.size
        result.append(parted if parted is not None and close else row)
    return result


def _parted(row: Row, columns: Sequence[float]) -> Row | None:
    """Return the row with a cell for each of ``columns``, or None if not each has a word that starts there."""
    if any(len(cell) > 1 for cell in row.cells):
        return None
    cells = []
    for (fragment,) in row.cells:
        if fragment.text.count(" ") + 1 != len(fragment.starts):
            return None
        cuts = [n for n, x in enumerate(fragment.starts) if n and any(abs(x - column) < 1.0 for column in columns)]
        cells += [[piece] for piece in fragment.cut(cuts)]
    found = [cell[0].x0 for cell in cells]
    fits = len(found) == len(columns) and all(abs(x - column) < 1.0 for x, column in zip(found, columns, strict=True))
    return Row(cells) if fits else None


def _split_columns(rows: list[Row]) -> list[Row]:
    """Part rows of two cells that are lines of two columns of prose drawn row by row.

    Lines of prose fill their column, cells of a table don't; both columns must be at least five lines long.
    """
    pairs = [row for row in rows if len(row.cells) == 2 and all(len(cell) == 1 for cell in row.cells)]
    prose = [row for row in pairs if all(len(cell[0].text) >= _PROSE_CELL for cell in row.cells)]
    if len(prose) < 5 or len(prose) < 0.6 * len(pairs):
        return rows
    for side in (0, 1):
        widths = [row.cells[side][0].x1 - row.cells[side][0].x0 for row in prose]
        if statistics.median(widths) < 0.8 * max(widths):
            return rows
    gutter = (max(row.cells[0][0].x1 for row in prose), min(row.cells[1][0].x0 for row in prose))
    if gutter[0] >= gutter[1]:
        return rows
    left: list[Row] = []
    right: list[Row] = []
    result: list[Row] = []
    for row in rows:
        if any(row is pair for pair in pairs):
            left.append(Row([row.cells[0]]))
            right.append(Row([row.cells[1]]))
        elif row.x1 <= gutter[1]:
            left.append(row)
        elif row.x0 >= gutter[0]:
            right.append(row)
        else:
            result += [*left, *right, row]
            left, right = [], []
    return result + left + right


def _blocks(rows: Iterable[Row]) -> list[Block]:
    """Group consecutive rows that go down closely in one column and in one size."""
    blocks: list[Block] = []
    for row in rows:
        block = blocks[-1] if blocks else None
        if block is None or not _follows(block, row):
            block = Block()
            blocks.append(block)
        block.add(row)
    return blocks


def _follows(block: Block, row: Row) -> bool:
    previous = block.rows[-1]
    if abs(previous.size - row.size) > 0.6 or _is_bold(previous) != _is_bold(row):
        return False
    step = previous.fragments[-1].base if len(previous.cells) == 1 else previous.bottom + 0.25 * previous.size
    distance = step - row.cells[0][0].base
    return 0 < distance < LEADING * max(previous.size, row.size) and row.x0 < block.x1 and row.x1 > block.x0


def _is_bold(row: Row) -> bool:
    if len(row.cells) == 1 and len(row.cells[0]) == 1:
        return row.cells[0][0].bold_share > BOLD
    return all(fragment.bold_share > BOLD for fragment in row.fragments)


def _ordered(blocks: list[Block]) -> list[Block]:
    """Order blocks: column after column where a gutter parts them, else from the top down."""
    if len(blocks) < 2:
        return blocks
    gutter = _best_gutter(blocks) if len(blocks) <= 300 else None
    by_height = sorted(blocks, key=lambda block: (-block.top, block.x0, -block.bottom))
    if gutter is None:
        return by_height
    result: list[Block] = []
    left: list[Block] = []
    right: list[Block] = []
    for block in by_height:
        if block.x1 <= gutter:
            left.append(block)
        elif block.x0 >= gutter:
            right.append(block)
        else:
            result += [*_ordered(left), *_ordered(right), block]
            left, right = [], []
    return result + _ordered(left) + _ordered(right)


def _best_gutter(blocks: list[Block]) -> float | None:
    """Return the x that parts most text into two columns beside each other, or None."""
    best, best_score = None, 0.0
    edges = sorted({block.x0 for block in blocks})
    for x0 in edges[1:]:
        before = [block.x1 for block in blocks if block.x1 <= x0]
        if not before:
            continue
        gutter = (max(before) + x0) / 2
        score = _two_sided(blocks, gutter)
        if score > best_score:
            best, best_score = gutter, score
    return best


def _two_sided(blocks: list[Block], gutter: float) -> float:
    """Return the height of text that stands beside other text across ``gutter``, where columns are tall enough."""
    crossing = sorted((b for b in blocks if b.x0 < gutter < b.x1), key=lambda b: -b.top)
    limits = [*(b.top for b in crossing), float("-inf")]
    upper = float("inf")
    total = 0.0
    for lower in limits:
        band = [b for b in blocks if lower <= b.top < upper and not b.x0 < gutter < b.x1]
        left = [b for b in band if b.x1 <= gutter]
        right = [b for b in band if b.x0 >= gutter]
        if left and right:
            total += _overlap(left, right)
        upper = lower
    return total


def _overlap(left: list[Block], right: list[Block]) -> float:
    top = min(max(b.top for b in left), max(b.top for b in right))
    bottom = max(min(b.bottom for b in left), min(b.bottom for b in right))
    shorter = min(max(b.top for b in side) - min(b.bottom for b in side) for side in (left, right))
    size = max(b.rows[0].size for b in left + right)
    overlap = top - bottom
    return overlap if overlap >= 0.5 * shorter and shorter >= 2.5 * size else 0.0
