"""Texts for annotators: nothing runs in a spreadsheet, nothing tells whose they are."""

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from transplantqa.formulas import harmless
from transplantqa.validation.blinding import masker
from transplantqa.validation.items import CSV_COLUMNS, Item, spreadsheet

DANGEROUS = tuple("=+-@\uff1d\uff0b\uff0d\uff20\t\r\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("=1+1", "'=1+1"),
        ("  @SUM(A1)", "'@SUM(A1)"),
        ("-5 degrees", "'-5 degrees"),
        ("\uff1dcmd", "'\uff1dcmd"),
        ("first\n- second", "first ¶ - second"),
        ('quoted";=cmd|x', "quoted\";'=cmd|x"),
        ("after six weeks; - no lifting", "after six weeks;' - no lifting"),
        ("plain, -5 and =", "plain, -5 and ="),
    ],
)
def test_what_a_spreadsheet_would_run_gets_an_apostrophe(text: str, expected: str) -> None:
    assert harmless(text) == expected


@settings(max_examples=200)
@given(st.text(alphabet=st.sampled_from([*"=+-@;|\"', \t\r\n\v\x85\u2028\uff1dab1"]), max_size=30))
def test_no_cell_starts_a_formula_whatever_separates_cells(text: str) -> None:
    sheet = spreadsheet([Item("i1", text, text, text)], "s1").decode("utf-8-sig")
    for delimiter in (",", ";", "\t"):
        for row in csv.reader(io.StringIO(sheet, newline=""), delimiter=delimiter):
            assert not any(cell.strip().startswith(DANGEROUS) for cell in row)
    for line in sheet.split("\r\n"):
        assert all(not part.strip(' "').startswith(DANGEROUS) for part in line.split(";"))


def test_the_sheet_is_utf8_with_a_mark_and_has_a_line_a_pair() -> None:
    content = spreadsheet([Item("i1", "Wann?", "Nach 6 Wochen, bald\nja", "Nie")], "s1")
    assert content.startswith(b"\xef\xbb\xbf")
    rows = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))
    assert tuple(rows[0]) == CSV_COLUMNS
    assert rows[0]["answer_1"] == "Nach 6 Wochen, bald ¶ ja"
    assert len(content.decode("utf-8-sig").splitlines()) == 2


def test_names_are_masked_whole_longest_first_as_written_and_in_capitals() -> None:
    cover = masker(
        [
            {
                "institution": "Center A",
                "title": "Center A Heart Guide",
                "document_id": "heart_a",
                "source_file": "heart_a.pdf",
            }
        ]
    )
    assert (
        cover("See the Center A Heart Guide (heart_a.pdf) of CENTER A.") == "See the [source] ([source]) of [source]."
    )
    assert cover("Your center about it; Center About") == "Your center about it; Center About"


def test_names_of_one_or_two_letters_are_left_alone() -> None:
    assert masker([{"institution": "A", "title": "", "document_id": "b1", "source_file": "x"}])("A b1 x") == "A b1 x"
