"""Figures of a probe against values worked out by hand."""

import pytest

from transplantqa.controls.drawing import Drawn
from transplantqa.controls.ratios import Resampling
from transplantqa.controls.silence import (
    AnsweredCell,
    RevealedPair,
    Silence,
    SilentCell,
    Stratum,
    counts,
    figures,
)
from transplantqa.records import Answer, Judgement, Label, Outcome

HOW = Resampling(200, 0, 0.95)
OK, SILENT, FAILED = Outcome.OK, Outcome.ABSTAINED, Outcome.CONTEXT_OVERFLOW


def cell(
    name: str, outcome: Outcome, probability: float, *, group: str = "g", gold: bool | None = None
) -> Drawn[SilentCell]:
    question, _, document = name.partition("/")
    item = SilentCell(
        question, document, Stratum("retrieved", group, "i"), Answer(question, document, outcome, "t"), 1, gold
    )
    return Drawn(item, probability)


SILENT_CELLS = [
    cell("q1/d1", OK, 0.5, gold=False),
    cell("q1/d2", SILENT, 0.5, gold=True),
    cell("q2/d1", SILENT, 0.25, group="h", gold=False),
    cell("q2/d2", FAILED, 0.25, group="h", gold=False),
]
COUNTS = {"q1": (6, 4), "q2": (2, 8)}


def answered(name: str, *, supported: bool, none: tuple[bool, bool] | None = (False, False)) -> Drawn[AnsweredCell]:
    question, _, document = name.partition("/")
    return Drawn(AnsweredCell(question, document, supported, {"none": none, "shuffled": None}), 0.5)


def revealed(label: Label, weight: float) -> RevealedPair:
    return RevealedPair(Judgement("q1", "d1", "d9", OK, "a", label), weight)


FOUND = Silence(
    SILENT_CELLS,
    [
        answered("q1/d3", supported=True),
        answered("q1/d4", supported=False, none=(True, False)),
        answered("q2/d5", supported=True, none=(True, True)),
        answered("q2/d6", supported=True, none=None),
    ],
    [revealed(Label.DIVERGENT, 2), revealed(Label.CONSISTENT, 6), revealed(Label.ABSENT, 9)],
    COUNTS,
)


def test_false_absence_is_weighted_by_the_draw_and_leaves_failures_out() -> None:
    assert figures(FOUND, HOW)["false_absence_rate"].value == pytest.approx(2 / (2 + 2 + 4))
    assert figures(FOUND, HOW)["false_absence_rate"].n == 3


def test_each_stratum_has_its_own_rate_and_one_without_events_an_upper_bound() -> None:
    found = figures(FOUND, HOW)
    assert found["false_absence_rate/group/g"].value == 0.5
    without = found["false_absence_rate/group/h"]
    assert (without.value, without.low) == (0.0, 0.0)
    assert without.high == pytest.approx(0.95)


def test_corrected_absence_takes_the_false_silence_out_of_the_whole() -> None:
    """12 of 20 cells are silent; a quarter of that is false: 9 of 20."""
    assert figures(FOUND, HOW)["corrected_absence_rate"].value == pytest.approx(9 / 20)


def test_revealed_divergence_is_over_visible_pairs() -> None:
    found = figures(FOUND, HOW)["revealed_divergence_rate"]
    assert found.value == pytest.approx(2 / 8)
    assert found.n == 2


def test_answers_without_support_stand_beside_what_is_answered_without_the_document() -> None:
    found = figures(FOUND, HOW)
    assert found["unsupported_answer_rate"].value == pytest.approx(1 / 4)
    assert found["none_evidence/answer_rate"].value == pytest.approx(2 / 3)
    assert found["none_evidence/unsupported_answer_rate"].value == pytest.approx(1 / 2)
    assert found["shuffled_evidence/answer_rate"].value is None


def test_the_probe_itself_is_held_against_gold() -> None:
    """Right: the recovered cell people found addressed, the silent one they found silent; wrong: one; failed: out."""
    assert figures(FOUND, HOW)["probe_right_on_gold"].value == pytest.approx(2 / 3)


def test_counts_name_the_recovered_answers_in_conflict() -> None:
    said = counts(FOUND)
    assert said["recovered_cells_in_conflict"] == 1
    assert said["conflicts_revealed_estimate"] == 2
    assert said["outcomes_of_asking_again"] == {"abstained": 2, "context_overflow": 1, "ok": 1}


def test_a_run_without_silence_has_nothing_to_correct() -> None:
    found = figures(Silence([], [], [], {"q1": (3, 0)}), HOW)
    assert found["false_absence_rate"].value is None
    assert found["corrected_absence_rate"].value == 0.0
