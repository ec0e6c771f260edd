"""Intervals that resample institutions, and broad agreement."""

import numpy as np
import pytest

from transplantqa.analysis import Analysis, audit
from transplantqa.analysis.broad import Agreements, permutation_p
from transplantqa.analysis.simulate import Plan, plant
from transplantqa.analysis.sketch import Sketch


def test_claims_about_institutions_in_general_have_wider_intervals() -> None:
    found = audit(plant(Plan(questions=200, institutions=6, institution_spread=0.25)).tables, Analysis()).metrics
    about_these = found["absence_rate_hi"] - found["absence_rate_lo"]
    in_general = found["absence_rate_institutions_hi"] - found["absence_rate_institutions_lo"]
    assert in_general > 1.5 * about_these


def test_the_jackknife_leaves_out_one_institution_at_a_time(three_institutions: Sketch) -> None:
    found = audit(three_institutions.tables(), Analysis(bootstrap_replicates=10)).metrics
    # Without x: y-z decided in 3 questions, no conflict. Without y: none. Without z: q1 of 3. Rates 0, 0, 1/3.
    rates = np.array([0.0, 0.0, 1 / 3])
    error = np.sqrt(2 / 3 * ((rates - rates.mean()) ** 2).sum())
    assert found["any_divergence_rate_institutions_hi"] == pytest.approx(1 / 3 + 1.959964 * error)


def test_two_institutions_say_nothing_of_institutions_in_general(sketch: Sketch) -> None:
    sketch.document("x").document("y").question("q", {"x": "ok", "y": "abstained"})
    assert not [name for name in audit(sketch.tables(), Analysis()).metrics if "_institutions_" in name]


def test_broad_agreement_asks_for_enough_questions_of_a_document_pair(three_institutions: Sketch) -> None:
    tables = three_institutions.tables()
    found = audit(tables, Analysis(bootstrap_replicates=0, broad_agreement_min_questions=2)).metrics
    # x-y have two visible questions, one of them a conflict; both are of group heart.
    assert found["broad_agreement/different_institution_same_group_n"] == 1
    assert found["broad_agreement/different_institution_same_group"] == 0.5
    assert found["broad_agreement/different_institution_different_group_n"] == 0


def test_planted_institutions_agree_with_themselves_more() -> None:
    tables = plant(Plan(questions=120, institutions=5, documents_per_institution=3, dissent=0.4)).tables
    found = audit(tables, Analysis(bootstrap_replicates=0)).metrics
    assert found["broad_agreement/same_institution_same_group"] == 1.0
    assert found["broad_agreement_welch_t"] > 0
    assert found["broad_agreement_permutation_p"] < 0.01


def test_labels_without_meaning_are_not_significant() -> None:
    rng = np.random.default_rng(0)
    a, b = np.triu_indices(12, 1)
    found = Agreements(a, b, np.full(len(a), 20), rng.random(len(a)))
    p = permutation_p(found, np.arange(12) // 3, np.zeros(12, np.int64), Analysis(permutations=200))
    assert p is not None
    assert p > 0.05
