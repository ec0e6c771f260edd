"""Cut a section's text into chunks of a bounded number of tokens: lists, table rows and sentences whole if possible."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from transplantqa.corpus.lines import CELL_SEPARATOR, starts_item

Span = tuple[int, int]

_ABBREVIATION = re.compile(
    r"(?:\b(?:Dr|Mr|Mrs|Ms|Prof|St|No|vs|approx|fig|e\.g|i\.e|etc|a\.m|p\.m|Inc|Jr|Sr|Ph\.D|M\.D|U\.S|tel|ext|min|max|hr|hrs)"
    r"|\b[A-Z])\.$",
    re.IGNORECASE,
)
_END = re.compile(r"""[.!?…][)"'\u201d\u2019\]]*(?=\s+\S)|[\u3002\uff01\uff1f]|\n""")
_CELL_END = re.compile(re.escape(CELL_SEPARATOR) + "|\n")


@dataclass(frozen=True, slots=True)
class Table:
    """A table in a section's text: lines ``start``..``end``, of which those before ``header_end`` name its columns."""

    start: int
    header_end: int
    end: int


@dataclass(frozen=True, slots=True)
class Cut:
    """A chunk's place in its text and its tokens, those of a table's ``header`` that is to go before it included.

    ``cut_row`` is where the table row starts of which the chunk has the first piece but not all, if it has one.
    """

    start: int
    end: int
    tokens: int
    header: Span | None = None
    cut_row: int | None = None


@dataclass(frozen=True, slots=True)
class _Unit:
    """Spans that stay together where they fit in one chunk; ``header`` is what all but the first of them go under."""

    spans: tuple[Span, ...]
    header: Span | None = None
    cut_row: int | None = None

    @property
    def span(self) -> Span:
        return self.spans[0][0], self.spans[-1][1]


def sentences(text: str) -> list[Span]:
    """Return the spans of sentences: they end at a stop before a word that may begin one, or at the end of a line.

    White space at either end belongs to no span. A line with cells (" | ") is a table row and stays whole.
    """
    return [span for start, end in _lines(text) for span in _of_line(text, start, end)]


def _of_line(text: str, start: int, end: int) -> list[Span]:
    if CELL_SEPARATOR in text[start:end]:
        return list(_stripped(text, start, end))
    return list(_line_sentences(text, start, end))


def _lines(text: str) -> Iterator[Span]:
    start = 0
    for line in text.split("\n"):
        yield start, start + len(line)
        start += len(line) + 1


def _line_sentences(text: str, start: int, end: int) -> Iterator[Span]:
    begin = start
    for match in _END.finditer(text, start, end):
        stop = match.end()
        following = text[stop:end].lstrip()
        if not following or following[0].islower() or _ABBREVIATION.search(text, begin, match.start() + 1):
            continue
        yield from _stripped(text, begin, stop)
        begin = stop
    yield from _stripped(text, begin, end)


def _stripped(text: str, start: int, end: int) -> Iterator[Span]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if end > start:
        yield start, end


def chunk_spans(text: str, tokens: Sequence[Span], limit: int, tables: Sequence[Table] = ()) -> list[Cut]:
    """Return chunks that together hold all of ``text`` but white space between them.

    Whole sentences are packed up to ``limit`` tokens. A list with the sentence that leads into it, and a table, stay
    in one chunk where they fit in one at all; else items and rows stay whole, and a chunk that goes on with a table
    has its header before it, if that leaves it half of its tokens. A row that doesn't fit with its header is cut
    between cells, a longer cell between sentences; a longer sentence or item between words, a longer word between
    tokens.

    Args:
        text: a section's text.
        tokens: the span of each of its tokens, in order.
        limit: most tokens a chunk may have.
        tables: those of the text, in order.
    """
    ruler = _Ruler(tokens)
    chunks: list[Cut] = []
    for unit in _fitting(text, ruler, limit, tables):
        added = ruler.count(unit.span)
        if chunks and chunks[-1].tokens + added <= limit:
            last = chunks[-1]
            cut_row = last.cut_row if unit.cut_row is None else unit.cut_row
            chunks[-1] = Cut(last.start, unit.span[1], last.tokens + added, last.header, cut_row)
        else:
            held = 0 if unit.header is None else ruler.count(unit.header)
            fits = held and 2 * held <= limit and held + added <= limit
            header = unit.header if fits else None
            chunks.append(Cut(*unit.span, added + held if header else added, header, unit.cut_row))
    return chunks


class _Ruler:
    """Counts the tokens that start within a span."""

    def __init__(self, tokens: Sequence[Span]) -> None:
        self._starts = [start for start, _ in tokens]

    def count(self, span: Span) -> int:
        return bisect_left(self._starts, span[1]) - bisect_left(self._starts, span[0])

    def after(self, start: int, number: int) -> int:
        """Return where the token begins that stands ``number`` tokens after ``start``."""
        return self._starts[bisect_left(self._starts, start) + number]


