"""Positioned text of one PDF page: words with their place and style, merged into fragments of a line.

PDFium decides what the characters and word gaps are, in content order; this module adds where each word stands. Places
are in points in a frame turned so that the text runs left to right and y grows upwards, so that ``/Rotate`` and
rotated matrices need no care further on.
"""

import ctypes
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import pypdfium2.raw as pdfium_c

Handle = Any
"""An object of pypdfium2 or PDFium, which have no types."""
LINE_HYPHEN = "\ufffe"
"""What PDFium writes for a hyphen that only the end of a line called for."""
BOLD = 0.95
"""Share of bold characters above which a line is bold; less is emphasis within it."""
SAMPLE = 50
"""Characters of a page that are asked whether their font says which letters they are."""
MAX_CHARACTERS = 100_000
"""Characters on one page above which it isn't text anyone could read. Ours; a dense page has 10,000."""
CELL_GAP = 1.8
"""Ems of white between two words of one line from which they count as two cells."""
_BOLD_NAME = re.compile(r"bold|black|heavy|semib|demi|cmbx|sfbx|-bd\b", re.IGNORECASE)
_INVISIBLE = pdfium_c.FPDF_TEXTRENDERMODE_INVISIBLE
_BREAK = re.compile(r"[^\s\ufffe\x00]+|\r\n|\n|\r|\ufffe")
_ODD = re.compile("[\x00-\x08\x0e-\x1f\ufffd\ue000-\uf8ff]")
_NOTE_MARK = re.compile(r"^[\d,*†‡§ ]{1,5}$")
_HYPHENS = ("-", "\u00ad", "\u2010")


class CrowdedPageError(ValueError):
    """A page has more than ``MAX_CHARACTERS``."""


@dataclass(frozen=True, slots=True)
class Style:
    """How a text object is set.

    ``size`` is in points as seen, ``turn`` in quarter turns (-1: at another angle), ``base`` its baseline in the frame
    of that turn, ``mark`` its marked-content id or -1.
    """

    size: float
    bold: bool
    turn: int
    mark: int
    invisible: bool
    base: float


