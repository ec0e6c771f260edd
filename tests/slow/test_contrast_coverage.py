"""How often the paired interval of a contrast holds the difference between the planted populations."""

from dataclasses import replace

import numpy as np
import pytest

from transplantqa.analysis.audit import audit
from transplantqa.analysis.deltas import Delta
from transplantqa.analysis.paired import contrast
from transplantqa.analysis.settings import Analysis
from transplantqa.analysis.simulate import Plan, plant

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]
AUDITS = 300
BEFORE = Plan(questions=80, institutions=5, documents_per_institution=2, omission=0.4, institution_spread=0.0)
AFTER = replace(BEFORE, omission=0.1)
"""Documents leave out less, all else equal: the same stances, more of them told."""


@pytest.fixture(scope="module")
def truth() -> dict[str, float]:
    sides = []
    for plan in (BEFORE, AFTER):
        many = plant(replace(plan, questions=20_000, seed=10_001)).tables
        sides.append(audit(many, Analysis(bootstrap_replicates=0, permutations=0)).metrics)
    return {name: 100 * (sides[1][name] - sides[0][name]) for name in sides[0] if name in sides[1]}


@pytest.fixture(scope="module")
def contrasts() -> list[dict[str, Delta]]:
    found = []
    for seed in range(AUDITS):
        before, after = (plant(replace(plan, seed=seed)).tables for plan in (BEFORE, AFTER))
        rows = contrast(before, after, Analysis(bootstrap_replicates=400), "cross_institution", margin=2.0).deltas
        found.append({row.measure: row for row in rows if row.facet == "all"})
    return found


@pytest.mark.parametrize(
    "measure",
    ["absence_rate", "pair_absence_rate", "divergence_rate", "any_divergence_rate", "source_dependence_index"],
)
def test_about_95_of_100_paired_intervals_hold_the_difference(
    measure: str, truth: dict[str, float], contrasts: list[dict[str, Delta]]
) -> None:
    """Percentile intervals over 80 clusters run a little short; 300 contrasts put the standard error at 1.3 points."""
    rows = [found[measure] for found in contrasts]
    covered = [(row.low or 0.0) <= truth[measure] <= (row.high or 0.0) for row in rows]
    assert 0.90 <= np.mean(covered) <= 0.99
