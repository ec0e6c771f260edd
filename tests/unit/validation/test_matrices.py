"""Statistics against published values and against scikit-learn, statsmodels and nltk."""

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from transplantqa.validation import matrices, points
from transplantqa.validation.agreement import _coincidences

PAPER = np.array([[39, 0, 0, 0, 0], [0, 17, 1, 0, 0], [0, 6, 20, 8, 0], [0, 0, 2, 12, 0], [0, 0, 0, 1, 40]])
MATRICES = arrays(np.int64, (4, 4), elements=st.integers(0, 6)).map(lambda found: found.astype(float))


def test_the_published_matrix_gives_the_published_figures() -> None:
    figures = points.scalars(PAPER.astype(float))
    assert round(figures["raw"] or 0, 3) == 0.877
    assert round(figures["kappa"] or 0, 3) == 0.842
    assert round(figures["weighted_f1"] or 0, 3) == 0.876
    assert round(figures["macro_f1"] or 0, 3) == 0.841
    scores = points.per_label(PAPER.astype(float))["f1"]
    assert [round(score or 0, 2) for score in scores] == [1.00, 0.83, 0.70, 0.69, 0.99]


def test_weighted_kappas_are_those_of_statsmodels() -> None:
    from statsmodels.stats.inter_rater import cohens_kappa

    matrix = PAPER.astype(float)
    for scheme, name in ((None, "kappa"), ("linear", "kappa_linear"), ("quadratic", "kappa_quadratic")):
        expected = cohens_kappa(matrix, wt=scheme, return_results=False)
        assert points.scalars(matrix)[name] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("matrix", "kappa"), [([[40, 9], [6, 45]], 0.70), ([[80, 10], [5, 5]], 0.32)])
def test_the_prevalence_paradox_is_that_of_feinstein_and_cicchetti(matrix: list[list[int]], kappa: float) -> None:
    figures = points.scalars(np.array(matrix, dtype=float))
    assert figures["raw"] == pytest.approx(0.85)
    assert round(figures["kappa"] or 0, 2) == kappa


def test_krippendorffs_own_example_with_missing_labels_has_his_alphas() -> None:
    nothing = -1
    labels = np.array(
        [
            [0, 1, 2, 2, 1, 0, 3, 0, 1, nothing, nothing, nothing],
            [0, 1, 2, 2, 1, 1, 3, 0, 1, 4, nothing, 2],
            [nothing, 2, 2, 2, 1, 2, 3, 1, 1, 4, 0, nothing],
            [0, 1, 2, 2, 1, 3, 3, 0, 1, 4, 0, nothing],
        ]
    ).T
    matrix = _coincidence_matrix(labels, 5)
    assert matrix.sum() == pytest.approx(40)
    assert round(float(matrices.alpha(matrix)), 3) == 0.743
    assert round(float(matrices.alpha(matrix, "ordinal")), 3) == 0.815


@settings(max_examples=60, deadline=None)
@given(arrays(np.int64, (8, 3), elements=st.integers(-1, 3)))
def test_alpha_with_missing_labels_is_that_of_nltk(labels: Any) -> None:
    from nltk.metrics.agreement import AnnotationTask

    usable = labels[(labels >= 0).sum(axis=1) >= 2]
    found = float(matrices.alpha(_coincidence_matrix(usable, 4)))
    data = [
        (str(rater), str(unit), int(label))
        for unit, row in enumerate(usable)
        for rater, label in enumerate(row)
        if label >= 0
    ]
    if len({label for _, _, label in data}) < 2:
        assert np.isnan(found)
    else:
        assert found == pytest.approx(AnnotationTask(data).alpha(), abs=1e-9)


@settings(max_examples=80, deadline=None)
@given(MATRICES)
def test_the_stacked_statistics_are_those_of_scikit_learn(matrix: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        printed, labelled = points.scalars(matrix), points.per_label(matrix)
        stacked = np.stack([matrix, 2.0 * matrix])
        for name, measure in matrices.SCALARS.items():
            assert measure(stacked)[0] == pytest.approx(_number(printed[name]), abs=1e-9, nan_ok=True)
        for name, measure in matrices.PER_LABEL.items():
            expected = [_number(value) for value in labelled[name]]
            assert measure(stacked)[0] == pytest.approx(expected, abs=1e-9, nan_ok=True)


@settings(max_examples=60, deadline=None)
@given(MATRICES)
def test_raw_agreement_and_kappa_are_those_of_scikit_learn_on_the_labels_themselves(matrix: Any) -> None:
    from sklearn.metrics import accuracy_score, cohen_kappa_score, f1_score

    first, second = _unfolded(matrix.astype(int))
    figures = points.scalars(matrix)
    if not len(first):
        assert set(figures.values()) == {None}
        return
    assert figures["raw"] == pytest.approx(accuracy_score(first, second))
    assert figures["macro_f1"] == pytest.approx(f1_score(first, second, average="macro", zero_division=0.0))
    if figures["kappa"] is not None:
        assert figures["kappa"] == pytest.approx(cohen_kappa_score(first, second), abs=1e-9)


def test_a_single_label_leaves_kappa_and_alpha_undefined_and_says_why() -> None:
    matrix = np.diag([0.0, 7.0, 0.0])
    figures = points.scalars(matrix)
    assert figures["raw"] == 1.0
    assert [figures[name] for name in ("kappa", "kappa_linear", "kappa_quadratic", "alpha")] == [None] * 4
    assert points.reason("kappa", matrix) == "all labels are the same"


def test_a_class_that_neither_side_used_is_undefined_and_is_in_no_average() -> None:
    matrix = np.array([[3.0, 1.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 0.0]])
    found = points.per_label(matrix)
    assert found["precision"] == [1.0, 0.8, None]
    assert found["recall"] == [0.75, 1.0, None]
    assert found["f1"] == [pytest.approx(6 / 7), pytest.approx(8 / 9), None]
    assert points.scalars(matrix)["macro_f1"] == pytest.approx((6 / 7 + 8 / 9) / 2)
    assert points.reason("f1", matrix, 2) == "used by neither side"


def test_a_class_one_side_never_used_scores_nothing_and_is_in_the_average() -> None:
    matrix = np.array([[4.0, 0.0], [2.0, 0.0]])
    found = points.per_label(matrix)
    assert found["precision"] == [pytest.approx(2 / 3), None]
    assert found["recall"] == [1.0, 0.0]
    assert found["f1"] == [0.8, 0.0]
    assert points.scalars(matrix)["macro_f1"] == pytest.approx(0.4)


def test_nothing_to_compare_is_undefined_throughout() -> None:
    figures = points.scalars(np.zeros((3, 3)))
    assert set(figures.values()) == {None}
    assert points.reason("raw", np.zeros((3, 3))) == "no pairs"


def test_the_constant_guess_is_the_references_most_frequent_label() -> None:
    figures = points.scalars(PAPER.astype(float))
    assert figures["constant_raw"] == pytest.approx(41 / 146)
    assert figures["constant_macro_f1"] == pytest.approx(2 * 41 / (146 + 41) / 5)


def _unfolded(matrix: Any) -> tuple[Any, Any]:
    rows, columns = np.nonzero(matrix)
    times = matrix[rows, columns]
    return np.repeat(rows, times), np.repeat(columns, times)


def _coincidence_matrix(labels: Any, size: int) -> matrices.FloatArray:
    _, cells, weights = _coincidences(labels, size)
    return np.asarray(np.bincount(cells, weights, minlength=size * size).reshape(size, size), dtype=np.float64)


def _number(value: float | None) -> float:
    return float("nan") if value is None else value
