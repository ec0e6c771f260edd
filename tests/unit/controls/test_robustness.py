from typing import Any

import pytest

from transplantqa.controls.robustness import JudgedRun, factor_effects, robustness, self_preference, triads
from transplantqa.records import Label

C, D, P = str(Label.CONSISTENT), str(Label.DIVERGENT), str(Label.COMPLEMENTARY)
ABSENT = str(Label.ABSENT)
PAIRS = [("q", "a", "b"), ("q", "a", "c"), ("q", "b", "c")]


def run(labels: list[str], **facts: Any) -> JudgedRun:
    own = {"judge": "J", "prompt": "p", "model": "m", "order": "fixed", "citations": "strip", "other": "x"}
    conflict = sum(label == D for label in labels) / len(labels)
    base: dict[str, Any] = {
        "run_id": "r",
        "system": "s",
        "answers": "same",
        "generator_family": None,
        "judge_family": None,
        "metrics": {"divergence_rate": conflict},
    }
    factors = {**own, **facts.pop("factors", {})}
    return JudgedRun(**{**base, **facts}, factors=factors, labels=dict(zip(PAIRS, labels, strict=True)))


@pytest.mark.parametrize(
    ("labels", "eligible", "broken"),
    [([C, C, C], 1, 0), ([C, D, C], 1, 1), ([C, P, C], 1, 0), ([C, D, D], 0, 0), ([D, D, D], 0, 0)],
)
def test_a_triad_is_broken_when_two_agreements_meet_a_conflict(labels: list[str], eligible: int, broken: int) -> None:
    found = triads(dict(zip(PAIRS, labels, strict=True)))
    assert (found["eligible"], found["intransitive"]) == (eligible, broken)


def test_triads_are_of_one_question() -> None:
    assert triads({("q1", "a", "b"): C, ("q2", "a", "c"): D, ("q1", "b", "c"): C})["eligible"] == 0


def test_only_runs_that_differ_in_one_factor_tell_what_it_does() -> None:
    stripped, kept = run([C, C, D]), run([D, C, D], factors={"citations": "keep"})
    other = run([D, D, D], factors={"citations": "keep", "prompt": "q"})
    (effect,) = factor_effects([(stripped, kept), (stripped, other)])
    assert (effect["factor"], effect["first"], effect["second"], effect["pairs"]) == ("citations", "keep", "strip", 3)
    assert effect["changed"] == pytest.approx(1 / 3)
    assert effect["conflict_points"] == pytest.approx(-100 / 3)


def test_runs_over_other_answers_are_never_compared() -> None:
    report = robustness([run([C, C, D]), run([D, D, D], factors={"order": "both"}, answers="others")])
    assert report["factors"] == []
    assert [row["range"] for row in report["ranges"]] == [0.0, 0.0]


def test_the_range_of_a_headline_is_over_all_judges_of_the_same_answers() -> None:
    report = robustness(
        [run([C, C, D]), run([D, D, D], factors={"prompt": "q"}), run([C, C, C], factors={"model": "n"})]
    )
    (row,) = report["ranges"]
    assert (row["low"], row["high"], row["runs"]) == (0.0, 1.0, 3)


def test_order_flips_are_those_of_runs_judged_both_ways() -> None:
    metrics = {"judge_order_consistency": 0.75, "judge_order_consistency_n": 8}
    report = robustness([run([C, C, D], metrics=metrics), run([C, C, C], factors={"order": "fixed2"})])
    assert report["order_flips"] == [{"system": "s", "pairs": 8, "flipped": 0.25}]


def test_self_preference_compares_the_own_family_with_others_on_the_same_answers() -> None:
    own = run([C, C, D], generator_family="qwen", judge_family="qwen")
    other = run([C, D, D], generator_family="qwen", judge_family="llama", factors={"model": "n"})
    found = self_preference([own, other])
    assert found["agreement_points"] == pytest.approx(100 / 3)
    assert found["pairs"] == 3
    assert self_preference([own])["agreement_points"] is None


def test_self_preference_is_over_the_pairs_that_all_judges_see() -> None:
    own = run([C, C, D], generator_family="qwen", judge_family="qwen")
    other = run([ABSENT, C, D], generator_family="qwen", judge_family="llama", factors={"model": "n"})
    found = self_preference([own, other])
    assert (found["agreement_points"], found["pairs"]) == (0.0, 2)
    blind = run([ABSENT] * 3, generator_family="qwen", judge_family="llama", factors={"model": "n"})
    assert self_preference([own, blind])["agreement_points"] is None