@dataclass(slots=True)
class Fragment:
    """Neighbouring words on one baseline without a wide gap.

    ``marks`` counts characters by marked-content id; ``starts`` and ``ends`` hold the edges of
    its words, in order; ``starts_cell`` tells that it was cut off the text on its left as a table cell.
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
    starts_cell: bool = False

    def cut(self, positions: Sequence[int]) -> "list[Fragment]":
        """Cut before the words at ``positions`` (rising, none of them 0)."""
        words = self.text.split(" ")
        pieces = []
        for start, end in pairwise([0, *positions, len(words)]):
            piece = replace(self, text=" ".join(words[start:end]), x0=self.starts[start], x1=self.ends[end - 1])
            piece.starts, piece.ends = self.starts[start:end], self.ends[start:end]
            piece.hyphen = self.hyphen and end == len(words)
            piece.starts_cell = self.starts_cell if start == 0 else True
            pieces.append(piece)
        return pieces


@dataclass(frozen=True, slots=True)
class PageText:
    """The fragments of a page in content order; ``box`` is (left, bottom, right, top) of the page before rotation.

    ``slanted`` are words left out for standing at a slant, ``odd`` control, private-use and replacement ones;
    ``unmapped_share`` is the share of a sample whose font doesn't say what letters they are.
    """

    box: tuple[float, float, float, float]
    fragments: tuple[Fragment, ...]
    invisible_share: float
    slanted: tuple[str, ...]
    unmapped_share: float
    odd: int


def without_doubles(fragments: Sequence[Fragment]) -> tuple[list[Fragment], list[str]]:
    """Return the fragments without those drawn again at the same place (shadows, doubled layers), and these."""
    places: dict[tuple[str, int, int, int], list[Fragment]] = {}
    kept: list[Fragment] = []
    doubles: list[str] = []
    for fragment in fragments:
        near = 0.25 * fragment.size
        column, row = round(fragment.x0 / near), round(fragment.base / near)
        around = [(fragment.text, fragment.turn, column + x, row + y) for x in (-1, 0, 1) for y in (-1, 0, 1)]
        if any(_same_place(fragment, other) for place in around for other in places.get(place, ())):
            doubles.append(fragment.text)
            continue
        places.setdefault((fragment.text, fragment.turn, column, row), []).append(fragment)
        kept.append(fragment)
    return kept, doubles


def without_note_marks(fragments: Sequence[Fragment]) -> tuple[list[Fragment], list[str]]:
    """Return the fragments without small raised numbers drawn apart from their line (note marks), and these."""
    kept: list[Fragment] = []
    marks: list[str] = []
    for index, fragment in enumerate(fragments):
        near = fragments[max(0, index - 3) : index + 4]
        if _NOTE_MARK.match(fragment.text) and any(_raised_over(fragment, other) for other in near):
            marks.append(fragment.text)
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


def _function(name: str, result: Handle, *arguments: Handle) -> Callable[..., Any]:
    """Bind a PDFium function with plain integer handles: several times faster than typed pointers."""
    address = ctypes.cast(getattr(pdfium_c, name), ctypes.c_void_p).value
    return ctypes.CFUNCTYPE(result, *arguments)(address or 0)


_object_of = _function("FPDFText_GetTextObject", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)
_size_of = _function("FPDFText_GetFontSize", ctypes.c_double, ctypes.c_void_p, ctypes.c_int)
_weight_of = _function("FPDFText_GetFontWeight", ctypes.c_int, ctypes.c_void_p, ctypes.c_int)
_matrix_of = _function("FPDFText_GetMatrix", ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
_font_of = _function("FPDFTextObj_GetFont", ctypes.c_void_p, ctypes.c_void_p)
_unmapped = _function("FPDFText_HasUnicodeMapError", ctypes.c_int, ctypes.c_void_p, ctypes.c_int)
_mark_of = _function("FPDFPageObj_GetMarkedContentID", ctypes.c_int, ctypes.c_void_p)
_mode_of = _function("FPDFTextObj_GetTextRenderMode", ctypes.c_int, ctypes.c_void_p)
_box_of = _function("FPDFText_GetCharBox", ctypes.c_int, ctypes.c_void_p, ctypes.c_int, *[ctypes.c_void_p] * 4)
_origin_of = _function("FPDFText_GetCharOrigin", ctypes.c_int, ctypes.c_void_p, ctypes.c_int, *[ctypes.c_void_p] * 2)


class _Handles:
    """One text page with its buffers and the styles of its text objects."""

    def __init__(self, textpage: Handle) -> None:
        self.page = ctypes.cast(textpage.raw, ctypes.c_void_p).value
        self.raw = textpage.raw
        self.count = max(0, pdfium_c.FPDFText_CountChars(textpage.raw))
        self._doubles = (ctypes.c_double * 6)()
        self._slots = [ctypes.addressof(self._doubles) + 8 * i for i in range(6)]
        self._matrix = pdfium_c.FS_MATRIX()
        self._matrix_at = ctypes.addressof(self._matrix)
        self._styles: dict[int | None, Style] = {}
        self._bold: dict[int | None, bool] = {}

    def text(self) -> str:
        """Return one character a PDFium index, so that positions in it are PDFium's."""
        buffer = (ctypes.c_ushort * (self.count + 1))()
        written = pdfium_c.FPDFText_GetText(self.raw, 0, self.count, buffer) - 1
        text = bytes(buffer)[: 2 * max(0, written)].decode("utf-16-le", "replace")
        if len(text) == self.count:
            return text
        return "".join(_character(pdfium_c.FPDFText_GetUnicode(self.raw, i)) for i in range(self.count))

    def style(self, index: int) -> Style:
        """Return the style of the text object that the character at ``index`` belongs to."""
        key = _object_of(self.page, index)
        if key not in self._styles:
            self._styles[key] = self._measure(index, key)
        return self._styles[key]

    def _measure(self, index: int, text_object: int | None) -> Style:
        matrix = self._matrix
        _matrix_of(self.page, index, self._matrix_at)
        size = _size_of(self.page, index) * math.hypot(matrix.c, matrix.d)
        angle = math.degrees(math.atan2(matrix.b, matrix.a))
        turn = round(angle / 90) % 4 if abs(angle / 90 - round(angle / 90)) < 0.06 else -1
        font = _font_of(text_object) if text_object else None
        if font is None or font not in self._bold:
            self._bold[font] = self._is_bold(index)
        bold = self._bold[font]
        mark = _mark_of(text_object) if text_object else -1
        invisible = bool(text_object) and _mode_of(text_object) == _INVISIBLE
        base = self._baseline(index, turn)
        return Style(size=round(size * 2) / 2 or 1.0, bold=bold, turn=turn, mark=mark, invisible=invisible, base=base)

    def _is_bold(self, index: int) -> bool:
        name = ctypes.create_string_buffer(128)
        pdfium_c.FPDFText_GetFontInfo(self.raw, index, name, 128, ctypes.c_int())
        return bool(_BOLD_NAME.search(name.value.decode("latin-1"))) or _weight_of(self.page, index) >= 600

    def _baseline(self, index: int, turn: int) -> float:
        _origin_of(self.page, index, *self._slots[4:])
        x, y = self._doubles[4], self._doubles[5]
        return {1: -x, 2: -y, 3: x}.get(turn, y)

    def span(self, first: int, last: int, turn: int) -> tuple[float, float]:
        """Return (x0, x1) of the characters ``first``..``last`` in the frame of ``turn``.

        ``x0`` is where the pen starts, not the ink, so that words set at one place in different letters agree on it.
        """
        values, slots = self._doubles, self._slots
        if turn == 0:
            _box_of(self.page, last, *slots[:4])
            last0, x1 = values[0], values[1]
            _origin_of(self.page, first, *slots[4:])
            if values[4] <= last0:
                return values[4], x1
        x0, x1 = self._extent(first, turn)
        last0, last1 = self._extent(last, turn)
        return min(x0, last0), max(x1, last1)

    def _extent(self, index: int, turn: int) -> tuple[float, float]:
        _box_of(self.page, index, *self._slots[:4])
        left, right, bottom, top = self._doubles[0], self._doubles[1], self._doubles[2], self._doubles[3]
        if turn == 1:
            return bottom, top
        if turn == 2:
            return -right, -left
        if turn == 3:
            return -top, -bottom
        return left, right


