"""Text that PDFium passes over by itself, since an object before it draws the same at the same place."""

import ctypes
from collections.abc import Sequence

import pypdfium2.raw as pdfium_c

from transplantqa.corpus.pdf_characters import Characters, Handle, Span, bound

MAX_OBJECTS = 20_000
"""Drawn objects of a page above which it isn't looked for. Ours: so that time stays in line."""
MAX_SAME = 200
"""Objects of one size that one is compared with, the last ones. Ours."""
_object_at = bound("FPDFPage_GetObject", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)
_type_of = bound("FPDFPageObj_GetType", ctypes.c_int, ctypes.c_void_p)
_bounds_of = bound("FPDFPageObj_GetBounds", ctypes.c_int, ctypes.c_void_p, *[ctypes.c_void_p] * 4)

Box = tuple[float, float, float, float]


def passed_over(page: Handle, characters: Characters) -> tuple[Span, ...]:
    """Return the places of the text that later objects of the page draw again, once for each of these.

    Objects within forms aren't looked at, nor are those without ink.
    """
    count = pdfium_c.FPDFPage_CountObjects(page.raw)
    if not 0 < count <= MAX_OBJECTS:
        return ()
    handle = ctypes.cast(page.raw, ctypes.c_void_p).value
    drawn = (_object_at(handle, number) for number in range(count))
    texts = [one for one in drawn if _type_of(one) == pdfium_c.FPDF_PAGEOBJ_TEXT]
    styled = characters.styled()
    unknown = [one for one in texts if one not in styled]
    if not unknown or characters.objects().issuperset(unknown):
        return ()
    owners = characters.owners()
    unread = [one for one in texts if one not in owners]
    return tuple(_twins(unread, [one for one in texts if one in owners], owners)) if unread else ()


def _twins(unread: Sequence[int], read: Sequence[int], owners: dict[int, Span]) -> list[Span]:
    by_size: dict[tuple[int, int], list[tuple[Box, Span]]] = {}
    for one in read:
        box = _box(one)
        by_size.setdefault(_size(box), []).append((box, owners[one]))
    found = []
    for one in unread:
        box = _box(one)
        near = 0.25 * (box[3] - box[1])
        same = by_size.get(_size(box), [])[-MAX_SAME:] if near > 0 else []
        places = (span for other, span in same if abs(box[0] - other[0]) < near and abs(box[1] - other[1]) < near)
        found += [span for span in (next(places, None),) if span is not None]
    return found


def _box(text_object: int) -> Box:
    edges = (ctypes.c_float * 4)()
    start = ctypes.addressof(edges)
    _bounds_of(text_object, *(start + 4 * number for number in range(4)))
    return edges[0], edges[1], edges[2], edges[3]


def _size(box: Box) -> tuple[int, int]:
    return round(2 * (box[2] - box[0])), round(2 * (box[3] - box[1]))
