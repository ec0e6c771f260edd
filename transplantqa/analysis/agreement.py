"""Agreement of two label sequences, from their confusion matrix."""

import numpy as np
from numpy.typing import NDArray

from transplantqa.analysis.counts import IntArray

Matrix = NDArray[np.int64]


def confusion(reference: IntArray, other: IntArray, labels: int) -> Matrix:
    """Count (reference, other) label positions: a (labels, labels) matrix, rows the reference."""
    return np.bincount(reference * labels + other, minlength=labels * labels).astype(np.int64).reshape(labels, labels)


def cohen_kappa(matrix: Matrix) -> float | None:
    """Return Cohen's kappa, ``(p_o - p_e) / (1 - p_e)``; None where it is undefined.

    It is undefined with nothing to compare, and where both sides give one and the same label to everything, so that
    chance agreement is already 1 (Cohen 1960).
    """
    total = int(matrix.sum())
    if total == 0:
        return None
    observed = float(np.trace(matrix)) / total
    expected = float(matrix.sum(axis=1) @ matrix.sum(axis=0)) / total**2
    return None if np.isclose(expected, 1.0) else (observed - expected) / (1.0 - expected)


def balanced_accuracy(matrix: Matrix) -> float | None:
    """Return the mean over reference labels of the share found; None where a label has no instance."""
    instances = matrix.sum(axis=1)
    return None if (instances == 0).any() else float(np.mean(np.diag(matrix) / instances))
