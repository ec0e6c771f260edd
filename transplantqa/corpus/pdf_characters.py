"""PDFium's characters of one page: their text, the style of the text object each belongs to, and where they stand.

Places are in points in a frame turned so that the text runs left to right and y grows upwards, so that ``/Rotate`` and
rotated matrices need no care further on.
"""

import ctypes
import math
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import pypdfium2.raw as pdfium_c

Handle = Any
"""An object of pypdfium2 or PDFium, which have no types."""
Span = tuple[int, int]
"""First position in a page's text, and the one after the last."""
_BOLD_NAME = re.compile(r"bold|black|heavy|semib|demi|cmbx|sfbx|-bd\b", re.IGNORECASE)
_INVISIBLE = pdfium_c.FPDF_TEXTRENDERMODE_INVISIBLE


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


def bound(name: str, result: Handle, *arguments: Handle) -> Callable[..., Any]:
    """Bind a PDFium function with plain integer handles: several times faster than typed pointers."""
    address = ctypes.cast(getattr(pdfium_c, name), ctypes.c_void_p).value
    return ctypes.PYFUNCTYPE(result, *arguments)(address or 0)


_object_of = bound("FPDFText_GetTextObject", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)
_size_of = bound("FPDFText_GetFontSize", ctypes.c_double, ctypes.c_void_p, ctypes.c_int)
_weight_of = bound("FPDFText_GetFontWeight", ctypes.c_int, ctypes.c_void_p, ctypes.c_int)
_matrix_of = bound("FPDFText_GetMatrix", ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
_font_of = bound("FPDFTextObj_GetFont", ctypes.c_void_p, ctypes.c_void_p)
_unmapped_at = bound("FPDFText_HasUnicodeMapError", ctypes.c_int, ctypes.c_void_p, ctypes.c_int)
_mark_of = bound("FPDFPageObj_GetMarkedContentID", ctypes.c_int, ctypes.c_void_p)
_mode_of = bound("FPDFTextObj_GetTextRenderMode", ctypes.c_int, ctypes.c_void_p)
_box_of = bound("FPDFText_GetCharBox", ctypes.c_int, ctypes.c_void_p, ctypes.c_int, *[ctypes.c_void_p] * 4)
_loose_box_of = bound("FPDFText_GetLooseCharBox", ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
_origin_of = bound("FPDFText_GetCharOrigin", ctypes.c_int, ctypes.c_void_p, ctypes.c_int, *[ctypes.c_void_p] * 2)


class Characters:
    """The characters of one text page by their place in its text: how they are set, and where they stand."""

    def __init__(self, textpage: Handle) -> None:
        self.page = ctypes.cast(textpage.raw, ctypes.c_void_p).value
        self.raw = textpage.raw
        self.count = max(0, pdfium_c.FPDFText_CountChars(textpage.raw))
        self._doubles = (ctypes.c_double * 6)()
        self._slots = [ctypes.addressof(self._doubles) + 8 * i for i in range(6)]
        self._rectangle = (ctypes.c_float * 4)()
        self._rectangle_at = ctypes.addressof(self._rectangle)
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

    def styled(self) -> Collection[int | None]:
        """Return the text objects whose style was asked for."""
        return self._styles.keys()

    def objects(self) -> set[int | None]:
        """Return text objects that characters are of, found by leaps: nearly all, and often all."""
        page, count = self.page, self.count
        found: set[int | None] = set()
        index = 0
        while index < count:
            own = _object_of(page, index)
            found.add(own)
            step = 4
            while index + step < count and _object_of(page, index + step) == own:
                index += step
                step *= 2
            end = min(index + step, count)
            while end - index > 1:
                middle = (index + end) // 2
                if _object_of(page, middle) == own:
                    index = middle
                else:
                    end = middle
            index = end
        return found

    def owners(self) -> dict[int, Span]:
        """Return every text object that characters are of, with the place of these."""
        found: dict[int, Span] = {}
        for index in range(self.count):
            own = _object_of(self.page, index)
            if own is not None:
                found[own] = (found.get(own, (index, index))[0], index + 1)
        return found

    def style(self, index: int) -> Style:
        """Return the style of the text object that the character at ``index`` belongs to."""
        key = _object_of(self.page, index)
        style = self._styles.get(key)
        if style is None:
            style = self._styles[key] = self._measure(index, key)
        return style

    def edges(self, places: Sequence[Span], turn: int) -> tuple[list[float], list[float]]:
        """Return where each word starts and ends; see ``span``, whose calls this makes without its own."""
        if turn != 0:
            spans = [self.span(start, end - 1, turn) for start, end in places]
            return [x0 for x0, _ in spans], [x1 for _, x1 in spans]
        page, rectangle, at = self.page, self._rectangle, self._rectangle_at
        starts, ends = [], []
        for start, end in places:
            _loose_box_of(page, start, at)
            x0 = rectangle[0]
            _loose_box_of(page, end - 1, at)
            if x0 > rectangle[0]:
                x0, x1 = self.span(start, end - 1, turn)
                starts.append(x0)
                ends.append(x1)
            else:
                starts.append(x0)
                ends.append(rectangle[2])
        return starts, ends

    def _measure(self, index: int, text_object: int | None) -> Style:
        matrix = self._matrix
        _matrix_of(self.page, index, self._matrix_at)
        size = _size_of(self.page, index) * math.hypot(matrix.c, matrix.d)
        turn = 0
        if matrix.b or matrix.a <= 0:
            quarters = math.degrees(math.atan2(matrix.b, matrix.a)) / 90
            turn = round(quarters) % 4 if abs(quarters - round(quarters)) < 0.06 else -1
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
        return (y, -x, -y, x)[turn] if turn >= 0 else y

    def span(self, first: int, last: int, turn: int) -> tuple[float, float]:
        """Return (x0, x1) of the characters ``first``..``last`` in the frame of ``turn``.

        Upright, they are where the pen starts and ends, not the ink, so that words set at one place in different
        letters agree on it.
        """
        x0, x1 = self._extent(first, turn)
        last0, last1 = self._extent(last, turn)
        return min(x0, last0), max(x1, last1)

    def shared_glyphs(self, start: int, end: int) -> list[Span]:
        """Return the runs of characters at one place among those from ``start`` to before ``end``."""
        lefts = []
        for index in range(start, end):
            _loose_box_of(self.page, index, self._rectangle_at)
            lefts.append(self._rectangle[0])
        runs = []
        first = 0
        for index in range(1, end - start + 1):
            if index == end - start or lefts[index] != lefts[first]:
                runs.append((start + first, start + index))
                first = index
        return [run for run in runs if run[1] - run[0] > 1]

    def unmapped(self, index: int) -> bool:
        """Tell whether the font doesn't say what letter the character is."""
        return bool(_unmapped_at(self.page, index) == 1)

    def _extent(self, index: int, turn: int) -> tuple[float, float]:
        if turn == 0:
            _loose_box_of(self.page, index, self._rectangle_at)
            return self._rectangle[0], self._rectangle[2]
        _box_of(self.page, index, *self._slots[:4])
        left, right, bottom, top = self._doubles[0], self._doubles[1], self._doubles[2], self._doubles[3]
        return {1: (bottom, top), 2: (-right, -left)}.get(turn, (-top, -bottom))


def _character(code: int) -> str:
    return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"
