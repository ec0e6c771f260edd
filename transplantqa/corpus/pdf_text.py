"""Positioned text of one PDF page: words with their place and style, merged into fragments of a line.

PDFium decides what the characters and word gaps are, in content order; this module adds where each word stands.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from operator import sub

from transplantqa.corpus.pdf_characters import Characters, Handle, Span, Style
from transplantqa.corpus.pdf_doubles import passed_over

LINE_HYPHEN = "\ufffe"
"""What PDFium writes for a hyphen that only the end of a line called for."""
BOLD = 0.95
"""Share of bold characters above which a line is bold; less is emphasis within it."""
SAMPLE = 50
"""Characters of a page that are asked whether their font says which letters they are."""
MAX_CHARACTERS = 100_000
"""Characters on one page above which it isn't text anyone could read. Ours; a dense page has 10,000."""
CELL_GAP = 1.75
"""Ems of white between two words of one line from which they count as two cells."""
_BREAK = re.compile(r"\r\n|\n|\r|\ufffe")
_TOKEN = re.compile(r"[^\s\x00]+")
_LIGATURE = re.compile("f[filt]+|st")
"""Letters that many fonts draw as one glyph; PDFium gives them as letters either way."""
_ODD = re.compile("[\x00-\x08\x0e-\x1f\ufffd\ue000-\uf8ff]")
_NOTE_MARK = re.compile(r"^[\d,*†‡§ ]{1,5}$")
_HYPHENS = ("-", "\u00ad", "\u2010")

MAX_SAME = 200
"""Places of one text on a page that a fragment is compared with, the last ones. Ours: so that time stays in line."""


class CrowdedPageError(ValueError):
    """A page has more than ``MAX_CHARACTERS``."""


@dataclass(slots=True)
class Fragment:
    """Neighbouring words on one baseline without a wide gap.

    ``marks`` counts characters by marked-content id; ``starts`` and ``ends`` hold the edges of
    its words, in order, ``places`` where each stands in the page's text; ``starts_cell`` tells that it was cut off
    the text on its left as a table cell.
    """

    text: str
    x0: float
    x1: float
    base: float
    size: float
    bold_share: float
    turn: int
    hyphen: bool = False
    marks: dict[int, int] = field(default_factory=dict)
    starts: tuple[float, ...] = ()
    ends: tuple[float, ...] = ()
    places: tuple[Span, ...] = ()
    starts_cell: bool = False

    def cut(self, positions: Sequence[int]) -> "list[Fragment]":
        """Cut before the words at ``positions`` (rising, none of them 0)."""
        words = self.text.split(" ")
        pieces = []
        for start, end in pairwise([0, *positions, len(words)]):
            piece = replace(self, text=" ".join(words[start:end]), x0=self.starts[start], x1=self.ends[end - 1])
            piece.starts, piece.ends = self.starts[start:end], self.ends[start:end]
            piece.places = self.places[start:end]
            piece.hyphen = self.hyphen and end == len(words)
            piece.starts_cell = self.starts_cell if start == 0 else True
            pieces.append(piece)
        return pieces


@dataclass(frozen=True, slots=True)
class PageText:
    """The fragments of a page in content order; ``box`` is (left, bottom, right, top) of the page before rotation.

    ``text`` is what the file gives, in content order and untouched: the places of words are positions in it.
    ``slanted`` are the places of words left out for standing at a slant, ``odd`` counts control, private-use and
    replacement characters; ``unmapped_share`` is the share of a sample whose font doesn't say what letters they are.
    ``ligatures`` are the places of letters that one glyph shows, ``repeated`` those of text that is drawn again at the
    same place, which PDFium reads once.
    """

    box: tuple[float, float, float, float]
    text: str
    fragments: tuple[Fragment, ...]
    invisible_share: float = 0.0
    slanted: tuple[Span, ...] = ()
    unmapped_share: float = 0.0
    odd: int = 0
    ligatures: tuple[Span, ...] = ()
    repeated: tuple[Span, ...] = ()


def without_doubles(fragments: Sequence[Fragment]) -> tuple[list[Fragment], list[Fragment]]:
    """Return the fragments without those drawn again at the same place (shadows, doubled layers), and these."""
    seen: dict[tuple[str, int], list[Fragment]] = {}
    kept: list[Fragment] = []
    doubles: list[Fragment] = []
    for fragment in fragments:
        same = seen.setdefault((fragment.text, fragment.turn), [])
        if any(_same_place(fragment, other) for other in same[-MAX_SAME:]):
            doubles.append(fragment)
            continue
        same.append(fragment)
        kept.append(fragment)
    return kept, doubles


def without_note_marks(fragments: Sequence[Fragment]) -> tuple[list[Fragment], list[Fragment]]:
    """Return the fragments without small raised numbers drawn apart from their line (note marks), and these."""
    kept: list[Fragment] = []
    marks: list[Fragment] = []
    for index, fragment in enumerate(fragments):
        near = fragments[max(0, index - 3) : index + 4]
        if _NOTE_MARK.match(fragment.text) and any(_raised_over(fragment, other) for other in near):
            marks.append(fragment)
        else:
            kept.append(fragment)
    return kept, marks


def _raised_over(mark: Fragment, text: Fragment) -> bool:
    rise = mark.base - text.base
    beside = text.x0 - text.size < mark.x0 < text.x1 + text.size
    return mark.size <= 0.75 * text.size and 0.15 * text.size < rise < 0.7 * text.size and beside


def _same_place(one: Fragment, other: Fragment) -> bool:
    near = 0.25 * one.size
    return abs(one.x0 - other.x0) < near and abs(one.base - other.base) < near


