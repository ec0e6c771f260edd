from collections.abc import Callable

import pytest

from transplantqa.generation import Cell, Domain, read_completion, reread
from transplantqa.models.protocols import Completion
from transplantqa.records import Answer, Outcome

PHRASE = "NOT ADDRESSED"
EVIDENCE = [("Driving", "Wait six weeks. [your clinic's number] is on the card.")]


Read = Callable[[str], Answer]


@pytest.fixture
def read(cell: Cell, domain: Domain) -> Read:
    return lambda text: read_completion(Completion("x", Outcome.OK, text, raw=text), cell, domain)


@pytest.fixture
def cell(make_cell: Callable[..., Cell]) -> Cell:
    return make_cell("When may I drive?", EVIDENCE)


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("Wait six weeks [Driving, p. 1].", Outcome.OK),
        ("Wait six weeks.", Outcome.OK),
        ("<think>hm</think>\n\n**Not addressed**", Outcome.ABSTAINED),
        ("NOT ADDRESSED. Wait two weeks.", Outcome.PARSE_FAILED),
        ("Wait [chunk 99].", Outcome.PARSE_FAILED),
        ("Wait [Driving] [chunk 99].", Outcome.OK),
        ("Call [your clinic's number].", Outcome.OK),
        ("  ", Outcome.PARSE_FAILED),
        ("***", Outcome.PARSE_FAILED),
        ("<think>hm", Outcome.REASONING_UNCLOSED),
    ],
)
def test_a_reply_ends_in_one_outcome(read: Read, text: str, outcome: Outcome) -> None:
    assert read(text).outcome is outcome


def test_an_abstention_has_the_standard_text_and_keeps_what_was_written(read: Read) -> None:
    answer = read("**not addressed** in the provided text")
    assert (answer.text, answer.raw) == (PHRASE, "**not addressed** in the provided text")


def test_reasoning_is_kept_apart(read: Read) -> None:
    answer = read("<think>six?</think>Wait six weeks.")
    assert (answer.reasoning, answer.text) == ("six?", "Wait six weeks.")


def test_each_citation_is_recorded_valid_or_not(read: Read) -> None:
    answer = read("Wait [Driving, p. 1] [chunk 99].")
    assert [(item.heading, item.valid) for item in answer.citations] == [("Driving", True), ("chunk 99", False)]


@pytest.mark.parametrize(
    "outcome",
    [Outcome.CONTEXT_OVERFLOW, Outcome.OUTPUT_TRUNCATED, Outcome.REASONING_UNCLOSED, Outcome.ENGINE_ERROR],
)
def test_the_engines_failure_stays_the_cells(cell: Cell, domain: Domain, outcome: Outcome) -> None:
    answer = read_completion(Completion("x", outcome, "Wait", raw="Wait", error="why"), cell, domain)
    assert (answer.outcome, answer.text, answer.error) == (outcome, "", "why")


def test_an_uncited_answer_fails_only_where_citations_are_required(cell: Cell, domain: Domain) -> None:
    completion = Completion("x", Outcome.OK, "Wait six weeks.")
    assert read_completion(completion, cell, domain, "required").error == "cites no section"


@pytest.mark.parametrize("text", ["Wait six weeks [Driving].", "NOT ADDRESSED", "NOT ADDRESSED. Wait two weeks."])
def test_reading_again_from_raw_changes_nothing(cell: Cell, read: Read, domain: Domain, text: str) -> None:
    answer = read(text)
    assert reread(answer, cell.passages, domain) == answer
