from hypothesis import given
from hypothesis import strategies as st

from transplantqa.models.reasoning import settle, split_reasoning
from transplantqa.records import Outcome


def test_leading_reasoning_is_split_from_the_answer() -> None:
    split = split_reasoning("<think>\nfever?\n</think>\n\nCall at once.")
    assert (split.text, split.reasoning, split.closed) == ("Call at once.", "fever?", True)


def test_blocks_in_a_row_are_joined() -> None:
    assert split_reasoning("<think>a</think><think>b</think>c").reasoning == "a\n\nb"


def test_empty_reasoning_is_none() -> None:
    assert split_reasoning("<think>\n\n</think>\n\nYes.").reasoning is None


def test_a_closing_tag_alone_ends_reasoning_that_the_prompt_opened() -> None:
    assert split_reasoning("hmm</think>Yes.").text == "Yes."


def test_an_opened_block_that_never_closes_has_no_text() -> None:
    assert split_reasoning("hmm, maybe", opened=True) == split_reasoning("<think>hmm, maybe")


def test_tags_in_the_middle_of_an_answer_stay() -> None:
    answer = "Write <think>…</think> around it."
    assert split_reasoning("<think>a</think>" + answer).text == answer


def test_an_unclosed_block_is_reported_before_the_cut() -> None:
    assert settle("<think>so", "length").outcome is Outcome.REASONING_UNCLOSED


def test_reasoning_delivered_apart_with_no_text_before_the_cut_is_unclosed() -> None:
    assert settle("", "length", reasoning="so").outcome is Outcome.REASONING_UNCLOSED


def test_a_cut_reply_keeps_its_text() -> None:
    settled = settle("Call your", "length")
    assert (settled.outcome, settled.text) == (Outcome.OUTPUT_TRUNCATED, "Call your")


def test_an_empty_reply_is_not_ok() -> None:
    assert settle("<think>a</think>\n", "stop").outcome is Outcome.PARSE_FAILED


@given(st.text(), st.sampled_from(["stop", "length", None]))
def test_any_text_settles_and_text_is_only_missing_with_a_reason(raw: str, finish_reason: str | None) -> None:
    settled = settle(raw, finish_reason)
    assert bool(settled.text) or settled.error is not None
