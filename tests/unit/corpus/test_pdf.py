"""PDFs read into headed parts: headings, columns, tables, lists, hyphens, running heads, contents, pages."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import pytest
from reportlab.pdfgen.canvas import Canvas

from transplantqa.corpus.extraction import Extraction
from transplantqa.corpus.pdf import read_pdf

BODY = "Drink two to three litres of water a day unless your doctor has told you otherwise."
MORE = "Call the coordinator on the same day when you can not keep your medicine down."


class Sheet(Protocol):
    canvas: Canvas
    y: float

    def line(self, text: str, size: float = 11, font: str = "Helvetica", x: float = 72, gap: float = 0.0) -> None: ...
    def at(self, x: float, y: float, text: str, size: float = 11, font: str = "Helvetica") -> None: ...
    def heading(self, text: str, size: float = 16) -> None: ...
    def body(self, *lines: str) -> None: ...
    def page(self) -> None: ...
    def read(self, max_pages: int = 100) -> Extraction: ...


Raw = Callable[[Sequence[bytes]], Path]
PAGE = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>"


def paths(extraction: Extraction) -> list[tuple[str, ...]]:
    return [part.heading_path for part in extraction.parts]


def texts(extraction: Extraction) -> list[str]:
    return [part.text for part in extraction.parts]


def test_larger_lines_are_headings_ranked_by_size(sheet: Sheet) -> None:
    for chapter in ("Eating", "Moving"):
        sheet.heading(chapter, 18)
        sheet.heading(f"{chapter} early", 14)
        sheet.body(BODY)
    assert paths(sheet.read()) == [("Eating", "Eating early"), ("Moving", "Moving early")]


def test_bold_lines_of_body_size_that_stand_alone_are_headings(sheet: Sheet) -> None:
    sheet.heading("Fluids", 11)
    sheet.body(BODY, MORE)
    sheet.heading("Salt", 11)
    sheet.body(MORE, BODY)
    assert paths(sheet.read()) == [("Fluids",), ("Salt",)]


def test_a_bold_line_within_a_paragraph_is_no_heading(sheet: Sheet) -> None:
    sheet.heading("Fluids")
    sheet.body(BODY, "and take note of this:")
    sheet.line("Never skip a dose of medicine.", font="Helvetica-Bold")
    sheet.line(MORE)
    assert paths(sheet.read()) == [("Fluids",)]


def test_a_bold_end_of_a_sentence_that_fills_a_line_is_no_heading(sheet: Sheet) -> None:
    sheet.heading("Pump")
    sheet.body(BODY, "Guard it as you would guard a")
    sheet.line("newborn, since as long as it is in place", font="Helvetica-Bold")
    sheet.line("there are no showers for you.")
    assert paths(sheet.read()) == [("Pump",)]


def test_numbering_gives_levels_where_headings_look_alike(sheet: Sheet) -> None:
    for heading in ("1 Eating", "1.1 Salt", "2 Moving"):
        sheet.heading(heading, 14)
        sheet.body(BODY, MORE)
    assert paths(sheet.read()) == [("1 Eating",), ("1 Eating", "1.1 Salt"), ("2 Moving",)]


def test_a_heading_on_two_lines_is_one(sheet: Sheet) -> None:
    sheet.line("What to do when you have", 16, "Helvetica-Bold")
    sheet.line("missed a dose", 16, "Helvetica-Bold")
    sheet.body(BODY, MORE)
    assert paths(sheet.read()) == [("What to do when you have missed a dose",)]


def test_text_before_the_first_heading_is_named_by_the_title(sheet: Sheet) -> None:
    sheet.canvas.setTitle("Living Well")
    sheet.body(BODY)
    sheet.heading("Salt")
    sheet.body(MORE)
    assert paths(sheet.read()) == [("Living Well",), ("Salt",)]


def test_a_heading_with_nothing_under_it_keeps_its_words(sheet: Sheet) -> None:
    sheet.heading("Salt")
    sheet.body(BODY)
    sheet.heading("Notes")
    assert texts(sheet.read()) == [BODY, "Notes"]


def test_an_outline_that_is_printed_gives_headings_and_levels(sheet: Sheet) -> None:
    for level, title in ((0, "1. Eating"), (1, "1.1 Salt"), (0, "2. Moving")):
        sheet.canvas.bookmarkPage(title)
        sheet.canvas.addOutlineEntry(title, title, level)
        sheet.line(title.split(" ")[1], gap=20)
        sheet.body(BODY)
        sheet.page()
    extraction = sheet.read()
    assert (extraction.headings_from, paths(extraction)) == (
        "outline",
        [("1. Eating",), ("1. Eating", "1.1 Salt"), ("2. Moving",)],
    )


def test_an_outline_that_is_not_printed_is_not_trusted(sheet: Sheet) -> None:
    for number, title in enumerate(("Salt", "Sugar", "Fluids")):
        sheet.canvas.bookmarkPage(title)
        sheet.canvas.addOutlineEntry(f"Bookmark {number}", title, 0)
        sheet.heading(title)
        sheet.body(BODY, MORE)
        sheet.page()
    extraction = sheet.read()
    assert (extraction.headings_from, paths(extraction)) == ("typography", [("Salt",), ("Sugar",), ("Fluids",)])


def test_tags_give_headings_of_body_size(raw: Raw) -> None:
    content = (
        b"BT /F1 11 Tf 72 700 Td /H1 <</MCID 0>> BDC (Salt) Tj EMC 0 -20 Td /P <</MCID 1>> BDC (Use little.) Tj EMC ET"
    )
    path = raw(
        [
            b"<< /Type /Catalog /Pages 2 0 R /MarkInfo << /Marked true >> /StructTreeRoot 6 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            PAGE.replace(b"/Contents", b"/StructParents 0 /Contents"),
            b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
            b"<< /Type /StructTreeRoot /K 7 0 R /ParentTree << /Nums [0 [8 0 R 9 0 R]] >> >>",
            b"<< /Type /StructElem /S /Document /P 6 0 R /K [8 0 R 9 0 R] >>",
            b"<< /Type /StructElem /S /H1 /P 7 0 R /Pg 3 0 R /K 0 >>",
            b"<< /Type /StructElem /S /P /P 7 0 R /Pg 3 0 R /K 1 >>",
        ]
    )
    extraction = read_pdf(path, 10)
    assert (extraction.headings_from, paths(extraction), texts(extraction)) == ("tags", [("Salt",)], ["Use little."])


def test_running_heads_and_page_numbers_are_dropped_and_counted(sheet: Sheet) -> None:
    for number in range(1, 5):
        sheet.at(72, 800, "Kidney Handbook of Center A", 9)
        sheet.at(290, 30, str(number), 9)
        sheet.body(f"On page {number} there is a rule about item {number}.")
        sheet.page()
    extraction = sheet.read()
    assert texts(extraction)[0].split("\n") == [f"On page {n} there is a rule about item {n}." for n in range(1, 5)]
    assert extraction.removed == {"page_numbers": 4, "running_lines": 4}


def test_running_heads_that_differ_on_left_and_right_pages_are_dropped(sheet: Sheet) -> None:
    for number in range(1, 7):
        sheet.at(72 if number % 2 else 400, 800, "Center A" if number % 2 else "Kidney Handbook", 9)
        sheet.body(f"Rule {number} of the house.")
        sheet.page()
    assert sheet.read().removed == {"running_lines": 6}


def test_the_title_on_the_first_page_is_no_running_head(sheet: Sheet) -> None:
    sheet.at(72, 780, "Kidney Handbook", 24, "Helvetica-Bold")
    sheet.body(BODY)
    for number in range(2, 5):
        sheet.page()
        sheet.at(72, 810, "Kidney Handbook", 9)
        sheet.body(f"Rule {number} of the house.")
    extraction = sheet.read()
    assert (extraction.title, extraction.removed) == ("Kidney Handbook", {"running_lines": 3})


def test_a_number_that_is_no_page_number_stays(sheet: Sheet) -> None:
    for number in (100, 7, 250):
        sheet.body(BODY)
        sheet.at(72, 60, str(number))
        sheet.page()
    assert "100" in texts(sheet.read())[0]


def test_a_sentence_goes_on_over_a_page_break(sheet: Sheet) -> None:
    sheet.body("You may drive again as soon as")
    sheet.at(290, 30, "1", 9)
    sheet.page()
    sheet.body("the surgeon agrees.")
    sheet.at(290, 30, "2", 9)
    assert texts(sheet.read()) == ["You may drive again as soon as the surgeon agrees."]


def test_page_spans_are_exact(sheet: Sheet) -> None:
    sheet.heading("Salt")
    sheet.body("Use little salt.")
    sheet.page()
    sheet.body("Read every label.")
    part = sheet.read().parts[0]
    assert (part.page_start, part.page_marks, part.text[part.page_marks[1][0] :]) == (
        1,
        ((0, 1), (17, 2)),
        "Read every label.",
    )


def test_a_word_parted_at_the_end_of_a_line_is_joined(sheet: Sheet) -> None:
    sheet.body("Your coordinator explains the medi-", "cation to you.")
    assert texts(sheet.read()) == ["Your coordinator explains the medication to you."]


def test_a_compound_the_document_writes_with_a_hyphen_keeps_it(sheet: Sheet) -> None:
    sheet.body("Take every anti-rejection pill. An anti-", "rejection pill is for life.")
    assert texts(sheet.read()) == ["Take every anti-rejection pill. An anti-rejection pill is for life."]


def test_a_word_parted_at_the_end_of_a_page_is_joined(sheet: Sheet) -> None:
    sheet.body("Your coordinator explains the medi-")
    sheet.page()
    sheet.body("cation to you.")
    assert texts(sheet.read()) == ["Your coordinator explains the medication to you."]


LEFT = [f"The left column has this line as number {n} of all" for n in range(8)]
RIGHT = [f"The right column has this line as number {n} too" for n in range(8)]


@pytest.mark.parametrize("by_row", [True, False], ids=["drawn row by row", "drawn column by column"])
def test_the_left_column_is_read_before_the_right(sheet: Sheet, by_row: bool) -> None:
    places = [(72, n, text) for n, text in enumerate(LEFT)] + [(320, n, text) for n, text in enumerate(RIGHT)]
    sheet.heading("Two columns")
    for x, n, text in sorted(places, key=lambda place: place[1]) if by_row else places:
        sheet.at(x, 600 - 13 * n, text, 9.5)
    assert texts(sheet.read()) == [" ".join(LEFT) + "\n" + " ".join(RIGHT)]


def test_what_is_drawn_last_is_read_where_it_stands(sheet: Sheet) -> None:
    sheet.at(72, 600, BODY)
    sheet.at(72, 400, MORE)
    sheet.at(72, 650, "Fluids", 16, "Helvetica-Bold")
    extraction = sheet.read()
    assert (paths(extraction), texts(extraction)) == ([("Fluids",)], [f"{BODY}\n{MORE}"])


def test_table_rows_stay_whole_with_their_header(sheet: Sheet) -> None:
    rows = [("Measure", "Usual", "Call us"), ("Pulse", "60 to 90", "over 130"), ("Weight", "steady", "up 3 pounds")]
    for n, row in enumerate(rows):
        for x, cell in zip((72, 220, 380), row, strict=True):
            sheet.at(x, 600 - 16 * n, cell)
    assert texts(sheet.read()) == [
        "Measure | Usual | Call us\nPulse | 60 to 90 | over 130\nWeight | steady | up 3 pounds"
    ]


def test_a_wrapped_cell_stays_in_its_row(sheet: Sheet) -> None:
    for x, y, text in (
        (72, 600, "Prednisone"),
        (220, 600, "with food, early in"),
        (220, 587, "the morning"),
        (72, 566, "Tacrolimus"),
        (220, 566, "twelve hours apart"),
    ):
        sheet.at(x, y, text)
    assert texts(sheet.read()) == ["Prednisone | with food, early in the morning\nTacrolimus | twelve hours apart"]


def test_cells_that_nearly_touch_are_parted_at_the_columns_of_the_next_row(sheet: Sheet) -> None:
    rows = [("Pill", "Job", "Watch for"), ("Mycophenolate", "stops rejection", "loose stools")]
    for n, row in enumerate(rows):
        for x, cell in zip((72, 149, 230), row, strict=True):
            sheet.at(x, 600 - 16 * n, cell)
    assert texts(sheet.read()) == ["Pill | Job | Watch for\nMycophenolate | stops rejection | loose stools"]


def test_wrapped_cells_that_nearly_touch_are_parted_where_others_of_the_column_start(sheet: Sheet) -> None:
    for n, pill in enumerate(("Mycophenolate ", "Prednisone", "Tacrolimus")):
        for x, down, text in ((72, 0, pill), (147, 0, "stops"), (147, 13, "rejection"), (220, 0, "shaking")):
            sheet.at(x, 600 - 40 * n - down, text)
    assert texts(sheet.read())[0].split("\n") == [
        "Mycophenolate | stops rejection | shaking",
        "Prednisone | stops rejection | shaking",
        "Tacrolimus | stops rejection | shaking",
    ]


def test_list_items_are_lines_of_their_own_with_their_bullet(sheet: Sheet) -> None:
    for n, (bullet, item) in enumerate(
        (("\u2022", "a fever"), ("\u2022", "pain that does not"), ("", "go away"), ("2.", "a cough"))
    ):
        sheet.at(72, 600 - 14 * n, bullet)
        sheet.at(100, 600 - 14 * n, item)
    assert texts(sheet.read()) == ["• a fever\n• pain that does not go away\n2. a cough"]


def test_a_contents_page_is_no_section(sheet: Sheet) -> None:
    sheet.heading("Contents")
    for number, title in enumerate(("Fluids", "Salt", "Driving"), start=2):
        sheet.line(f"{title} {'.' * 40} {number}")
    for title in ("Fluids", "Salt", "Driving"):
        sheet.page()
        sheet.heading(title)
        sheet.body(BODY)
    extraction = sheet.read()
    assert (paths(extraction), extraction.removed) == ([("Fluids",), ("Salt",), ("Driving",)], {"contents_lines": 4})


def test_ligatures_become_letters(raw: Raw) -> None:
    # Both codes are mapped to ligature code points, as TeX fonts do.
    mapping = b"/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <00> <FF> endcodespacerange"
    mapping += b" 2 beginbfchar <41> <FB01> <42> <FB03> endbfchar endcmap end"
    content = b"BT /F1 11 Tf 72 700 Td (Alled in the oBce) Tj ET"
    path = raw(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            PAGE,
            b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 6 0 R >>",
            b"<< /Length %d >>\nstream\n%s\nendstream" % (len(mapping), mapping),
        ]
    )
    text = texts(read_pdf(path, 10))[0]
    assert text.startswith("fi")
    assert "ffi" in text


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_a_rotated_page_is_read_in_its_own_direction(sheet: Sheet, rotation: int) -> None:
    sheet.canvas.setPageRotation(rotation)
    sheet.heading("Salt")
    sheet.body(BODY)
    assert (texts(sheet.read())) == [BODY]


def test_text_turned_on_the_page_is_read_in_its_own_direction(sheet: Sheet) -> None:
    sheet.canvas.rotate(90)
    for n, text in enumerate((BODY, MORE)):
        sheet.at(72, -200 - 14 * n, text)
    assert texts(sheet.read()) == [f"{BODY} {MORE}"]


def test_text_drawn_twice_is_read_once(sheet: Sheet) -> None:
    sheet.at(72, 600, BODY)
    sheet.at(72.4, 600.2, BODY)
    extraction = sheet.read()
    assert texts(extraction) == [BODY]


def test_a_watermark_at_a_slant_is_left_out_and_counted(sheet: Sheet) -> None:
    sheet.body(BODY)
    sheet.canvas.saveState()
    sheet.canvas.translate(200, 300)
    sheet.canvas.rotate(45)
    sheet.at(0, 0, "DRAFT", 60)
    sheet.canvas.restoreState()
    extraction = sheet.read()
    assert (texts(extraction), extraction.removed) == ([BODY], {"slanted_words": 1})


def test_more_pages_than_allowed_is_a_named_failure(sheet: Sheet) -> None:
    for _ in range(4):
        sheet.body(BODY)
        sheet.page()
    assert sheet.read(max_pages=3).failure == "4 pages, more than the limit of 3 (corpus.max_pages)"


def test_what_is_removed_is_kept_with_its_page(sheet: Sheet) -> None:
    for number in range(1, 4):
        sheet.at(72, 810, "Kidney Handbook 2024", 9)
        sheet.at(290, 30, str(number), 9)
        sheet.body(f"{BODY} Number {number}.")
        sheet.page()
    removed = sheet.read().removed_texts
    assert [(one.page, one.kind, one.text) for one in removed if one.page == 2] == [
        (2, "running_lines", "Kidney Handbook 2024"),
        (2, "page_numbers", "2"),
    ]


def test_page_labels_are_kept_where_they_are_not_the_pages_place(sheet: Sheet) -> None:
    sheet.canvas.addPageLabel(0, style="ROMAN_LOWER")
    sheet.canvas.addPageLabel(2, style="ARABIC", start=3)
    for _ in range(3):
        sheet.body(BODY)
        sheet.page()
    assert [page.label for page in sheet.read().pages] == ["i", "ii", None]


def test_ligatures_and_line_end_hyphens_are_counted(sheet: Sheet) -> None:
    sheet.body("Your coordinator explains the medi-", "cation to you.")
    assert sheet.read().removed == {"line_end_hyphens": 1}


def test_a_title_that_is_no_text_is_passed_over(raw: Raw) -> None:
    content = b"BT /F1 11 Tf 72 700 Td (Drink two litres a day.) Tj ET"
    path = raw(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            PAGE,
            b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
            b"<< /Title <FEFFD800> >>",
        ]
    )
    path.write_bytes(path.read_bytes().replace(b"/Root 1 0 R", b"/Root 1 0 R /Info 6 0 R"))
    assert read_pdf(path, 10).title == "raw"
