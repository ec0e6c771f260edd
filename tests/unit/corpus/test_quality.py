"""The quality gate: what is rejected, what is left to a person, and the reason in plain words."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import pytest
from reportlab.pdfgen.canvas import Canvas

from transplantqa.corpus.extraction import Extraction, PageFacts, Part
from transplantqa.corpus.pdf import read_pdf
from transplantqa.corpus.plausibility import garbled_share, letter_share
from transplantqa.corpus.quality import Judgement, judge

PROSE = (
    "Take your medicine at the same time every day and call the coordinator if you miss a dose. Do not stop it on your "
    "own, because the new kidney can be harmed before you feel anything. Drink at least two litres of water a day, and "
    "write down your weight, your temperature and your blood pressure each morning for the clinic."
)


class Sheet(Protocol):
    canvas: Canvas

    def body(self, *lines: str) -> None: ...
    def page(self) -> None: ...
    def read(self, max_pages: int = 100) -> Extraction: ...


Raw = Callable[[Sequence[bytes]], Path]
PAGE = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>"


def of_text(text: str) -> Judgement:
    part = Part(1, "Title", ("Title",), text, 1, ((0, 1),))
    return judge(Extraction("Title", (part,), (PageFacts(1, len(text)),), 1))


def of_pages(*pages: PageFacts) -> Judgement:
    part = Part(1, "Title", ("Title",), PROSE, 1, ((0, 1),))
    return judge(Extraction("Title", (part,), pages, len(pages)))


def test_prose_is_accepted_without_a_word() -> None:
    assert of_text(PROSE) == Judgement("accept", ())


@pytest.mark.parametrize(
    "text",
    [
        "Tome su medicina a la misma hora todos los días y llame al coordinador si olvida una dosis. " * 3,
        "Nehmen Sie Ihre Medikamente jeden Tag zur selben Zeit und rufen Sie an, wenn Sie eine Dosis vergessen. " * 3,
        "每天在同一时间服药\uff0c如果漏服请打电话给协调员。" * 20,
        "Принимайте лекарство каждый день в одно и то же время и звоните координатору. " * 4,
        "تناول دواءك في نفس الوقت كل يوم واتصل بالمنسق إذا فاتتك جرعة. " * 5,
        "กินยาเวลาเดิมทุกวันและโทรหาผู้ประสานงานหากลืมกินยา " * 6,
    ],
    ids=["Spanish", "German", "Chinese", "Russian", "Arabic", "Thai"],
)
def test_other_languages_are_accepted(text: str) -> None:
    assert of_text(text).verdict == "accept"


@pytest.mark.parametrize(
    "word",
    [
        "St. John's",
        "follow-up",
        "mg/dL",
        "10,000",
        "C2H5OH",
        "https://a.org/bX?q=1",
        "nurse@center.org",
        "B12",
        "HbA1c",
        "COVID-19",
    ],
)
def test_a_real_word_is_not_garbled(word: str) -> None:
    assert garbled_share(word) == 0


@pytest.mark.parametrize(
    "word", ["3HQČåQtSURVWĜHGN\\QD~þWHFK", "/g12/g34", "(cid:12)", "ab\ufffdc", "\ue000\ue001", "tHeKiDneY"]
)
def test_a_wrongly_mapped_word_is_garbled(word: str) -> None:
    assert garbled_share(word) == 1


def test_garbled_text_is_rejected() -> None:
    judgement = of_text("3HQČåQtSURVWĜHGN\\QD~þWHFK a " * 9)
    assert judgement.verdict == "reject"
    assert judgement.reasons[0].startswith("garbled: ")


def test_partly_garbled_text_is_reviewed() -> None:
    judgement = of_text(PROSE + " 3HQČåQtSURVWĜHGN\\QD~þWHFK 3HQČåQtSURVWĜHGN\\QD~þWHFK")
    assert (judgement.verdict, judgement.reasons[0][:15]) == ("review", "partly garbled:")


def test_text_whose_letters_are_shifted_is_reviewed() -> None:
    shifted = PROSE.translate(str.maketrans("abcdefghijklmnopqrstuvwxyz", "defghijklmnopqrstuvwxyzabc"))
    judgement = of_text(shifted * 2)
    assert judgement.verdict == "review"
    assert "hardly any common words" in judgement.reasons[0]


def test_control_characters_in_place_of_spaces_are_rejected() -> None:
    part = Part(1, "Title", ("Title",), "7KLV LVDWHVW " * 30, 1, ((0, 1),))
    judgement = judge(Extraction("Title", (part,), (PageFacts(1, 420, odd=90),), 1))
    assert judgement.verdict == "reject"
    assert judgement.reasons[0].startswith("21% of its characters are controls or private ones")


def test_a_few_characters_are_reviewed() -> None:
    assert of_text("Call us.") == Judgement("review", ("only 8 characters of text",))


def test_mostly_numbers_are_reviewed() -> None:
    assert of_text("Level 12 13 14 15 16 17 18 19 20 21 " * 20).verdict == "review"


def test_letters_are_counted_among_visible_characters() -> None:
    assert letter_share("ab 12") == 0.5


def test_a_scanned_page_among_others_is_reviewed_by_number() -> None:
    judgement = of_pages(PageFacts(1, 900), PageFacts(2, 0, images=1), PageFacts(3, 900), PageFacts(4, 900))
    assert judgement == Judgement("review", ("page 2 of 4 only pictures: text in them isn't read",))


def test_a_document_of_mostly_scanned_pages_is_rejected() -> None:
    judgement = of_pages(PageFacts(1, 300), PageFacts(2, 0, images=1), PageFacts(3, 0, images=1))
    assert judgement.verdict == "reject"
    assert judgement.reasons[0].startswith("no text layer on pages 2-3 of 3")


def test_an_invisible_text_layer_is_reviewed() -> None:
    assert "invisible layer" in of_pages(PageFacts(1, 900, invisible_share=1.0)).reasons[0]


def test_a_page_that_cant_be_read_is_reviewed() -> None:
    judgement = of_pages(PageFacts(1, 900), PageFacts(2, 900), PageFacts(3, 0, failed=True))
    assert judgement == Judgement("review", ("page 3 can't be read",))


def test_an_image_only_pdf_has_no_text_layer(sheet: Sheet) -> None:
    from io import BytesIO

    from reportlab.lib.utils import ImageReader

    white = BytesIO(b"P6 4 4 255 " + b"\xff" * 48)
    sheet.canvas.drawImage(ImageReader(white), 0, 0, 500, 700)
    assert judge(sheet.read()) == Judgement(
        "reject",
        ("no text layer on its only page: pictures of text (a scan); set corpus.ocr=rapidocr, or run OCR on it first",),
    )


def test_blank_pages_are_told_apart_from_a_scan(sheet: Sheet) -> None:
    sheet.page()
    sheet.page()
    assert judge(sheet.read()).reasons == ("no text on any of its 2 pages: blank",)


def test_text_in_form_fields_alone_is_rejected_by_that_name(sheet: Sheet) -> None:
    sheet.canvas.acroForm.textfield(name="n", x=72, y=600)
    sheet.page()
    assert judge(sheet.read()).reasons[0].startswith("no text outside form fields")


def test_fonts_that_do_not_say_their_letters_are_rejected(raw: Raw) -> None:
    content = b"BT /F1 11 Tf 72 700 Td <" + b"".join(b"%04X" % n for n in range(3, 90)) + b"> Tj ET"
    path = raw(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            PAGE,
            b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
            b"<< /Type /Font /Subtype /Type0 /BaseFont /Odd /Encoding /Identity-H /DescendantFonts [6 0 R] >>",
            b"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Odd /CIDSystemInfo 8 0 R /FontDescriptor 7 0 R >>",
            b"<< /Type /FontDescriptor /FontName /Odd /Flags 4 /FontBBox [0 0 1000 1000] /Ascent 800 /Descent -200 >>",
            b"<< /Registry (Adobe) /Ordering (Identity) /Supplement 0 >>",
        ]
    )
    judgement = judge(read_pdf(path, 10))
    assert judgement.verdict == "reject"


def test_text_that_stands_in_form_fields_alone_is_rejected_by_the_number_of_fields(sheet: Sheet) -> None:
    for number, value in enumerate(("Jane", "", "12 May")):
        sheet.canvas.acroForm.textfield(name=f"field{number}", x=50, y=700 - 40 * number, value=value)
    sheet.page()
    judgement = judge(sheet.read())
    assert judgement.verdict == "reject"
    assert judgement.reasons[0].startswith("its only text is in 2 form fields, and form fields aren't read")


def test_form_fields_filled_in_beside_text_are_named_by_page(sheet: Sheet) -> None:
    sheet.body(*[PROSE[start : start + 90] for start in range(0, len(PROSE), 90)])
    sheet.canvas.acroForm.textfield(name="field", x=50, y=90, value="Jane")
    sheet.canvas.acroForm.checkbox(name="box", x=50, y=50, checked=True)
    sheet.page()
    reasons = judge(sheet.read()).reasons
    assert reasons == ("1 form field on page 1 filled in: text in form fields isn't read",)


def test_the_notice_of_an_xfa_form_is_no_text() -> None:
    notice = "Please wait... If this message is not eventually replaced, your PDF viewer may not be able to display it."
    judgement = of_text(notice)
    assert judgement.verdict == "reject"
    assert judgement.reasons[0].startswith("only the notice that another PDF viewer is needed (an XFA form)")


def test_an_xfa_form_with_text_is_reviewed() -> None:
    part = Part(1, "Title", ("Title",), PROSE, 1, ((0, 1),))
    judgement = judge(Extraction("Title", (part,), (PageFacts(1, len(PROSE)),), 1, form_fields=True, xfa=True))
    assert judgement == Judgement("review", ("an XFA form: a form program may show other text than the pages hold",))
