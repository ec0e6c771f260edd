import pytest
from hypothesis import given
from hypothesis import strategies as st

from transplantqa.models import WordPieceTokenizer

TOKENIZER = WordPieceTokenizer()


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Café au lait", ["Café", "au", "lai", "t"]),
        ("2 mg/kg", ["2", "mg", "/", "kg"]),
        ("日本", ["日", "本"]),
        ("ﬁne", ["ﬁ", "ne"]),
        ("a\u200bb", ["a\u200bb"]),
        ("", []),
        (" \n\t ", []),
    ],
)
def test_spans_are_of_the_text_as_given(text: str, tokens: list[str]) -> None:
    assert [text[start:end] for start, end in TOKENIZER.offsets(text)] == tokens


def test_nothing_is_truncated() -> None:
    assert len(TOKENIZER.offsets("word " * 3000)) == 3000


def test_a_special_token_in_a_document_is_only_text() -> None:
    assert len(TOKENIZER.offsets("[SEP]")) > 1


def test_known_ids_of_bert_uncased() -> None:
    # "hello world" is 7592, 2088 in bert-base-uncased.
    assert TOKENIZER.encode(["Hello, world"]) == [[7592, 1010, 2088]]


@given(st.text(max_size=200))
def test_spans_are_ordered_nonempty_and_inside(text: str) -> None:
    spans = TOKENIZER.offsets(text)
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert spans == sorted(spans)
