"""Pages without text, read off their pictures by the real RapidOCR, with the weights of its wheel."""

import io
import socket
from pathlib import Path

import pypdfium2 as pdfium
import pytest
from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from transplantqa.corpus import Folder
from transplantqa.corpus.ocr import Recogniser
from transplantqa.corpus.quality import judge
from transplantqa.corpus.reader import Ocr, Reader
from transplantqa.models import WordPieceTokenizer

pytest.importorskip("rapidocr")
LINES = (
    "Drink two litres of water a day unless your doctor",
    "has told you otherwise, and write down your weight",
    "every morning. Call the clinic on the same day when",
    "a dose was missed or when you feel unwell at home.",
)


def printed(*pages: tuple[str, ...]) -> bytes:
    file = io.BytesIO()
    canvas = Canvas(file, pagesize=A4)
    for lines in pages:
        canvas.setFont("Helvetica", 14)
        for number, line in enumerate(lines):
            canvas.drawString(72, 720 - 20 * number, line)
        canvas.showPage()
    canvas.save()
    return file.getvalue()


def with_a_scan(path: Path) -> Path:
    """Write a document whose first page is text and whose second is a picture of text."""
    canvas = Canvas(str(path), pagesize=A4)
    canvas.setFont("Helvetica", 11)
    for number in range(8):
        canvas.drawString(72, 720 - 14 * number, f"Line {number} of the printed page says what to do about a fever.")
    canvas.showPage()
    picture = pdfium.PdfDocument(printed(LINES))[0].render(scale=150 / 72).to_pil()
    canvas.drawImage(ImageReader(picture), 0, 0, *A4)
    canvas.save()
    return path


def test_a_scanned_page_is_read_and_its_provenance_kept(tmp_path: Path) -> None:
    folder = tmp_path / "Center A"
    folder.mkdir()
    with_a_scan(folder / "guide.pdf")
    corpus = Folder(folder=str(tmp_path), tokenizer=WordPieceTokenizer(), ocr="rapidocr")
    ingested = corpus.ingest(corpus.sources()[0])
    corpus.close()
    assert [(page.text_from, page.verdict) for page in ingested.pages] == [("file", "accept"), ("ocr", "review")]
    assert ingested.document.verdict == "review"
    assert any("the text of page 2 was read off pictures (OCR" in reason for reason in ingested.document.reasons)
    text = " ".join(section.text for section in ingested.sections)
    assert "Drink two litres of water a day unless your doctor has told you otherwise" in text
    assert [chunk.page_end for chunk in ingested.chunks][-1] == 2


def test_without_it_the_scanned_page_is_named_and_left(tmp_path: Path) -> None:
    reader = Reader(timeout_seconds=30, max_pages=10)
    extraction = reader.read(with_a_scan(tmp_path / "guide.pdf"))
    reader.close()
    assert [page.confidence for page in extraction.pages] == [None, None]
    assert any("page 2 of 2 only pictures" in reason for reason in judge(extraction).reasons)


def test_nothing_is_downloaded_and_a_huge_page_is_drawn_small(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        pytest.fail("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    file = io.BytesIO()
    canvas = Canvas(file, pagesize=(14_000, 14_000))
    canvas.setFont("Helvetica", 700)
    canvas.drawString(1000, 9000, "Drink two litres of water")
    canvas.save()
    document = pdfium.PdfDocument(file.getvalue())
    found = Recogniser(1_000_000).read(document[0], 11.0)
    assert "two litres of water" in found.text.text
    document.close()


def test_a_file_that_fails_under_ocr_keeps_what_was_read_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("transplantqa.corpus.reader.OCR_MEMORY_MB", 300)
    reader = Reader(timeout_seconds=30, max_pages=10, ocr=Ocr(1_000_000))
    extraction = reader.read(with_a_scan(tmp_path / "guide.pdf"))
    reader.close()
    assert any("fever" in part.text for part in extraction.parts)
    assert any("couldn't be recognised" in note for note in extraction.notes)