def _character(code: int) -> str:
    return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"


@dataclass(slots=True)
class _Word:
    text: str
    x0: float
    x1: float
    style: Style


def read_page(page: Handle) -> PageText:
    """Read the words of a pypdfium2 page as fragments in content order.

    Text set at a slant (watermarks) is left out and counted.
    """
    textpage = page.get_textpage()
    try:
        handles = _Handles(textpage)
        if handles.count > MAX_CHARACTERS:
            raise CrowdedPageError
        text = handles.text()
        characters = invisible = 0
        slanted: list[str] = []
        fragments: list[Fragment] = []
        for line, hyphen in _lines(text):
            words = []
            for start, end in line:
                style = handles.style(start)
                characters += end - start
                invisible += (end - start) * style.invisible
                if style.turn < 0:
                    slanted.append(text[start:end])
                    continue
                words.append(_Word(text[start:end], *handles.span(start, end - 1, style.turn), style))
            found = list(_merge(words))
            if found and hyphen:
                found[-1].hyphen = True
            fragments.extend(found)
        sample = range(0, handles.count, 1 + handles.count // SAMPLE)
        unmapped = sum(_unmapped(handles.page, i) == 1 for i in sample) / max(1, len(sample))
    finally:
        textpage.close()
    return PageText(
        page.get_cropbox(),
        tuple(fragments),
        invisible / max(1, characters),
        tuple(slanted),
        unmapped,
        len(_ODD.findall(text)),
    )


def _lines(text: str) -> Iterator[tuple[list[tuple[int, int]], bool]]:
    """Yield each line's word spans and whether the line ends in a hyphen that may be its own."""
    words: list[tuple[int, int]] = []
    for match in _BREAK.finditer(text):
        token = match.group()
        if token == LINE_HYPHEN:
            yield words, True
            words = []
        elif token[0] in "\r\n":
            yield words, _ends_in_hyphen(text, words)
            words = []
        else:
            words.append(match.span())
    yield words, _ends_in_hyphen(text, words)


def _ends_in_hyphen(text: str, words: Sequence[tuple[int, int]]) -> bool:
    return bool(words) and text[words[-1][1] - 1] in _HYPHENS and words[-1][1] - words[-1][0] > 1


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
    first = words[0].style
    total = sum(len(word.text) for word in words)
    lengths: dict[Style, int] = {}
    if all(word.style is first for word in words):
        lengths[first] = total
    else:
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
    )
