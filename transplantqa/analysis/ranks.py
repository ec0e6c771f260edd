"""Rank correlation."""

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
