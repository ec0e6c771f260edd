"""Cut a section's text into chunks of a bounded number of tokens, between sentences where possible."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

Span = tuple[int, int]

_ABBREVIATION = re.compile(
    r"(?:\b(?:Dr|Mr|Mrs|Ms|Prof|St|No|vs|approx|fig|e\.g|i\.e|etc|a\.m|p\.m|Inc|Jr|Sr|Ph\.D|M\.D|U\.S|tel|ext|min|max|hr|hrs)"
    r"|\b[A-Z])\.$",
    re.IGNORECASE,
)
_END = re.compile(r"""[.!?…][)"'\u201d\u2019\]]*(?=\s+\S)|[\u3002\uff01\uff1f]|\n""")


def sentences(text: str) -> list[Span]:
    """Return the spans of sentences: they end at a stop before a word that may begin one, or at the end of a line.

    White space at either end belongs to no span. A line with cells (" | ") is a table row and stays whole.
    """
    spans: list[Span] = []
    for start, end in _lines(text):
        if " | " in text[start:end]:
            spans.append((start, end))
        else:
            spans.extend(_line_sentences(text, start, end))
    return spans


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


def chunk_spans(text: str, tokens: Sequence[Span], limit: int) -> list[tuple[int, int, int]]:
    """Return (start, end, token count) of chunks that together hold all of ``text`` but white space between them.

    Whole sentences are packed up to ``limit`` tokens. A longer sentence is cut between words, a longer word
    between tokens.

    Args:
        text: a section's text.
        tokens: the span of each of its tokens, in order.
        limit: most tokens a chunk may have.
    """
    starts = [start for start, _ in tokens]

    def count(span: Span) -> int:
        return bisect_left(starts, span[1]) - bisect_left(starts, span[0])

    chunks: list[tuple[int, int, int]] = []
    for span in _units(text, tokens, starts, limit):
        added = count(span)
        if chunks and chunks[-1][2] + added <= limit:
            first, _, held = chunks[-1]
            chunks[-1] = (first, span[1], held + added)
        else:
            chunks.append((span[0], span[1], added))
    return chunks


def _units(text: str, tokens: Sequence[Span], starts: Sequence[int], limit: int) -> Iterator[Span]:
    """Yield sentences, those over the limit in pieces that aren't."""
    for begin, end in sentences(text):
        start = begin
        first, last = bisect_left(starts, start), bisect_left(starts, end)
        while last - first > limit:
            cut = _cut(text, start, tokens[first + limit][0])
            yield from _stripped(text, start, cut)
            start = cut
            first = bisect_left(starts, start)
        yield from _stripped(text, start, end)


def _cut(text: str, start: int, limit: int) -> int:
    """Return the last white space after ``start`` and before ``limit``, or ``limit`` when there is none."""
    position = limit
    while position > start + 1 and not text[position - 1].isspace():
        position -= 1
    return position if position > start + 1 else limit
