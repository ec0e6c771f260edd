"""Cleaning can be undone: each piece taken out or written another way stands where it says in the page's own text."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from benchmarks.golden_pdfs import golden
from transplantqa.corpus.cleaning import plain
from transplantqa.corpus.extraction import Extraction
from transplantqa.corpus.lines import Removed
from transplantqa.corpus.pdf import read_pdf
from transplantqa.corpus.worker import read_document

Raw = Callable[[Sequence[bytes]], Path]


def stands_where_it_says(extraction: Extraction, one: Removed) -> bool:
    page = extraction.page_texts[one.page - 1]
    if one.kind == "white_space":
        return {page[start:end] for start, end in one.spans} == {one.text}
    return bool(one.spans) and letters("".join(page[start:end] for start, end in one.spans)) == letters(one.text)


def letters(text: str) -> str:
    return "".join(c for c in plain(text) if c.isalnum())


@pytest.mark.parametrize("seed", range(6))
def test_every_piece_taken_out_stands_in_the_original_text_at_its_place(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "handbook.pdf"
    path.write_bytes(golden(seed, "plain", 2).data)
    extraction = read_pdf(path, 100)
    assert all(stands_where_it_says(extraction, one) for one in extraction.removed_texts)
    counts: Counter[str] = Counter()
    for one in extraction.removed_texts:
        counts[one.kind] += len(one.spans) if one.kind == "white_space" else 1
    assert extraction.removed == counts


def test_what_is_kept_and_what_is_taken_out_together_are_the_page(tmp_path: Path) -> None:
    path = tmp_path / "handbook.pdf"
    path.write_bytes(golden(1, "plain", 2).data)
    extraction = read_pdf(path, 100)
    kept = Counter(letters("".join(part.text for part in extraction.parts)))
    kept += Counter(letters("".join(part.heading for part in extraction.parts)))
    out = [one.text for one in extraction.removed_texts if one.kind not in ("reordered_lines", "doubled_objects")]
    kept += Counter(letters("".join(out)))
    whole = Counter(letters("".join(extraction.page_texts)))
    assert whole - kept == Counter()


def test_hyphens_and_bullets_say_what_they_became(sheet, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    sheet.line("The transplan-")
    sheet.line("tation team calls you.")
    for number, item in enumerate(("a fever", "a cough")):
        sheet.at(72, 500 - 14 * number, "o", font="Helvetica")
        sheet.at(72, 450 - 14 * number, "*")
        sheet.at(100, 450 - 14 * number, item)
    changes = {(one.kind, one.text, one.became) for one in sheet.read().removed_texts}
    assert ("line_end_hyphens", "transplan-\ntation", "transplantation") in changes
    assert ("bullets", "*", "\u2022") in changes


def test_a_ligature_keeps_its_original_and_its_place(raw: Raw) -> None:
    content = b"BT /F1 11 Tf 72 700 Td (Alled) Tj ET"
    cmap = b"/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <00> <FF> endcodespacerange"
    cmap += b" 1 beginbfchar <41> <FB01> endbfchar endcmap end"
    path = raw(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
            b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 6 0 R >>",
            b"<< /Length %d >>\nstream\n%s\nendstream" % (len(cmap), cmap),
        ]
    )
    extraction = read_pdf(path, 10)
    (one,) = [change for change in extraction.removed_texts if change.kind == "ligatures"]
    assert (one.text, one.became, extraction.page_texts[0][slice(*one.spans[0])]) == ("\ufb01", "fi", "fi")


def test_white_space_is_counted_by_its_places_and_lines_end_where_they_did(tmp_path: Path) -> None:
    path = tmp_path / "guide.txt"
    path.write_text("Drink  two\u00a0litres  a\tday.\nRest.\n", encoding="utf-8")
    extraction = read_document(path, 10)
    assert extraction.parts[0].text == "Drink two litres a day. Rest."
    assert extraction.removed == {"white_space": 4}
    assert {one.text: one.spans for one in extraction.removed_texts} == {
        "  ": ((5, 7), (17, 19)),
        "\u00a0": ((10, 11),),
        "\t": ((20, 21),),
    }


def test_lines_of_a_column_drawn_out_of_turn_are_listed_with_their_places(sheet) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    for number in range(8):
        sheet.at(320, 600 - 14 * number, f"The right column holds its line number {number}.")
    for number in range(8):
        sheet.at(72, 600 - 14 * number, f"The left column holds its line number {number}.")
    extraction = sheet.read()
    moved = [one for one in extraction.removed_texts if one.kind == "reordered_lines"]
    assert [one.text for one in moved] == [f"The right column holds its line number {n}." for n in range(8)]
    assert all(stands_where_it_says(extraction, one) for one in moved)
    assert extraction.parts[0].text.index("left") < extraction.parts[0].text.index("right")


def test_text_that_pdfium_reads_once_though_it_is_drawn_twice_is_counted(sheet) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    for shift in (0, 0.4):
        sheet.at(72 + shift, 700, "Drink two litres a day.")
    sheet.at(72, 680, "Rest at night.")
    sheet.at(200, 680, " ")
    sheet.at(72, 660, "Rest at night.")
    extraction = sheet.read()
    (one,) = extraction.removed_texts
    assert (one.kind, one.text, one.spans) == ("doubled_objects", "Drink two litres a day.", ((0, 23),))
    assert extraction.parts[0].text.count("Rest at night.") == 2
