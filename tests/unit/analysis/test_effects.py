"""Effect sizes and corrected p-values are the published ones."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_effectsize

from transplantqa.analysis.audit import audit
from transplantqa.analysis.counts import read_cells
from transplantqa.analysis.effects import benjamini_hochberg, cohen_h, hedges_g, holm, normal_p
from transplantqa.analysis.facets import cell_facets, read_attributes
from transplantqa.analysis.intervals import resampling_weights
from transplantqa.analysis.settings import Analysis
from transplantqa.analysis.simulate import Plan, plant
from transplantqa.analysis.strata import strata_table


def test_holm_by_hand() -> None:
    """0.01 * 3, then the larger of that and 0.02 * 2, then of that and 0.9."""
    assert holm([0.9, 0.01, 0.02]) == pytest.approx([0.9, 0.03, 0.04])


def test_holm_of_nothing_is_nothing() -> None:
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_is_statsmodels(p_values: Sequence[float]) -> None:
    assert holm(p_values) == pytest.approx(multipletests(p_values, method="holm")[1])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_benjamini_hochberg_is_scipys(p_values: Sequence[float]) -> None:
    assert benjamini_hochberg(np.array(p_values)) == pytest.approx(stats.false_discovery_control(p_values))


@given(st.floats(0, 1), st.floats(0, 1))
def test_cohens_h_is_statsmodels(first: float, second: float) -> None:
    assert cohen_h(first, second) == pytest.approx(proportion_effectsize(first, second), abs=1e-12)


def test_hedges_g_by_hand() -> None:
    """Means 2 and 4, both of variance 1 over 3: d = -2, times 1 - 3 / (4 * 4 - 1)."""
    assert hedges_g(np.array([1.0, 2.0, 3.0]), np.array([3.0, 4.0, 5.0])) == pytest.approx(-2 * (1 - 3 / 15))


def test_hedges_g_is_undefined_without_spread() -> None:
    assert hedges_g(np.ones(3), np.ones(3)) is None


def test_a_difference_of_two_standard_errors_has_a_p_of_about_0_046() -> None:
    drawn = np.array([-1.0, 1.0] * 500)
    assert normal_p(2.0, drawn) == pytest.approx(0.0455, abs=2e-4)


def test_a_difference_that_never_varies_has_no_p() -> None:
    assert normal_p(0.0, np.zeros(100)) is None


def test_strata_of_one_kind_are_seldom_told_apart_once_corrected() -> None:
    """Topics are planted without effect: in 40 audits of 6 topics, about 1 in 20 has a corrected p below 0.05."""
    flagged = 0
    for seed in range(40):
        tables = plant(Plan(topics=6, seed=seed)).tables
        cells = read_cells(tables)
        whole, *strata = cell_facets(cells, read_attributes(tables, cells))
        by_topic = [facet for facet in strata if facet.name == "topic"]
        weights = resampling_weights(len(cells.question_ids), 200, seed)
        topics = strata_table([whole, *by_topic], [], weights, Analysis()).to_pylist()
        assert len(topics) == 6
        flagged += min(row["p_holm"] for row in topics) < 0.05
    assert flagged <= 6


def test_a_stratum_and_the_rest_make_the_whole() -> None:
    found = audit(plant(Plan(topics=2, seed=1)).tables, Analysis(bootstrap_replicates=50, permutations=0))
    rows = [row for row in found.tables["strata"].to_pylist() if row["facet"] == "topic"]
    assert rows[0]["value"] == pytest.approx(rows[1]["rest"])
    assert rows[0]["cohen_h"] == pytest.approx(-rows[1]["cohen_h"])
    assert rows[0]["low"] <= rows[0]["difference"] <= rows[0]["high"]
