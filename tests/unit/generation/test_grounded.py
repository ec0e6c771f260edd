from collections.abc import Callable
from typing import Any

import pytest

from transplantqa.generation import Cell, Domain, Grounded, Prompt
from transplantqa.models.protocols import Completion
from transplantqa.records import Outcome

PROMPT = {"name": "p", "version": 1, "system": "You are $role.", "user": "$evidence\n\nQ: $question"}
DRIVING = [("Driving", "Wait six weeks.")]
MakeCell = Callable[..., Cell]


@pytest.fixture
def generator(replies: type[Any], domain: Domain) -> Callable[..., tuple[Grounded, Any]]:
    def make(table: dict[str, Completion | str], prompt: dict[str, Any] = PROMPT) -> tuple[Grounded, Any]:
        model = replies(table)
        return Grounded(model=model, prompt=Prompt.model_validate(prompt), domain=domain), model

    return make


def test_the_evidence_comes_before_the_question_under_its_heading_and_page(
    generator: Callable[..., tuple[Grounded, Any]], make_cell: MakeCell
) -> None:
    messages = generator({})[0].messages(make_cell("When?", DRIVING))
    assert messages[-1].content == "[Driving, p. 1]\nWait six weeks.\n\nQ: When?"


def test_answers_find_their_cells_in_whatever_order_they_come(
    generator: Callable[..., tuple[Grounded, Any]], make_cell: MakeCell
) -> None:
    cells = [make_cell(f"Which {n}?", DRIVING, question_id=f"q{n}") for n in range(3)]
    answers = generator({f"Which {n}": f"Answer {n}." for n in range(3)})[0].answer(cells)
    assert {item.question_id: item.text for item in answers} == {f"q{n}": f"Answer {n}." for n in range(3)}


def test_empty_and_failed_evidence_need_no_call(
    generator: Callable[..., tuple[Grounded, Any]], make_cell: MakeCell
) -> None:
    grounded, model = generator({})
    cells = [
        make_cell("a", question_id="empty", outcome=Outcome.EMPTY_RETRIEVAL),
        make_cell("b", question_id="failed", outcome=Outcome.ENGINE_ERROR, error="index broken"),
    ]
    answers = {item.question_id: (item.outcome, item.text, item.error) for item in grounded.answer(cells)}
    assert answers == {
        "empty": (Outcome.EMPTY_RETRIEVAL, "NOT ADDRESSED", None),
        "failed": (Outcome.ENGINE_ERROR, "", "index broken"),
    }
    assert model.requests == []


def test_a_control_without_evidence_is_asked_with_nothing_to_read(
    generator: Callable[..., tuple[Grounded, Any]], make_cell: MakeCell
) -> None:
    grounded, model = generator({"nothing": "From memory."})
    (answer,) = grounded.answer([make_cell("nothing", question_id="q", outcome=Outcome.OK)])
    assert (answer.outcome, answer.text) == (Outcome.OK, "From memory.")
    assert len(model.requests) == 1


def test_an_overlong_prompt_fails_its_own_cell_alone(
    generator: Callable[..., tuple[Grounded, Any]], make_cell: MakeCell
) -> None:
    overflow = Completion("", Outcome.CONTEXT_OVERFLOW, "", error="too long")
    grounded, _ = generator({"long": overflow, "short": "Fine."})
    cells = [make_cell("long", DRIVING, question_id="l"), make_cell("short", DRIVING, question_id="s")]
    outcomes = {item.question_id: item.outcome for item in grounded.answer(cells)}
    assert outcomes == {"l": Outcome.CONTEXT_OVERFLOW, "s": Outcome.OK}


def test_a_changed_word_changes_the_identity_and_a_comment_does_not(
    generator: Callable[..., tuple[Grounded, Any]],
) -> None:
    base = generator({})[0].identity()
    assert generator({}, prompt=PROMPT | {"comment": "why"})[0].identity() == base
    assert generator({}, prompt=PROMPT | {"system": "Be $role."})[0].identity() != base
