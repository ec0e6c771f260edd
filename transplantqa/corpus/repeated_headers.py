"""A table's header written again where the table goes on in the next chunk, so that no row is read without it."""

from collections.abc import Sequence
from dataclasses import replace

from transplantqa.corpus.chunking import Cut
from transplantqa.corpus.extraction import Part

ChunkSpan = tuple[int, int, int]
"""Start, end and tokens of a chunk."""


def with_headers(part: Part, cuts: Sequence[Cut]) -> tuple[Part, list[ChunkSpan]]:
    """Return the part with each chunk's header before it, and the chunks' places in its text.

    A header written again belongs to the page of the row under it, so that chunks stay within their pages.
    """
    pieces: list[str] = []
    spans: list[ChunkSpan] = []
    shifts: list[tuple[int, int]] = []
    done = grown = 0
    for cut in cuts:
        start = cut.start + grown
        if cut.header is not None:
            header = part.text[slice(*cut.header)] + "\n"
            pieces += [part.text[done : cut.start], header]
            done = cut.start
            grown += len(header)
            shifts.append((cut.start, len(header)))
        spans.append((start, cut.end + grown, cut.tokens))
    if not shifts:
        return part, spans
    pieces.append(part.text[done:])
    marks = tuple((offset + sum(by for at, by in shifts if at < offset), page) for offset, page in part.page_marks)
    return replace(part, text="".join(pieces), page_marks=marks, tables=()), spans
