"""Chunks: whole sentences up to a limit, all of the text, in order."""

import re

from hypothesis import given
from hypothesis import strategies as st

from transplantqa.corpus.chunking import chunk_spans, sentences


def words(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in re.finditer(r"\w+|[^\w\s]", text)]


def cut(text: str, limit: int) -> list[str]:
    return [text[start:end] for start, end, _ in chunk_spans(text, words(text), limit)]


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


TEXTS = st.text(st.sampled_from("aB1 .\n!|é中 -"), max_size=120) | st.text(max_size=80)


@given(TEXTS, st.integers(1, 12))
def test_chunks_hold_all_of_the_text_in_order(text: str, limit: int) -> None:
    position = 0
    for start, end, _ in chunk_spans(text, words(text), limit):
        assert start >= position
        assert not text[position:start].strip()
        assert end > start
        position = end
    assert not text[position:].strip()


@given(TEXTS, st.integers(1, 12))
def test_no_chunk_is_over_the_limit(text: str, limit: int) -> None:
    assert all(count <= limit for _, _, count in chunk_spans(text, words(text), limit))


@given(TEXTS, st.integers(1, 12))
def test_every_token_is_counted_once(text: str, limit: int) -> None:
    assert sum(count for _, _, count in chunk_spans(text, words(text), limit)) == len(words(text))


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
