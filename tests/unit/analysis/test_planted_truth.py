"""Audits planted by the generator come back as planted."""

from itertools import combinations

import pytest

from transplantqa.analysis import Analysis, audit
from transplantqa.analysis.simulate import Plan, Planted, plant

PLAN = Plan(questions=60, institutions=4, documents_per_institution=2, failures=0.05, seed=3)


@pytest.fixture(scope="module")
def planted() -> Planted:
    return plant(PLAN)


def test_the_planted_conflicts_are_found(planted: Planted) -> None:
    conflicts = visible = 0
    for question in range(PLAN.questions):
        usable = planted.answered[question] & ~planted.failed[question]
        for a, b in combinations(range(len(planted.institution)), 2):
            i, j = planted.institution[a], planted.institution[b]
            if i != j and usable[a] and usable[b]:
                visible += 1
                conflicts += int(planted.stance[question, i] != planted.stance[question, j])
    found = audit(planted.tables, Analysis(bootstrap_replicates=0)).metrics
    assert (found["divergence_rate"], found["divergence_rate_n"]) == pytest.approx((conflicts / visible, visible))


def test_the_planted_silence_is_found(planted: Planted) -> None:
    asked = ~planted.failed
    found = audit(planted.tables, Analysis(bootstrap_replicates=0)).metrics
    silent = (asked & ~planted.answered).sum()
    assert (found["absence_rate"], found["absence_rate_n"]) == pytest.approx((silent / asked.sum(), asked.sum()))


def test_an_institution_agrees_with_itself(planted: Planted) -> None:
    found = audit(planted.tables, Analysis(bootstrap_replicates=0)).metrics
    assert found["scope/same_institution/divergence_rate_n"] > 0
    assert found["scope/same_institution/divergence_rate"] == 0.0


def test_the_same_plan_gives_the_same_tables() -> None:
    assert plant(PLAN).tables.comparisons.equals(plant(PLAN).tables.comparisons)
