import pytest
from hypothesis import given
from hypothesis import strategies as st

from transplantqa.generation.lexical import content_stems, numbers, sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two!  Three?", ["One.", "Two!", "Three?"]),
        ("Ask Dr. Lee. Then go.", ["Ask Dr. Lee.", "Then go."]),
        ("A line\nbroken by the page. Next.", ["A line broken by the page.", "Next."]),
        ("Bring:\n- a list\n- your pills", ["Bring:", "- a list", "- your pills"]),
        ("Take 2.5 mg. Rest.", ["Take 2.5 mg.", "Rest."]),
        ("| a | b |\nAfter the table.", ["| a | b |", "After the table."]),
        ("Heading\n\nBody text.", ["Heading", "Body text."]),
    ],
)
def test_sentences_are_split_as_a_reader_would(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@given(st.text(max_size=300))
def test_splitting_into_sentences_loses_no_character_but_blanks(text: str) -> None:
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,200 mg", {"1200"}),
        ("2.50 and two", {"2.5", "2"}),
        ("140/90", {"140", "90"}),
        ("seventy or eighty", {"70", "80"}),
        (".5 mg", {"0.5"}),
        ("none", set()),
    ],
)
def test_numbers_are_read_in_plain_decimal_form(text: str, expected: set[str]) -> None:
    assert numbers(text) == expected


def test_content_stems_leave_out_function_words_and_digits() -> None:
    assert content_stems("You should not be driving for 6 weeks") == ["drive", "week"]
