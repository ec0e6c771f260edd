"""Corrected rates are those of prediction-powered inference, and hold the truth that was planted."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from transplantqa.analysis.corrected import LABELS, RATES, Population, corrected_rates, corrected_ratio, sensitivity
from transplantqa.analysis.counts import read_cells, read_pairs
from transplantqa.analysis.sketch import Sketch

NUMERATOR, DENOMINATOR = RATES["divergence_rate"]


def planted(rng: np.random.Generator, *, one_stratum: bool = False, per_question: int = 20) -> tuple[Population, float]:
    """Return 200 questions' pairs with a judge that errs one label up or down, 60 sampled a stratum; the true rate."""
    questions = 200
    question = np.repeat(np.arange(questions), per_question)
    chance = rng.beta(1, 3, questions)[question]
    truth = np.where(rng.random(len(question)) < chance, 3, np.where(rng.random(len(question)) < 0.3, 0, 1))
    wrong = rng.random(len(question))
    label = np.where((truth == 3) & (wrong < 0.05), 1, np.where((truth == 1) & (wrong < 0.15), 3, truth))
    stratum = np.zeros_like(label) if one_stratum else label
    sampled, inclusion = [], []
    for name in np.unique(stratum):
        members = np.flatnonzero(stratum == name)
        drawn = rng.choice(members, 60, replace=False)
        sampled.append(np.sort(drawn))
        inclusion.append(np.full(60, 60 / len(members)))
    places = np.concatenate(sampled)
    population = Population(question, stratum, label, places, truth[places], np.concatenate(inclusion))
    visible = np.isin(truth, sorted(DENOMINATOR))
    return population, float(np.isin(truth, sorted(NUMERATOR))[visible].mean())


def test_a_mean_and_its_interval_are_ppi_pythons() -> None:
    ppi_py: Any = pytest.importorskip("ppi_py")
    population, _ = planted(np.random.default_rng(1), one_stratum=True, per_question=1)
    whole = 40  # the library takes the unlabelled to be others: repeated, the sample is a negligible part of them
    repeated = Population(
        question=np.arange(whole * len(population.label)),
        stratum=np.tile(population.stratum, whole),
        label=np.tile(population.label, whole),
        sampled=population.sampled,
        people=population.people,
        inclusion=population.inclusion / whole,
    )
    found = corrected_ratio(repeated, NUMERATOR, frozenset(range(len(LABELS))), 0.95)
    ours, theirs = (np.isin(side, sorted(NUMERATOR)).astype(float) for side in (repeated.label, repeated.people))
    low, high = ppi_py.ppi_mean_ci(theirs, ours[repeated.sampled], ours, alpha=0.05, lam=1)
    assert found.corrected == pytest.approx(float((low + high)[0] / 2), abs=1e-9)
    assert found.low is not None
    assert found.high is not None
    assert found.high - found.low == pytest.approx(float((high - low)[0]), rel=0.03)


def test_the_judges_bias_is_taken_out() -> None:
    errors, biases, held = [], [], 0
    for seed in range(60):
        population, truth = planted(np.random.default_rng(seed))
        found = corrected_ratio(population, NUMERATOR, DENOMINATOR, 0.95)
        assert found.corrected is not None
        assert found.uncorrected is not None
        assert found.low is not None
        assert found.high is not None
        errors.append(found.corrected - truth)
        biases.append(found.uncorrected - truth)
        held += found.low <= truth <= found.high
    assert abs(np.mean(biases)) > 0.02
    assert abs(np.mean(errors)) < 3 * np.std(errors) / np.sqrt(60)
    assert held >= 54


def test_a_judge_that_people_agree_with_is_not_corrected() -> None:
    population, _ = planted(np.random.default_rng(3))
    agreed = Population(**{**vars(population), "people": population.label[population.sampled]})
    found = corrected_ratio(agreed, NUMERATOR, DENOMINATOR, 0.95)
    assert found.corrected == pytest.approx(found.uncorrected)


def test_pairs_of_one_question_widen_the_interval() -> None:
    population, _ = planted(np.random.default_rng(4))
    apart = Population(**{**vars(population), "question": np.arange(len(population.label))})
    clustered, independent = (corrected_ratio(one, NUMERATOR, DENOMINATOR, 0.95) for one in (population, apart))
    assert clustered.high is not None
    assert clustered.low is not None
    assert independent.high is not None
    assert independent.low is not None
    assert clustered.high - clustered.low > 1.1 * (independent.high - independent.low)


def test_a_run_is_corrected_from_the_labels_of_its_pairs() -> None:
    """x and y differ by the judge twice; people say the sampled one agrees: a stratum's mean of 0 takes both back."""
    sketch = Sketch().document("x").document("y").document("z")
    for name in ("q1", "q2", "q3"):
        sketch.question(name, {"x": "ok", "y": "ok", "z": "abstained"})
        sketch.compare(name, "x", "y", "CONSISTENT" if name == "q3" else "DIVERGENT")
    tables = sketch.tables()
    cells = read_cells(tables)
    reference = pa.table(
        {
            "question_id": ["q1", "q3", "q2", "elsewhere"],
            "document_a": ["x"] * 4,
            "document_b": ["y"] * 4,
            "inclusion_probability": [0.5, 1.0, 0.5, 1.0],
            "label": ["CONSISTENT", "CONSISTENT", None, "DIVERGENT"],
        }
    )
    rows = corrected_rates(cells, read_pairs(cells, tables.comparisons)[0], reference, 0.95).to_pylist()
    found = {row["measure"]: row for row in rows}
    assert found["divergence_rate"]["uncorrected"] == pytest.approx(2 / 3)
    assert found["divergence_rate"]["corrected"] == 0.0
    assert found["label/CONSISTENT"]["corrected"] == pytest.approx(3 / 9)
    assert (found["divergence_rate"]["labelled_pairs"], found["divergence_rate"]["unsampled_pairs"]) == (2, 6)


def test_without_labels_nothing_is_corrected() -> None:
    population, _ = planted(np.random.default_rng(5))
    none = Population(
        **{
            **vars(population),
            "sampled": population.sampled[:0],
            "people": population.people[:0],
            "inclusion": np.zeros(0),
        }
    )
    found = corrected_ratio(none, NUMERATOR, DENOMINATOR, 0.95)
    assert found.corrected == found.uncorrected


@given(st.lists(st.tuples(st.integers(1, 30), st.integers(0, 30)), min_size=1, max_size=20))
def test_without_errors_the_sensitivity_curve_starts_at_the_rate_found(counts: list[tuple[int, int]]) -> None:
    visible = np.array([v for v, _ in counts])
    conflicts = np.array([min(v, x) for v, x in counts])
    rows = sensitivity(visible, conflicts, np.ones(len(counts), np.bool_)).to_pylist()
    assert rows[0]["any_divergence_rate"] == pytest.approx(float((conflicts > 0).mean()))
    assert all(0 <= row["any_divergence_rate"] <= 1 for row in rows)


def test_the_sensitivity_curve_by_hand() -> None:
    """One question, 3 visible pairs, 2 in conflict: 1 - 0.5 ** 2 * 0.95 if half the conflicts are false."""
    rows = sensitivity(np.array([3]), np.array([2]), np.array([True])).to_pylist()
    row = next(row for row in rows if (row["false_conflict_rate"], row["hidden_conflict_rate"]) == (0.5, 0.05))
    assert row["any_divergence_rate"] == pytest.approx(1 - 0.25 * 0.95)
