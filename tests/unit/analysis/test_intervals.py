"""Cluster bootstrap intervals."""

import numpy as np
import pytest
from scipy import stats

from transplantqa.analysis import Analysis, audit
from transplantqa.analysis.intervals import percentile, resampling_weights
from transplantqa.analysis.simulate import Plan, plant
from transplantqa.analysis.sketch import Sketch


def test_the_interval_of_a_ratio_agrees_with_scipys_paired_bootstrap() -> None:
    rng = np.random.default_rng(1)
    denominator = rng.integers(1, 20, size=80).astype(float)
    numerator = rng.binomial(denominator.astype(int), rng.beta(1, 3, size=80)).astype(float)
    ours = percentile(numerator[:, None], denominator[:, None], resampling_weights(80, 20_000, 0), 0.95)
    theirs = stats.bootstrap(
        (numerator, denominator),
        lambda top, bottom, axis: top.sum(axis=axis) / bottom.sum(axis=axis),
        n_resamples=20_000,
        paired=True,
        vectorized=True,
        method="percentile",
        rng=np.random.default_rng(2),
    ).confidence_interval
    assert (ours.low[0], ours.high[0]) == pytest.approx((theirs.low, theirs.high), abs=0.004)


def test_without_an_event_there_is_the_exact_upper_bound_over_clusters() -> None:
    ones = np.ones((50, 1))
    found = percentile(0 * ones, ones, resampling_weights(50, 100, 0), 0.95)
    theirs = stats.binomtest(0, 50, alternative="less").proportion_ci(0.95).high
    assert (found.kind[0], found.low[0], found.high[0]) == ("one_sided", 0.0, pytest.approx(theirs))


def test_with_nothing_but_events_there_is_the_exact_lower_bound() -> None:
    ones = np.ones((50, 1))
    found = percentile(ones, ones, resampling_weights(50, 100, 0), 0.95)
    theirs = stats.binomtest(50, 50, alternative="greater").proportion_ci(0.95).low
    assert (found.low[0], found.high[0]) == (pytest.approx(theirs), 1.0)


def test_clusters_are_those_with_a_part_in_the_denominator() -> None:
    denominator = np.array([[1.0], [0.0], [2.0]])
    assert percentile(denominator / 2, denominator, resampling_weights(3, 10, 0), 0.95).clusters.tolist() == [2]


def test_every_replicate_draws_as_many_clusters_as_there_are() -> None:
    assert set(resampling_weights(7, 50, 0).sum(axis=1)) == {7.0}


def test_one_seed_gives_one_interval() -> None:
    tables = plant(Plan(questions=40)).tables
    first, second = (audit(tables, Analysis(bootstrap_replicates=50, seed=5)).metrics for _ in range(2))
    assert first == second


def test_no_replicates_give_no_intervals(three_institutions: Sketch) -> None:
    found = audit(three_institutions.tables(), Analysis(bootstrap_replicates=0)).metrics
    assert not [name for name in found if name.endswith(("_lo", "_hi"))]


def test_an_interval_over_few_questions_is_labelled_exploratory(three_institutions: Sketch) -> None:
    rows = audit(three_institutions.tables(), Analysis(bootstrap_replicates=50)).tables["measures"].to_pylist()
    assert all(row["exploratory"] for row in rows)


def test_an_interval_over_thirty_questions_is_not_exploratory() -> None:
    rows = audit(plant(Plan(questions=30)).tables, Analysis(bootstrap_replicates=50)).tables["measures"].to_pylist()
    whole = [row for row in rows if (row["facet"], row["measure"]) == ("all", "absence_rate")]
    assert [row["exploratory"] for row in whole] == [False]
