"""The rows of a PDF page as lines: cells joined, bullets and numbers put before the text they label."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from transplantqa.corpus.cleaning import join_lines, joined_word, plain
from transplantqa.corpus.lines import BULLET, CELL_SEPARATOR, LABEL, Line, Removed, merged, starts_item
from transplantqa.corpus.pdf_layout import Block, Row
from transplantqa.corpus.pdf_text import BOLD, Fragment


def lines_of(
    blocks: Sequence[Block], page: int, box: tuple[float, float, float, float], words: frozenset[str]
) -> list[Line]:
    """Return the lines of a page's blocks; ``box``: left, bottom, right, top of the page; ``words``: the document's."""
    turn = blocks[0].rows[0].fragments[0].turn if blocks else 0
    lines = []
    for block in blocks:
        for number, row in enumerate(block.rows):
            made = [line for line in _row_lines(row, page, words) if line.text]
            for line in made:
                own_turn = row.fragments[0].turn
                line.height = _height(line.base, own_turn, box)
                line.turned = own_turn != turn
            if made and number == 0:
                made[0].starts_block = True
            lines += made
    return lines


def _height(base: float, turn: int, box: tuple[float, float, float, float]) -> float:
    left, bottom, right, top = box
    low, high = {0: (bottom, top), 1: (-right, -left), 2: (-top, -bottom), 3: (left, right)}[turn]
    return (base - low) / max(1.0, high - low)


def _row_lines(row: Row, page: int, words: frozenset[str]) -> list[Line]:
    cells = row.cells
    if len(cells) == 1:
        return [_line(fragment, page) for fragment in cells[0]]
    label = plain(" ".join(fragment.text for fragment in cells[0]))
    if len(cells) == 2 and LABEL.match(label):
        lines = [_line(fragment, page) for fragment in cells[1]]
        labelled = any(c.isalnum() for c in label)
        lines[0].text = f"{label if labelled else BULLET} {lines[0].text}"
        lines[0].x0 = row.x0
        lines[0].kind = "item"
        own = tuple(place for fragment in cells[0] for place in fragment.places)
        lines[0].places = own + lines[0].places
        if not labelled and label != BULLET:
            lines[0].changes = (Removed(page, "bullets", label, BULLET, merged(own)),)
        return lines
    first = _line(cells[0][0], page)
    texts = [join_lines([(plain(f.text), f.hyphen) for f in cell], words) for cell in cells]
    first.text = CELL_SEPARATOR.join(text for text in texts if text)
    first.kind = "row"
    first.x1 = row.x1
    first.bold = all(fragment.bold_share > BOLD for fragment in row.fragments)
    first.places = tuple(place for fragment in row.fragments for place in fragment.places)
    first.changes = tuple(change for cell in cells for change in _joins(cell, page, words))
    first.hyphen = False
    return [first]


def _line(fragment: Fragment, page: int) -> Line:
    text = plain(fragment.text)
    mark = max(fragment.marks, key=lambda m: (fragment.marks[m], -m)) if fragment.marks else -1
    return Line(
        page=page,
        text=text,
        kind="item" if starts_item(text) else "text",
        hyphen=fragment.hyphen,
        x0=fragment.x0,
        x1=fragment.x1,
        base=fragment.base,
        size=fragment.size,
        bold=fragment.bold_share > BOLD,
        mark=mark,
        places=fragment.places,
    )


def _joins(cell: Sequence[Fragment], page: int, words: frozenset[str]) -> Iterator[Removed]:
    for one, other in pairwise(cell):
        if one.hyphen:
            yield joined_word(one.text, other.text, page, one.places + other.places[:1], words)
