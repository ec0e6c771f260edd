"""The corpus component with its reading process: hostile files end in a named reason and stop nobody."""

import os
import re
import signal
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from reportlab.lib import pdfencrypt
from reportlab.pdfgen.canvas import Canvas

from transplantqa.corpus import Folder
from transplantqa.corpus.reader import Reader
from transplantqa.errors import InputError
from transplantqa.models.protocols import Identity

BODY = "Drink two to three litres of water a day unless your doctor has told you otherwise."


class WordTokenizer:
    def identity(self) -> Identity:
        return {"tokenizer": "words"}

    def offsets(self, text: str) -> list[tuple[int, int]]:
        return [match.span() for match in re.finditer(r"\w+|[^\w\s]", text)]


def draw(path: Path, *, pages: int = 3, **options: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    canvas = Canvas(str(path), **options)
    for _ in range(pages):
        canvas.setFont("Helvetica", 11)
        for line in range(4):
            canvas.drawString(72, 600 - 14 * line, BODY)
        canvas.showPage()
    canvas.save()
    return path


def build(folder: Path, **options: object) -> Folder:
    return Folder(folder=str(folder), tokenizer=WordTokenizer(), **options)  # type: ignore[arg-type]


@pytest.fixture
def reader() -> Iterator[Reader]:
    reader = Reader(timeout_seconds=20, max_pages=100)
    yield reader
    reader.close()


def _objects(*objects: bytes) -> bytes:
    numbered = b"".join(b"%d 0 obj\n%s\nendobj\n" % item for item in enumerate(objects, 1))
    return b"%PDF-1.7\n" + numbered + b"trailer << /Root 1 0 R >>"


def bomb(path: Path) -> Path:
    """A page whose content is white space without end, packed twice."""
    content = zlib.compress(zlib.compress(b" " * (1 << 25)) * 16)
    path.write_bytes(
        _objects(
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R >>",
            b"<< /Length %d /Filter [/FlateDecode /FlateDecode] >>\nstream\n%s\nendstream" % (len(content), content),
        )
    )
    return path


def test_one_bad_file_never_stops_the_others(tmp_path: Path) -> None:
    good = draw(tmp_path / "A" / "g" / "good.pdf")
    (tmp_path / "A" / "g" / "empty.pdf").write_bytes(b"")
    (tmp_path / "A" / "g" / "cut.pdf").write_bytes(good.read_bytes()[:300])
    (tmp_path / "A" / "g" / "noise.pdf").write_bytes(bytes(range(256)) * 40)
    (tmp_path / "A" / "g" / "slides.pptx").write_bytes(b"PK")
    draw(tmp_path / "A" / "g" / "locked.pdf", encrypt=pdfencrypt.StandardEncryption("secret", ownerPassword="owner"))
    draw(tmp_path / "A" / "g" / "unlocked.pdf", encrypt=pdfencrypt.StandardEncryption("", ownerPassword="owner"))
    corpus = build(tmp_path)
    documents = [corpus.ingest(source).document for source in corpus.sources()]
    corpus.close()
    assert {d.document_id: (d.verdict, d.reasons) for d in documents} == {
        "a-g-cut": ("reject", ("not a readable PDF: damaged or cut short",)),
        "a-g-empty": ("reject", ("empty file: it has 0 bytes",)),
        "a-g-good": ("accept", ()),
        "a-g-locked": ("reject", ("password required: the file is encrypted and opens only with a password",)),
        "a-g-noise": ("reject", ("not a readable PDF: damaged or cut short",)),
        "a-g-slides": (
            "reject",
            ("files of type .pptx aren't read: convert it to PDF, Word (.docx), HTML, Markdown or text",),
        ),
        "a-g-unlocked": ("accept", ()),
    }


def test_a_decompression_bomb_ends_in_bounded_memory(tmp_path: Path) -> None:
    reader = Reader(timeout_seconds=20, max_pages=100, memory_mb=64)
    extraction = reader.read(bomb(tmp_path / "bomb.pdf"))
    reader.close()
    assert not extraction.parts
    assert not extraction.transient


def test_a_page_tree_that_goes_in_circles_ends(reader: Reader, tmp_path: Path) -> None:
    path = tmp_path / "circle.pdf"
    path.write_bytes(
        b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n"
        b"2 0 obj\n<< /Type /Pages /Kids [2 0 R] /Count 99999999 /Parent 2 0 R >>\nendobj\ntrailer << /Root 1 0 R >>"
    )
    assert reader.read(path).failure is not None


def test_an_absurd_page_count_is_not_walked(reader: Reader, tmp_path: Path) -> None:
    path = draw(tmp_path / "count.pdf", pages=1)
    path.write_bytes(path.read_bytes().replace(b"/Count 1", b"/Count 999999999"))
    extraction = reader.read(path)
    assert extraction.page_count in (0, 1) or extraction.failure is not None


def test_a_file_that_takes_too_long_by_the_clock_is_given_up_for_now(tmp_path: Path) -> None:
    reader = Reader(timeout_seconds=0.001, max_pages=100)
    extraction = reader.read(draw(tmp_path / "slow.pdf"))
    reader.close()
    assert (extraction.failure or "").startswith("reading it took longer than 0.01 seconds by the clock")
    assert extraction.transient


def test_a_page_that_takes_too_much_processor_time_is_given_up(tmp_path: Path) -> None:
    content = b"BT /F1 8 Tf 9 TL " + b"".join(b"(word%d) Tj T* " % n for n in range(8_000)) + b"ET"
    fonts = b"/Resources << /Font << /F1 4 0 R >> >>"
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 5 0 R " + fonts + b" >>"
    path = tmp_path / "crowded.pdf"
    path.write_bytes(
        _objects(
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [" + b"3 0 R " * 90 + b"] /Count 90 >>",
            page,
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
            b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
        )
    )
    reader = Reader(timeout_seconds=1, max_pages=100)
    extraction = reader.read(path)
    reader.close()
    assert extraction.failure == "reading it took longer than 1 seconds (corpus.timeout_seconds)"
    assert not extraction.transient


def test_too_little_memory_is_a_named_failure(tmp_path: Path) -> None:
    reader = Reader(timeout_seconds=20, max_pages=100, memory_mb=25)
    failure = reader.read(draw(tmp_path / "a.pdf")).failure
    reader.close()
    assert failure is not None


def test_a_dead_process_is_replaced(reader: Reader, tmp_path: Path) -> None:
    path = draw(tmp_path / "a.pdf")
    assert reader.read(path).failure is None
    process = reader._process._process
    assert process is not None
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert reader.read(path).failure is None


def test_a_file_that_vanished_is_a_named_failure(reader: Reader, tmp_path: Path) -> None:
    extraction = reader.read(tmp_path / "gone.pdf")
    assert extraction.failure == "the file can't be opened: No such file or directory"
    assert extraction.transient


def test_reading_twice_gives_the_same(tmp_path: Path) -> None:
    draw(tmp_path / "A" / "g" / "good.pdf")
    corpus = build(tmp_path)
    (source,) = corpus.sources()
    first, second = corpus.ingest(source), corpus.ingest(source)
    corpus.close()
    assert first == second


def test_a_document_id_that_is_not_there_gets_the_nearest_spelling(tmp_path: Path) -> None:
    draw(tmp_path / "A" / "g" / "good.pdf")
    with pytest.raises(InputError, match=r'there is no document "a-g-god" in .* Did you mean "a-g-good"'):
        build(tmp_path, documents=["a-g-god"]).sources()


def test_groups_are_those_of_the_whole_corpus(tmp_path: Path) -> None:
    draw(tmp_path / "A" / "kidney" / "one.pdf")
    draw(tmp_path / "A" / "liver" / "two.pdf")
    corpus = build(tmp_path, documents=["a-kidney-one"])
    assert (len(corpus.sources()), corpus.groups()) == (1, ["kidney", "liver"])


def test_the_method_is_told_without_paths(tmp_path: Path) -> None:
    assert str(tmp_path) not in str(build(tmp_path).identity())


def test_the_bundled_sample_is_accepted_whole() -> None:
    corpus = Folder(folder="package:transplantqa/samples/transplant", tokenizer=WordTokenizer())
    documents = [corpus.ingest(source).document for source in corpus.sources()]
    corpus.close()
    assert {document.verdict for document in documents} == {"accept"}
