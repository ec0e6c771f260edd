"""Small pictures of PDF pages, for people to compare with what was read. Runs in the worker process."""

import base64
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

LONGER_SIDE = 420
"""Pixels of a picture's longer side, whatever the size of the page. Ours: headings can be read, a page is 10 kB."""
MAX_OBJECTS = 20_000
"""Things drawn on a page above which it gets no picture, for the time that takes. Ours."""
_HIGH = bytes(value & 0xF0 for value in range(256))
_LOW = bytes(value >> 4 for value in range(256))


def draw_pages(path: Path, pages: Sequence[int]) -> dict[int, str]:
    """Return base64 PNG by page number, from 1, for those of ``pages`` that can be drawn."""
    found: dict[int, str] = {}
    try:
        document = pdfium.PdfDocument(path)
    except pdfium.PdfiumError:
        return found
    try:
        for number in pages:
            try:
                found[number] = _picture(document, number)
            except (pdfium.PdfiumError, ValueError, IndexError):
                continue
    finally:
        document.close()
    return found


def _picture(document: pdfium.PdfDocument, number: int) -> str:
    page = document[number - 1]
    try:
        if pdfium_c.FPDFPage_CountObjects(page.raw) > MAX_OBJECTS:
            raise ValueError
        scale = LONGER_SIDE / max(page.get_width(), page.get_height(), 1.0)
        bitmap = page.render(scale=scale, grayscale=True)
        try:
            rows = bytes(bitmap.buffer)
            return base64.b64encode(grey_png(rows, bitmap.width, bitmap.height, bitmap.stride)).decode()
        finally:
            bitmap.close()
    finally:
        page.close()


def grey_png(rows: bytes, width: int, height: int, stride: int) -> bytes:
    """Encode 8-bit grey rows, ``stride`` bytes each, as a PNG of 16 greys."""
    packed = bytearray()
    for row in range(height):
        pixels = rows[row * stride : row * stride + width] + b"\xff" * (width % 2)
        high = int.from_bytes(pixels[0::2].translate(_HIGH))
        low = int.from_bytes(pixels[1::2].translate(_LOW))
        packed += b"\0" + (high | low).to_bytes(len(pixels) // 2)
    header = struct.pack(">IIBBBBB", width, height, 4, 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(bytes(packed), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in chunks)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
