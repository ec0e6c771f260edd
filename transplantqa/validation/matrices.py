"""Agreement from confusion matrices, for a whole stack of them at once: what bootstraps need.

A matrix counts (or weighs) pairs by two sides' labels in the scale's order: rows the reference, columns the other. All
functions take shape (..., K, K) and give shape (...) or (..., K); NaN stands for "undefined" here and nowhere else.
"""

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Weighting = Literal["nominal", "linear", "quadratic"]

_NOTHING = 1e-12
"""Share below which a denominator is rounding, not something to divide by."""


def raw(matrix: FloatArray) -> FloatArray:
    """Share of equal labels."""
    return _ratio(_diagonal(matrix).sum(-1), matrix.sum((-2, -1)), _total(matrix))


def kappa(matrix: FloatArray, weighting: Weighting = "nominal") -> FloatArray:
    """Cohen's kappa (1960), weighted (1968) by how far apart labels are in the scale; undefined where chance is 1."""
    weights = _distance(matrix.shape[-1], weighting)
    rows, columns, total = matrix.sum(-1), matrix.sum(-2), _total(matrix)
    observed = (matrix * weights).sum((-2, -1))
    expected = _ratio(((rows @ weights) * columns).sum(-1), total, total)
    return 1.0 - _ratio(observed, expected, total)


def alpha(coincidences: FloatArray, metric: Literal["nominal", "ordinal"] = "nominal") -> FloatArray:
    """Krippendorff's alpha from symmetric coincidences; undefined where all labels are one.

    The ordinal metric (Krippendorff, Content Analysis, 2004, chapter 11) is the squared distance of labels' mid-ranks.
    """
    marginal, total = coincidences.sum(-1), _total(coincidences)
    if metric == "nominal":
        distance = np.broadcast_to(_distance(coincidences.shape[-1], "nominal"), coincidences.shape)
    else:
        middle = np.cumsum(marginal, axis=-1) - marginal / 2.0
        distance = (middle[..., :, None] - middle[..., None, :]) ** 2
    observed = (coincidences * distance).sum((-2, -1))
    expected = (marginal[..., :, None] * marginal[..., None, :] * distance).sum((-2, -1))
    return 1.0 - (total - 1.0) * _ratio(observed, expected, total * distance.max((-2, -1)))


def of_two(matrix: FloatArray) -> FloatArray:
    """Coincidences of two raters' confusion matrix."""
    return matrix + np.swapaxes(matrix, -1, -2)


def precision(matrix: FloatArray) -> FloatArray:
    """Per label, share of the other side's that the reference agrees with."""
    return _ratio(_diagonal(matrix), matrix.sum(-2), _total(matrix)[..., None])


def recall(matrix: FloatArray) -> FloatArray:
    """Per label, share of the reference's that the other side found."""
    return _ratio(_diagonal(matrix), matrix.sum(-1), _total(matrix)[..., None])


def f1(matrix: FloatArray) -> FloatArray:
    """Per label, harmonic mean of precision and recall; undefined for a label that neither side used."""
    return _ratio(2.0 * _diagonal(matrix), matrix.sum(-1) + matrix.sum(-2), _total(matrix)[..., None])


def macro_f1(matrix: FloatArray) -> FloatArray:
    """Mean of F1 over the labels that a side used."""
    scores = f1(matrix)
    used = ~np.isnan(scores)
    return _ratio(np.where(used, scores, 0.0).sum(-1), used.sum(-1), 1.0)


def weighted_f1(matrix: FloatArray) -> FloatArray:
    """Mean of F1 weighted by how often the reference has each label."""
    scores, support = f1(matrix), matrix.sum(-1)
    return _ratio((np.nan_to_num(scores) * support).sum(-1), support.sum(-1), _total(matrix))


def constant_guess(matrix: FloatArray) -> FloatArray:
    """Matrix of a guesser that says the reference's most frequent label of everything; the first of equals."""
    rows = matrix.sum(-1)
    guessed = np.zeros_like(matrix)
    np.put_along_axis(guessed, rows.argmax(-1)[..., None, None], rows[..., :, None], axis=-1)
    return guessed


SCALARS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "raw": raw,
    "kappa": kappa,
    "kappa_linear": lambda matrix: kappa(matrix, "linear"),
    "kappa_quadratic": lambda matrix: kappa(matrix, "quadratic"),
    "alpha": lambda matrix: alpha(of_two(matrix)),
    "alpha_ordinal": lambda matrix: alpha(of_two(matrix), "ordinal"),
    "macro_f1": macro_f1,
    "weighted_f1": weighted_f1,
    "constant_raw": lambda matrix: raw(constant_guess(matrix)),
    "constant_macro_f1": lambda matrix: macro_f1(constant_guess(matrix)),
    "constant_weighted_f1": lambda matrix: weighted_f1(constant_guess(matrix)),
}
PER_LABEL: dict[str, Callable[[FloatArray], FloatArray]] = {"precision": precision, "recall": recall, "f1": f1}
OF_MANY: dict[str, Callable[[FloatArray], FloatArray]] = {
    "alpha": alpha,
    "alpha_ordinal": lambda matrix: alpha(matrix, "ordinal"),
}
SHARES = frozenset({"raw", "precision", "recall", "constant_raw"})
"""Measures that are a share of so many pairs."""


def _total(matrix: FloatArray) -> FloatArray:
    return np.asarray(matrix.sum((-2, -1)))


def _diagonal(matrix: FloatArray) -> FloatArray:
    return np.asarray(np.diagonal(matrix, axis1=-2, axis2=-1))


def _distance(labels: int, weighting: Weighting) -> FloatArray:
    steps = np.abs(np.subtract.outer(np.arange(labels), np.arange(labels))).astype(np.float64)
    found: FloatArray = {"nominal": (steps > 0).astype(np.float64), "linear": steps, "quadratic": steps**2}[weighting]
    return found


def _ratio(top: FloatArray, bottom: FloatArray, size: FloatArray | float) -> FloatArray:
    """Divide where the denominator is more than rounding at this size; NaN elsewhere."""
    defined = bottom > _NOTHING * np.maximum(size, 1.0)
    return np.asarray(np.where(defined, top / np.where(defined, bottom, 1.0), np.nan))
