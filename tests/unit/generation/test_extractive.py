from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from transplantqa.generation import Cell, Extractive, support
from transplantqa.records import Answer, Outcome

MakeCell = Callable[..., Cell]
BOOKLET = [
    ("Parking", "Garage B is open to visitors. Bring your ticket to the desk."),
    ("Driving", "Your chest needs time to heal. Do not drive a car for six weeks. Ask us before a long trip."),
    ("Diet", "Avoid grapefruit:\n- fresh\n- juice\nSalt is fine."),
]


def answer(cell: Cell, silence_below: float = 0.3) -> Answer:
    return next(Extractive(silence_below=silence_below).answer([cell]))


def without_time(item: Answer) -> Answer:
    return replace(item, seconds=0.0)


def test_the_best_sentence_is_quoted_with_heading_and_page(make_cell: MakeCell) -> None:
    found = answer(make_cell("When can I drive my car?", BOOKLET))
    assert found.text == "“Do not drive a car for six weeks.” [Driving, p. 2]"
    assert [(item.heading, item.page, item.valid) for item in found.citations] == [("Driving", 2, True)]


def test_a_question_the_passages_do_not_touch_is_met_with_silence(make_cell: MakeCell) -> None:
    found = answer(make_cell("Are tattoos allowed?", BOOKLET))
    assert (found.outcome, found.text) == (Outcome.ABSTAINED, "NOT ADDRESSED")


def test_a_list_is_quoted_with_the_sentence_that_opens_it(make_cell: MakeCell) -> None:
    assert "Avoid grapefruit: - fresh - juice" in answer(make_cell("Is grapefruit out?", BOOKLET)).text


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [(Outcome.EMPTY_RETRIEVAL, Outcome.EMPTY_RETRIEVAL), (Outcome.ENGINE_ERROR, Outcome.ENGINE_ERROR)],
)
def test_the_retrievers_outcome_is_kept(make_cell: MakeCell, outcome: Outcome, expected: Outcome) -> None:
    assert answer(make_cell("Anything?", outcome=outcome)).outcome is expected


def test_the_score_is_the_weighted_share_of_question_words(make_cell: MakeCell) -> None:
    cell = make_cell("car trips", [("X", "A car. A boat.")])
    # Two sentences; "car" is in one: ln(1 + 1.5/1.5); "trip" in none: ln(1 + 2.5/0.5).
    expected = np.log(2) / (np.log(2) + np.log(6))
    assert Extractive(silence_below=0.0).score(cell) == pytest.approx(expected, abs=1e-6)


class FirstWord:
    """Embeds a text as one of two directions, by whether it speaks of wheels."""

    def identity(self) -> dict[str, Any]:
        return {"name": "first word"}

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array(
            [[1.0, 0.0] if "wheel" in text or "drive" in text else [0.0, 1.0] for text in texts], np.float32
        )

    embed_passages = embed_queries


def test_an_embedder_finds_what_other_words_say(make_cell: MakeCell) -> None:
    generator = Extractive(silence_below=0.3, embedder=FirstWord())
    assert "six weeks" in next(generator.answer([make_cell("Back behind the wheel?", BOOKLET)])).text


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.text(max_size=80), st.lists(st.text(max_size=120), min_size=1, max_size=3))
def test_an_answer_is_grounded_and_the_same_every_time(make_cell: MakeCell, question: str, texts: list[str]) -> None:
    cell = make_cell(question, [(f"H{number}", text) for number, text in enumerate(texts)])
    first, second = (answer(cell, 0.0) for _ in range(2))
    assert without_time(first) == without_time(second)
    assert first.outcome is Outcome.ABSTAINED or support(first.raw, texts).word_share == 1.0
