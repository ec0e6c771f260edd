"""The gate for single pages: each kind of page that can't stand for what it shows, in a generated PDF."""

from io import BytesIO
from typing import Protocol

import pytest
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from transplantqa.corpus.extraction import Extraction, PageFacts, Part
from transplantqa.corpus.page_quality import PageJudgement, judge_pages
from transplantqa.corpus.quality import judge

LINES = (
    "Take your medicine at the same time every day and call the coordinator if you",
    "miss a dose. Do not stop it on your own, because the new kidney can be harmed",
    "before you feel anything. Drink at least two litres of water a day, and write",
    "down your weight, your temperature and your blood pressure for the clinic.",
)
GARBLED = ("3HQCaQtSURVWEHGN\\QDnWHFK 7KHNLGQH\\FOLQLF '2QRWVWRS\\RXUSLOOV",) * 3
GLYPH_NAMES = (" ".join(f"/g{number}/g{number + 1}" for number in range(3, 20)),) * 2


class Sheet(Protocol):
    canvas: Canvas

    def body(self, *lines: str) -> None: ...
    def at(self, x: float, y: float, text: str) -> None: ...
    def page(self) -> None: ...
    def read(self, max_pages: int = 100) -> Extraction: ...


def second(sheet: Sheet) -> PageJudgement:
    """Read the sheet, whose first and third pages are in order, and return its second page's judgement."""
    first, page, third = judge_pages(sheet.read())
    assert (first.verdict, third.verdict) == ("accept", "accept")
    return page


@pytest.fixture
def between(sheet: Sheet) -> Sheet:
    sheet.body(*LINES)
    sheet.page()
    return sheet


def close(sheet: Sheet) -> None:
    sheet.page()
    sheet.body("Call the clinic at once when you have a fever, and keep the number by the telephone.", *LINES)


def test_prose_is_accepted_page_by_page(between: Sheet) -> None:
    between.body("On this page the text goes on in plain words about the days after you went home.", *LINES[1:])
    close(between)
    assert second(between) == PageJudgement(2, "accept")


@pytest.mark.parametrize("lines", [GARBLED, GLYPH_NAMES], ids=["shifted letters", "glyph names"])
def test_one_garbled_page_among_many_is_rejected_and_named(between: Sheet, lines: tuple[str, ...]) -> None:
    between.body(*lines)
    close(between)
    page = second(between)
    assert (page.verdict, page.kind) == ("reject", "garbled")
    document = judge(between_read(between))
    assert document.verdict == "review"
    assert any(reason.startswith("the text of page 2 is garbled") for reason in document.reasons)


def between_read(sheet: Sheet) -> Extraction:
    from transplantqa.corpus.pdf import read_pdf

    return read_pdf(sheet.path, 10)  # type: ignore[attr-defined]


def test_a_page_that_is_a_picture_is_rejected(between: Sheet) -> None:
    between.canvas.drawImage(ImageReader(BytesIO(b"P6 4 4 255 " + b"\xff" * 48)), 0, 0, 500, 700)
    close(between)
    assert (second(between).kind, second_reason(between)) == ("picture", "only a picture: its text, if any, isn't read")


def second_reason(sheet: Sheet) -> str:
    return judge_pages(between_read(sheet))[1].reasons[0]


def test_a_page_of_drawn_shapes_is_rejected(between: Sheet) -> None:
    for number in range(60):
        between.canvas.line(50 + number, 100, 80 + number, 700)
    close(between)
    assert second(between).kind == "drawing"


def test_a_page_whose_text_is_in_form_fields_is_rejected(between: Sheet) -> None:
    between.canvas.acroForm.textfield(name="n", x=72, y=600, value="Jane")
    close(between)
    page = second(between)
    assert (page.verdict, page.kind) == ("reject", "form")


def test_a_blank_page_is_accepted_as_blank(between: Sheet) -> None:
    close(between)
    assert second(between) == PageJudgement(2, "accept", ("blank",))


def test_a_second_layer_of_the_same_text_is_taken_out_and_reviewed(between: Sheet) -> None:
    for _ in range(2):
        for number in range(10):  # PDFium itself takes out what repeats one of the few objects before
            between.at(72, 600 - 14 * number, f"Rule {number}: {LINES[number % 4]}")
    close(between)
    page = second(between)
    assert (page.verdict, page.kind) == ("review", "doubled")
    extraction = between_read(between)
    assert extraction.removed["doubled_fragments"] == 10
    assert any("page 2 had text twice" in reason for reason in judge(extraction).reasons)


def test_an_invisible_layer_is_reviewed(between: Sheet) -> None:
    text = between.canvas.beginText(72, 600)
    text.setTextRenderMode(3)
    for line in LINES:
        text.textLine(line)
    between.canvas.drawText(text)
    close(between)
    page = second(between)
    assert (page.verdict, page.kind) == ("review", "invisible")


def test_a_page_of_numbers_is_reviewed(between: Sheet) -> None:
    between.body("Level 12 13 14 15 16 17 18 19 20 21 22 23", *["24 25 26 27 28 29 30 31 32 33 34 35 36"] * 6)
    close(between)
    assert second(between).kind == "numbers"


def test_control_characters_in_place_of_spaces_are_rejected() -> None:
    text = "thepillsaretaken atthesametime everyday " * 5
    part = Part(1, "Title", ("Title",), text, 1, ((0, 1),))
    (page,) = judge_pages(Extraction("Title", (part,), (PageFacts(1, 200, odd=30),), 1))
    assert page == PageJudgement(1, "reject", ("15% of its characters are controls or private ones",), "garbled")


def test_a_page_read_by_ocr_is_reviewed_with_its_confidence() -> None:
    part = Part(1, "Title", ("Title",), " ".join(LINES), 1, ((0, 1),))
    extraction = Extraction("Title", (part,), (PageFacts(1, 300, images=1, confidence=0.913),), 1)
    (page,) = judge_pages(extraction)
    assert (page.verdict, page.reasons) == ("review", ("read off its picture (OCR, mean confidence 0.91)",))
    assert judge(extraction).verdict == "review"
