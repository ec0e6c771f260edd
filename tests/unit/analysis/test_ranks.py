"""Rank statistics against scipy."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from transplantqa.analysis.broad import welch
from transplantqa.analysis.ranks import spearman

values = st.integers(0, 6).map(float)


@given(st.lists(st.tuples(values, values), min_size=2, max_size=30))
def test_spearman_is_scipys(rows: Sequence[tuple[float, float]]) -> None:
    first, second = (np.array(side) for side in zip(*rows, strict=True))
    ours = spearman(first, second)
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        assert ours is None
    else:
        assert ours == pytest.approx(stats.spearmanr(first, second).statistic)


def test_welch_is_scipys() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.normal(0, 1, 12), rng.normal(1, 3, 20)
    theirs = stats.ttest_ind(first, second, equal_var=False)
    assert welch(first, second) == pytest.approx((theirs.statistic, theirs.df))


def test_welch_is_undefined_for_one_value() -> None:
    assert welch(np.array([1.0]), np.array([1.0, 2.0])) is None