def _fitting(text: str, ruler: _Ruler, limit: int, tables: Sequence[Table]) -> Iterator[_Unit]:
    """Yield groups that fit the limit, the parts of others, and the pieces of parts that don't."""
    for group in _groups(text, tables):
        if ruler.count(group.span) <= limit:
            yield _Unit((group.span,))
            continue
        held = 0 if group.header is None else ruler.count(group.header)
        room = limit - held if 2 * held <= limit else limit
        for number, part in enumerate(group.spans):
            header = group.header if number else None
            if ruler.count(part) <= (room if header else limit):
                yield _Unit((part,), header)
                continue
            is_row = CELL_SEPARATOR in text[slice(*part)]
            pieces = _row_pieces(text, part, ruler, room) if is_row else _pieces(text, part, ruler, room)
            for place, piece in enumerate(pieces):
                begins = part[0] if is_row and not place else None
                yield _Unit((piece,), group.header if number or place else None, begins)


def _groups(text: str, tables: Sequence[Table]) -> Iterator[_Unit]:
    """Yield tables (header and first row together, then row by row), lists with their lead, and single sentences."""
    pending = list(tables)
    held: list[Span] = []
    in_list = False
    rows: list[Span] = []
    for start, end in _lines(text):
        if pending and start >= pending[0].start:
            rows += _stripped(text, start, end)
            if end >= pending[0].end:
                yield from (_Unit((span,)) for span in held)
                held, in_list = [], False
                yield from _table(pending.pop(0), rows)
                rows = []
            continue
        is_item = starts_item(text[start:end]) and CELL_SEPARATOR not in text[start:end]
        if held and not is_item:
            yield from _list(held, whole=in_list)
            held, in_list = [], False
        if is_item:
            held += _stripped(text, start, end)
            in_list = True
            continue
        found = _of_line(text, start, end)
        if found and text[found[-1][1] - 1] == ":":
            held = [found.pop()]
        yield from (_Unit((span,)) for span in found)
    yield from _list(held, whole=in_list)


def _list(held: Sequence[Span], *, whole: bool) -> Iterator[_Unit]:
    if whole and held:
        yield _Unit(tuple(held))
    else:
        yield from (_Unit((span,)) for span in held)


def _table(table: Table, rows: Sequence[Span]) -> Iterator[_Unit]:
    if not rows:
        return
    heads = [row for row in rows if row[1] <= table.header_end]
    if not heads or len(heads) == len(rows):
        yield _Unit(tuple(rows))
        return
    first = (rows[0][0], rows[len(heads)][1])
    yield _Unit((first, *rows[len(heads) + 1 :]), header=(heads[0][0], heads[-1][1]))


def _row_pieces(text: str, span: Span, ruler: _Ruler, limit: int) -> Iterator[Span]:
    """Yield a table row (or a header with its first row) in pieces of at most ``limit`` tokens: whole cells together.

    A cell of more is cut between sentences, a sentence of more between words.
    """
    held: Span | None = None
    for cell in _cells(text, span):
        if held is not None and ruler.count((held[0], cell[1])) <= limit:
            held = (held[0], cell[1])
            continue
        if held is not None:
            yield held
            held = None
        if ruler.count(cell) <= limit:
            held = cell
            continue
        for sentence in _line_sentences(text, *cell):
            if held is not None and ruler.count((held[0], sentence[1])) <= limit:
                held = (held[0], sentence[1])
                continue
            if held is not None:
                yield held
            *whole, held = _pieces(text, sentence, ruler, limit)
            yield from whole
    if held is not None:
        yield held


def _cells(text: str, span: Span) -> Iterator[Span]:
    """Yield the cells of rows, each with the separator after it."""
    start, end = span
    for match in _CELL_END.finditer(text, start, end):
        yield from _stripped(text, start, match.end())
        start = match.end()
    yield from _stripped(text, start, end)


def _pieces(text: str, span: Span, ruler: _Ruler, limit: int) -> Iterator[Span]:
    """Yield a span in pieces of at most ``limit`` tokens."""
    start, end = span
    while ruler.count((start, end)) > limit:
        cut = _cut(text, start, ruler.after(start, limit))
        yield from _stripped(text, start, cut)
        start = cut
    yield from _stripped(text, start, end)


def _cut(text: str, start: int, limit: int) -> int:
    """Return the last white space after ``start`` and before ``limit``, or ``limit`` when there is none."""
    position = limit
    while position > start + 1 and not text[position - 1].isspace():
        position -= 1
    return position if position > start + 1 else limit
