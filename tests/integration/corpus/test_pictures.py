"""Small pictures of pages, drawn in the reading process."""

import base64
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from transplantqa.corpus.pictures import LONGER_SIDE, grey_png
from transplantqa.corpus.reader import Reader


@pytest.fixture
def reader() -> Iterator[Reader]:
    reader = Reader(timeout_seconds=20, max_pages=100)
    yield reader
    reader.close()


def pixels(png: bytes) -> tuple[int, int, list[list[int]]]:
    """Decode a PNG of one 4-bit grey image without filters."""
    width, height = struct.unpack(">II", png[16:24])
    length = struct.unpack(">I", png[33:37])[0]
    data = zlib.decompress(png[41 : 41 + length])
    size = 1 + (width + 1) // 2
    rows = [data[n * size + 1 : (n + 1) * size] for n in range(height)]
    return width, height, [[half for byte in row for half in (byte >> 4, byte & 15)][:width] for row in rows]


@pytest.mark.parametrize(("width", "stride"), [(3, 4), (4, 4), (1, 4)])
def test_greys_are_kept_to_a_sixteenth(width: int, stride: int) -> None:
    rows = bytes([0, 128, 255, 16, 255, 127, 15, 0])
    expected = [[value >> 4 for value in rows[:width]], [value >> 4 for value in rows[4 : 4 + width]]]
    assert pixels(grey_png(rows, width, 2, stride)) == (width, 2, expected)


def test_every_page_has_a_picture_of_bounded_size(reader: Reader, tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"))
    for size in ((612, 792), (14_400, 3), (10, 10)):
        canvas.setPageSize(size)
        canvas.rect(0, 0, size[0], size[1] / 2, fill=1)
        canvas.showPage()
    canvas.save()
    found = reader.pictures(tmp_path / "a.pdf", 3)
    sizes = {page: pixels(base64.b64decode(picture))[:2] for page, picture in found.items()}
    assert set(sizes) == {1, 2, 3}
    assert all(max(size) <= LONGER_SIDE + 1 for size in sizes.values())


def test_a_page_is_drawn_as_it_looks(reader: Reader, tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=(100, 100))
    canvas.rect(0, 0, 100, 50, fill=1)
    canvas.save()
    width, height, rows = pixels(base64.b64decode(reader.pictures(tmp_path / "a.pdf", 1)[1]))
    assert (rows[height // 4][width // 2], rows[3 * height // 4][width // 2]) == (15, 0)


def test_a_file_that_can_not_be_opened_has_no_pictures(reader: Reader, tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.7 nothing")
    assert reader.pictures(tmp_path / "a.pdf", 2) == {}
