"""One confusion matrix's figures by scikit-learn: what is printed. ``matrices`` gives their intervals."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from transplantqa.validation import matrices
from transplantqa.validation.matrices import FloatArray

_SCHEMES: Mapping[str, str | None] = {"kappa": None, "kappa_linear": "linear", "kappa_quadratic": "quadratic"}


def scalars(matrix: FloatArray) -> dict[str, float | None]:
    """Return every measure of ``matrices.SCALARS`` for one matrix; None where one is undefined.

    Kappas and F1 are scikit-learn's, which has no Krippendorff's alpha: that is ours.
    """
    values = {name: float(measure(matrix)) for name, measure in matrices.SCALARS.items()}
    sure = {name: bool(np.isfinite(value)) for name, value in values.items()}
    if sure["raw"]:
        values |= _averages(matrix, "")
        values |= _averages(matrices.constant_guess(matrix), "constant_")
    values |= {name: _kappa(matrix, scheme) for name, scheme in _SCHEMES.items() if sure[name]}
    return {name: values[name] if sure[name] else None for name in matrices.SCALARS}


def per_label(matrix: FloatArray) -> dict[str, list[float | None]]:
    """Return precision, recall and F1 of every label of one matrix; None where one is undefined."""
    sure = {name: np.isfinite(measure(matrix)) for name, measure in matrices.PER_LABEL.items()}
    found = _precision_recall_f1(matrix) if matrix.sum() > 0 else np.zeros((4, len(matrix)))
    return {
        name: [float(value) if known else None for value, known in zip(values, sure[name], strict=True)]
        for name, values in zip(matrices.PER_LABEL, found, strict=False)
    }


def reason(name: str, matrix: FloatArray, label: int | None = None) -> str:
    """Say why a measure of this matrix is undefined."""
    if matrix.sum() <= 0:
        return "no pairs"
    if label is None:
        return "all labels are the same"
    if name == "precision":
        return "never given"
    return "not in the reference" if name == "recall" else "used by neither side"


def _averages(matrix: FloatArray, prefix: str) -> dict[str, float]:
    """Average scikit-learn's F1 over the labels in use, plainly and by the reference's counts."""
    _, _, scores, support = _precision_recall_f1(matrix)
    used = (matrix.sum(axis=0) + matrix.sum(axis=1)) > 0
    return {
        f"{prefix}macro_f1": float(np.mean(scores[used])),
        f"{prefix}weighted_f1": float(np.average(scores, weights=support)),
    }


def _precision_recall_f1(matrix: FloatArray) -> Sequence[Any]:
    from sklearn.metrics import precision_recall_fscore_support  # noqa: PLC0415

    rows, columns, weights = _cells(matrix)
    found: Sequence[Any] = precision_recall_fscore_support(
        rows, columns, labels=np.arange(len(matrix)), sample_weight=weights, zero_division=0.0
    )
    return found


def _kappa(matrix: FloatArray, scheme: str | None) -> float:
    from sklearn.metrics import cohen_kappa_score  # noqa: PLC0415

    rows, columns, weights = _cells(matrix)
    labels = np.arange(len(matrix))
    return float(cohen_kappa_score(rows, columns, labels=labels, weights=scheme, sample_weight=weights))


def _cells(matrix: FloatArray) -> tuple[Any, Any, FloatArray]:
    """Return the labels and weight of each cell that has any: weighted observations, as scikit-learn takes them."""
    rows, columns = np.nonzero(matrix)
    return rows, columns, matrix[rows, columns]
