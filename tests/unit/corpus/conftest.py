"""A tokenizer small enough to count by hand, files of questions, and PDFs with what they are read as."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from transplantqa.corpus import QuestionFile
from transplantqa.corpus.extraction import Extraction
from transplantqa.corpus.pdf import read_pdf
from transplantqa.models.protocols import Identity
from transplantqa.records import Question


class WordTokenizer:
    """Every run of letters and digits is a token, as is every other visible character."""

    def identity(self) -> Identity:
        return {"tokenizer": "words"}

    def offsets(self, text: str) -> list[tuple[int, int]]:
        return [match.span() for match in re.finditer(r"\w+|[^\w\s]", text)]


@pytest.fixture(scope="session")
def tokenizer() -> WordTokenizer:
    return WordTokenizer()


Load = Callable[..., tuple[Question, ...]]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Write content to a file of the given name and load it as questions."""

    def write_and_load(content: str | bytes, name: str = "questions.csv", **options: object) -> tuple[Question, ...]:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return QuestionFile(path=str(path), **options).load()  # type: ignore[arg-type]

    return write_and_load


WIDTH, HEIGHT = A4
BODY = "Drink two to three litres of water a day unless your doctor has told you otherwise."


class Sheet:
    """A PDF being drawn: lines from the top of a page down, in any font, or anything on its canvas."""

    def __init__(self, path: Path, **options: Any) -> None:
        self.path = path
        self.canvas = Canvas(str(path), pagesize=A4, **options)
        self.y = HEIGHT - 130

    def line(self, text: str, size: float = 11, font: str = "Helvetica", x: float = 72, gap: float = 0.0) -> None:
        """Draw a line below the last one, ``gap`` points further down than usual."""
        self.y -= gap
        self.at(x, self.y, text, size, font)
        self.y -= 1.2 * size

    def at(self, x: float, y: float, text: str, size: float = 11, font: str = "Helvetica") -> None:
        """Draw a line at a place."""
        self.canvas.setFont(font, size)
        self.canvas.drawString(x, y, text)

    def heading(self, text: str, size: float = 16) -> None:
        """Draw a bold heading with white above and below."""
        self.line(text, size, "Helvetica-Bold", gap=12)
        self.y -= 4

    def body(self, *lines: str) -> None:
        """Draw a paragraph with white above."""
        for number, line in enumerate(lines):
            self.line(line, gap=8 if number == 0 else 0)

    def page(self) -> None:
        """Start the next page."""
        self.canvas.showPage()
        self.y = HEIGHT - 130

    def read(self, max_pages: int = 100) -> Extraction:
        """Save and read it."""
        self.canvas.save()
        return read_pdf(self.path, max_pages)


@pytest.fixture
def sheet(tmp_path: Path) -> Sheet:
    return Sheet(tmp_path / "handbook.pdf")


@pytest.fixture
def raw(tmp_path: Path) -> Callable[[Sequence[bytes]], Path]:
    """Write a PDF of numbered objects, the first its catalogue, and return its path."""

    def write(objects: Sequence[bytes]) -> Path:
        path = tmp_path / "raw.pdf"
        path.write_bytes(_numbered(objects))
        return path

    return write


def _numbered(objects: Sequence[bytes]) -> bytes:
    data = b"%PDF-1.7\n"
    offsets = []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(data)
    data += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    data += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    return data + b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, start)
