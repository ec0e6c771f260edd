"""Chunks: whole sentences up to a limit, all of the text, in order."""

import re

from hypothesis import given
from hypothesis import strategies as st

from transplantqa.corpus.chunking import Table, chunk_spans, sentences


def words(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in re.finditer(r"\w+|[^\w\s]", text)]


def spans(text: str, limit: int) -> list[tuple[int, int, int]]:
    return [(one.start, one.end, one.tokens) for one in chunk_spans(text, words(text), limit)]


def cut(text: str, limit: int) -> list[str]:
    return [text[start:end] for start, end, _ in spans(text, limit)]


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


TEXTS = st.text(st.sampled_from("aB1 .\n!|é中 -"), max_size=120) | st.text(max_size=80)


@given(TEXTS, st.integers(1, 12))
def test_chunks_hold_all_of_the_text_in_order(text: str, limit: int) -> None:
    position = 0
    for start, end, _ in spans(text, limit):
        assert start >= position
        assert not text[position:start].strip()
        assert end > start
        position = end
    assert not text[position:].strip()


@given(TEXTS, st.integers(1, 12))
def test_no_chunk_is_over_the_limit(text: str, limit: int) -> None:
    assert all(count <= limit for _, _, count in spans(text, limit))


@given(TEXTS, st.integers(1, 12))
def test_every_token_is_counted_once(text: str, limit: int) -> None:
    assert sum(count for _, _, count in spans(text, limit)) == len(words(text))


@given(TEXTS, st.integers(1, 12))
def test_a_chunk_starts_and_ends_with_something_visible(text: str, limit: int) -> None:
    assert all(chunk == chunk.strip() for chunk in cut(text, limit))


def test_sentences_are_packed_whole() -> None:
    assert cut("One two. Three four. Five six.", 6) == ["One two. Three four.", "Five six."]


def test_a_long_sentence_is_cut_between_words() -> None:
    assert cut("one two three four five", 2) == ["one two", "three four", "five"]


def test_a_text_without_spaces_is_cut_between_tokens() -> None:
    assert cut("a-b-c-d", 3) == ["a-b", "-c-", "d"]


def test_a_table_row_is_never_cut_for_its_stops() -> None:
    assert split("Take one. | Twice. Daily | Yes\nNext. One") == ["Take one. | Twice. Daily | Yes", "Next.", "One"]


def test_an_abbreviation_ends_no_sentence() -> None:
    assert split("Ask Dr. Smith at 8 a.m. Monday. Then e.g. Tuesday.") == [
        "Ask Dr. Smith at 8 a.m. Monday.",
        "Then e.g. Tuesday.",
    ]


def test_a_decimal_point_ends_no_sentence() -> None:
    assert split("A level of 1.5 is fine. Call at 100.4 F.") == ["A level of 1.5 is fine.", "Call at 100.4 F."]


def test_chinese_stops_end_sentences() -> None:
    assert split("你好。再见。") == ["你好。", "再见。"]


LIST = "Call us when you have:\n\u2022 a fever\n\u2022 a cough\n\u2022 chills"


def test_a_list_and_its_lead_stay_together_where_they_fit() -> None:
    assert cut(f"One two three four. Five six seven.\n{LIST}\nEight nine.", 16) == [
        "One two three four. Five six seven.",
        f"{LIST}",
        "Eight nine.",
    ]


def test_a_list_too_long_for_a_chunk_is_cut_between_items() -> None:
    assert cut(LIST, 9) == ["Call us when you have:\n\u2022 a fever", "\u2022 a cough\n\u2022 chills"]


def test_an_item_of_two_sentences_is_not_cut_between_them() -> None:
    assert cut("\u2022 Call us. Do it now.\n\u2022 Rest. Drink.", 9) == [
        "\u2022 Call us. Do it now.",
        "\u2022 Rest. Drink.",
    ]


TABLE = "Pill | Dose\nA | 1\nB | 2\nC | 3\nD | 4"


def table_cuts(limit: int, header: int) -> list[tuple[str, str]]:
    found = chunk_spans(TABLE, words(TABLE), limit, [Table(0, header, len(TABLE))])
    return [(TABLE[slice(*one.header)] if one.header else "", TABLE[one.start : one.end]) for one in found]


def test_a_table_that_fits_stays_whole() -> None:
    assert table_cuts(15, 11) == [("", TABLE)]


def test_a_chunk_that_goes_on_with_a_table_has_its_header() -> None:
    assert table_cuts(9, 11) == [
        ("", "Pill | Dose\nA | 1\nB | 2"),
        ("Pill | Dose", "C | 3\nD | 4"),
    ]


def test_a_table_without_a_header_is_cut_between_rows() -> None:
    assert table_cuts(6, 0) == [("", "Pill | Dose\nA | 1"), ("", "B | 2\nC | 3"), ("", "D | 4")]


def test_a_header_that_would_take_more_than_half_of_a_chunk_is_not_repeated() -> None:
    assert [header for header, _ in table_cuts(5, 11)] == [""] * len(table_cuts(5, 11))


@given(st.lists(st.sampled_from(["a | 1", "b b b b | 2 2", "c | 3 | x"]), min_size=2, max_size=12), st.integers(2, 14))
def test_no_chunk_with_its_header_is_over_the_limit(rows: list[str], limit: int) -> None:
    text = "\n".join(["Lead in.", *rows, "The end."])
    table = Table(9, 9 + len(rows[0]), 9 + len("\n".join(rows)))
    found = chunk_spans(text, words(text), limit, [table])
    position = 0
    for one in found:
        header = len(words(text[slice(*one.header)])) if one.header else 0
        assert one.tokens == header + len(words(text[one.start : one.end])) <= limit
        assert not text[position : one.start].strip()
        position = one.end
    assert position == len(text)


def test_a_row_over_the_limit_is_cut_between_cells_then_sentences_under_its_header() -> None:
    row = "Prednisone now daily | Take it with food. Never stop it. | 20 mg"
    text = f"Pill | Advice\n1 | 2\n{row}\n3 | 4"
    found = chunk_spans(text, words(text), 9, [Table(0, 13, len(text))])
    assert [(one.header is not None, text[one.start : one.end]) for one in found] == [
        (False, "Pill | Advice\n1 | 2"),
        (True, "Prednisone now daily |"),
        (True, "Take it with food."),
        (True, "Never stop it. |"),
        (True, "20 mg\n3 | 4"),
    ]
    assert [one.cut_row for one in found] == [None, text.index(row), None, None, None]
