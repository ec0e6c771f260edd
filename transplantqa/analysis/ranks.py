"""Rank correlation and the false discovery rate, in a few lines each."""

import numpy as np

from transplantqa.analysis.measures import FloatArray


def average_ranks(values: FloatArray) -> FloatArray:
    """Return ranks from 1, ties sharing the mean of theirs."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks: FloatArray = (last - (counts - 1) / 2.0)[inverse]
    return ranks


def spearman(first: FloatArray, second: FloatArray) -> float | None:
    """Return Spearman's rank correlation; None with fewer than two values or where a side is constant."""
    if len(first) < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    return float(np.corrcoef(average_ranks(first), average_ranks(second))[0, 1])


def benjamini_hochberg(p_values: FloatArray) -> FloatArray:
    """Return adjusted p-values: reject those at or below q to keep the false discovery rate at q.

    Benjamini and Hochberg (1995): the running minimum, from the largest, of ``p * n / rank``.
    """
    size = len(p_values)
    order = np.argsort(p_values, kind="stable")
    scaled = p_values[order] * size / np.arange(1, size + 1)
    adjusted = np.empty(size)
    adjusted[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return adjusted
