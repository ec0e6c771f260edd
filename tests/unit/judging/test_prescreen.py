import pytest

from transplantqa.judging import screen
from transplantqa.records import FAILED_OUTCOMES, SILENT_OUTCOMES, Outcome, SilentSide


@pytest.mark.parametrize(
    ("a", "b", "side"),
    [
        (Outcome.ABSTAINED, Outcome.OK, "a"),
        (Outcome.OK, Outcome.EMPTY_RETRIEVAL, "b"),
        (Outcome.ABSTAINED, Outcome.EMPTY_RETRIEVAL, "both"),
    ],
)
def test_a_silent_side_makes_the_pair_absent_and_is_named(a: Outcome, b: Outcome, side: SilentSide) -> None:
    assert screen(a, b).silent_side == side


def test_two_answers_are_left_to_the_judge() -> None:
    assert screen(Outcome.OK, Outcome.OK).to_judge


@pytest.mark.parametrize("failed", sorted(FAILED_OUTCOMES))
@pytest.mark.parametrize("other", [Outcome.OK, *sorted(SILENT_OUTCOMES)])
def test_a_failed_side_leaves_the_pair_undecided_beside_anything(failed: Outcome, other: Outcome) -> None:
    screened = (screen(failed, other), screen(other, failed))
    assert all(item.failure is failed and item.silent_side is None and not item.to_judge for item in screened)