def read_page(page: Handle) -> PageText:
    """Read the words of a pypdfium2 page as fragments in content order.

    Text set at a slant (watermarks) is left out and counted.
    """
    textpage = page.get_textpage()
    try:
        characters = Characters(textpage)
        if characters.count > MAX_CHARACTERS:
            raise CrowdedPageError
        text = characters.text()
        total = invisible = 0
        slanted: list[Span] = []
        fragments: list[Fragment] = []
        for places, hyphen in _lines(text):
            if not places:
                continue
            style = characters.style(places[0][0])
            words = [text[start:end] for start, end in places]
            length = sum(map(len, words))
            total += length
            if style.turn >= 0 and characters.style(places[-1][0]) is style:
                invisible += length * style.invisible
                found = _even(words, places, style, *characters.edges(places, style.turn))
            else:
                styles = [characters.style(start) for start, _ in places]
                invisible += sum(len(word) for word, own in zip(words, styles, strict=True) if own.invisible)
                slanted += [place for place, own in zip(places, styles, strict=True) if own.turn < 0]
                found = list(_merge(_words(characters, text, places, styles)))
            if found and hyphen:
                found[-1].hyphen = True
            fragments.extend(found)
        sample = range(0, characters.count, 1 + characters.count // SAMPLE)
        ligatures = [span for match in _LIGATURE.finditer(text) for span in characters.shared_glyphs(*match.span())]
        repeated = passed_over(page, characters)
        unmapped = sum(map(characters.unmapped, sample)) / max(1, len(sample))
    finally:
        textpage.close()
    return PageText(
        page.get_cropbox(),
        text,
        tuple(fragments),
        invisible / max(1, total),
        tuple(slanted),
        unmapped,
        len(_ODD.findall(text)),
        tuple(ligatures),
        repeated,
    )


def _lines(text: str) -> Iterator[tuple[list[Span], bool]]:
    """Yield each line's word places and whether the line ends in a hyphen that may be its own."""
    start = 0
    for match in _BREAK.finditer(text):
        places = [token.span() for token in _TOKEN.finditer(text, start, match.start())]
        yield places, match.group() == LINE_HYPHEN or _ends_in_hyphen(text, places)
        start = match.end()
    places = [token.span() for token in _TOKEN.finditer(text, start)]
    yield places, _ends_in_hyphen(text, places)


def _ends_in_hyphen(text: str, words: Sequence[Span]) -> bool:
    return bool(words) and text[words[-1][1] - 1] in _HYPHENS and words[-1][1] - words[-1][0] > 1


@dataclass(slots=True)
class _Word:
    text: str
    place: Span
    x0: float
    x1: float
    style: Style


def _words(characters: Characters, text: str, places: Sequence[Span], styles: Sequence[Style]) -> list[_Word]:
    """Return the words of a line with their styles, without those that stand at a slant."""
    return [
        _Word(text[start:end], (start, end), *characters.span(start, end - 1, style.turn), style)
        for (start, end), style in zip(places, styles, strict=True)
        if style.turn >= 0
    ]


def _even(
    words: Sequence[str], places: Sequence[Span], style: Style, starts: Sequence[float], ends: Sequence[float]
) -> list[Fragment]:
    """Return the fragments of a line that one text object holds, as nearly all lines of prose are."""
    wide = CELL_GAP * style.size
    gaps = list(map(max, map(sub, starts[1:], ends), map(sub, starts, ends[1:])))
    cuts = [0, len(words)]
    if gaps and max(gaps) >= wide:
        cuts[1:1] = [number for number, gap in enumerate(gaps, start=1) if gap >= wide]
    return [
        Fragment(
            text=(text := " ".join(words[first:end])),
            x0=min(starts[first:end]),
            x1=max(ends[first:end]),
            base=style.base,
            size=style.size,
            bold_share=float(style.bold),
            turn=style.turn,
            marks={style.mark: len(text) - (end - first - 1)},
            starts=tuple(starts[first:end]),
            ends=tuple(ends[first:end]),
            places=tuple(places[first:end]),
        )
        for first, end in pairwise(cuts)
    ]


def _merge(words: list[_Word]) -> Iterator[Fragment]:
    """Join the words of a line until a wide gap, another baseline or another direction."""
    group: list[_Word] = []
    for word in words:
        if group and not _continues(group[-1], word):
            yield _fragment(group)
            group = []
        group.append(word)
    if group:
        yield _fragment(group)


def _continues(previous: _Word, word: _Word) -> bool:
    gap = max(word.x0 - previous.x1, previous.x0 - word.x1)
    if word.style is previous.style:
        return gap < CELL_GAP * word.style.size
    size = max(previous.style.size, word.style.size)
    return (
        word.style.turn == previous.style.turn
        and gap < CELL_GAP * size
        and abs(word.style.base - previous.style.base) < 0.6 * size
    )


def _fragment(words: list[_Word]) -> Fragment:
    total = sum(len(word.text) for word in words)
    lengths: dict[Style, int] = {}
    for word in words:
        lengths[word.style] = lengths.get(word.style, 0) + len(word.text)
    sizes: dict[float, int] = {}
    marks: dict[int, int] = {}
    for style, length in lengths.items():
        sizes[style.size] = sizes.get(style.size, 0) + length
        marks[style.mark] = marks.get(style.mark, 0) + length
    bold = sum(length for style, length in lengths.items() if style.bold)
    size = max(sizes, key=lambda s: (sizes[s], s))
    base = next(word.style.base for word in words if word.style.size == size)
    return Fragment(
        text=" ".join(word.text for word in words),
        x0=min(word.x0 for word in words),
        x1=max(word.x1 for word in words),
        base=base,
        size=size,
        bold_share=bold / total,
        turn=words[0].style.turn,
        marks=marks,
        starts=tuple(word.x0 for word in words),
        ends=tuple(word.x1 for word in words),
        places=tuple(word.place for word in words),
    )
