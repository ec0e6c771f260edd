"""A document as a sequence of lines in reading order: what every file format is read into before it gets sections."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Kind = Literal["text", "item", "row"]
BULLET = "•"
CELL_SEPARATOR = " | "
LABEL = re.compile(
    r"^(?:[•●▪◦‣·○■□➢➤✓✔❖\u2013\u2014*!\uf0a7\uf0b7\uf06e-]"
    r"|\(?(?:\d{1,3}(?:\.\d{1,3}){0,4}|[a-zA-Z]|[ivxIVX]{1,5})[.)]?)$"
)
"""A bullet or number that stands apart from the text it labels."""


Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Removed:
    """What cleaning took out of a page or wrote in another way, and the kind of thing it was taken for.

    ``became`` stands in its place, if anything does; reordered lines are kept, at another place. ``spans`` are where it
    stood in the page's text as the file gives it (first position, the one after the last); none where that text isn't
    kept.
    """

    page: int
    kind: str
    text: str
    became: str = ""
    spans: tuple[Span, ...] = ()


def merged(places: Iterable[Span]) -> tuple[Span, ...]:
    """Join the places of words that follow each other, with no more than a line's end between them."""
    spans: list[Span] = []
    for start, end in places:
        if spans and 0 <= start - spans[-1][1] <= 2:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return tuple(spans)


@dataclass(slots=True)
class Line:
    """One line of text. ``page`` counts from 1; ``height`` is its place from the bottom (0) to the top (1) of the page.

    ``kind``: running text, the first line of a list item, or a table row with its cells joined. ``starts_block``: white
    space or another style parts it from the line before. ``mark`` is its marked-content id, ``level`` its heading level
    once it has one. ``places`` are those of its words in the page's text, ``changes`` what was written another way to
    make it; ``header`` marks a row that names a table's columns.
    """

    page: int
    text: str
    kind: Kind = "text"
    starts_block: bool = False
    hyphen: bool = False
    x0: float = 0.0
    x1: float = 0.0
    base: float = 0.0
    size: float = 0.0
    height: float = 0.5
    bold: bool = False
    mark: int = -1
    turned: bool = False
    level: int | None = None
    places: tuple[Span, ...] = ()
    changes: tuple[Removed, ...] = ()
    header: bool = False


def starts_item(text: str) -> bool:
    """Tell whether a line starts with a bullet or list number followed by text."""
    label, _, rest = text.partition(" ")
    if not rest or not LABEL.match(label):
        return False
    return not label[0].isalnum() or label[-1] in ".)"
