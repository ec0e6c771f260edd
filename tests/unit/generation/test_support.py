import pytest
from hypothesis import given
from hypothesis import strategies as st

from transplantqa.generation import support


def test_a_quote_is_supported_whole() -> None:
    assert support("Wait six weeks.", ["You must wait six weeks before driving."]).word_share == 1.0


def test_an_invented_number_is_not_supported() -> None:
    found = support("Wait 8 weeks.", ["Wait six weeks."])
    assert (found.supported, found.missing_numbers) == (False, ("8",))


def test_a_number_written_as_a_word_supports_its_digits() -> None:
    assert support("Wait 6 weeks.", ["Wait six weeks."]).supported


@pytest.mark.parametrize(("answer", "share"), [("Walk daily outside.", 1 / 3), ("Walking!", 1.0)])
def test_the_share_counts_distinct_content_words_by_stem(answer: str, share: float) -> None:
    assert support(answer, ["Walks are good."]).word_share == pytest.approx(share)


def test_pages_in_citations_are_not_numbers_of_the_answer() -> None:
    assert support("Wait six weeks [Driving, p. 17].", ["Wait six weeks."]).supported


@given(st.text(max_size=200))
def test_every_text_supports_itself(text: str) -> None:
    assert support(text, [text]).word_share == 1.0
