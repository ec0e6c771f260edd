"""When findings are called "not an instrument"."""

import pytest

from transplantqa.analysis import Analysis, not_an_instrument, support_figures

GOOD: dict[str, float | int] = {
    "absence_balanced_accuracy": 0.95,
    "absence_balanced_accuracy_n": 180,
    "judge_gold_kappa": 0.8,
    "judge_gold_kappa_n": 90,
    "support_rate": 0.97,
    "support_rate_n": 100,
    "parse_success_rate": 1.0,
    "parse_success_rate_n": 300,
    "failure_rate": 0.0,
    "failure_rate_n": 500,
}


def test_good_figures_give_no_reason() -> None:
    assert not_an_instrument(GOOD, Analysis()) == ()


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        (
            "absence_balanced_accuracy",
            0.554,
            "Silence is told from answers with balanced accuracy 0.55 over 180 gold cells; at least 0.80 is asked.",
        ),
        (
            "judge_gold_kappa",
            0.1,
            "The judge agrees with gold at kappa 0.10 over 90 pairs that both answer; at least 0.60 is asked.",
        ),
        ("judge_kappa", 0.1, "The judge agrees with people at kappa 0.10; at least 0.60 is asked."),
        (
            "judge_gold_kappa",
            0.5999,
            "The judge agrees with gold at kappa 0.5999 over 90 pairs that both answer; at least 0.6000 is asked.",
        ),
        (
            "support_rate",
            0.5,
            "The share of answers supported by their evidence is 0.50 over 100 answers; at least 0.90 is asked.",
        ),
        (
            "parse_success_rate",
            0.9,
            "The share of judgements that could be read is 0.90 over 300 judgements; at least 0.95 is asked.",
        ),
        ("failure_rate", 0.2, "The share of failed units is 0.20 over 500 units; at most 0.05 is allowed."),
    ],
)
def test_a_poor_figure_gives_its_reason(name: str, value: float, sentence: str) -> None:
    assert not_an_instrument(GOOD | {name: value}, Analysis()) == (sentence,)


def test_what_was_not_measured_is_no_reason() -> None:
    assert not_an_instrument({}, Analysis()) == ()


def test_a_validation_by_people_goes_before_gold() -> None:
    assert not_an_instrument(GOOD | {"judge_gold_kappa": 0.1, "judge_kappa": 0.9}, Analysis()) == ()


def test_thresholds_come_from_the_settings() -> None:
    assert not_an_instrument(GOOD, Analysis(min_judge_kappa=0.85))


def test_support_rate_is_the_share_of_supported_answers() -> None:
    found = support_figures({("q", "x"): True, ("q", "y"): False})
    assert found == {"support_rate": 0.5, "support_rate_n": 2}


def test_support_rate_is_undefined_without_an_answer() -> None:
    assert support_figures({}) == {"support_rate_n": 0}
