"""Effect sizes, p-values of bootstrapped differences, and their correction where many are tested at once."""

from collections.abc import Sequence
from math import asin, erfc, sqrt

import numpy as np

from transplantqa.analysis.measures import FloatArray


def holm(p_values: Sequence[float]) -> list[float]:
    """Return Holm's adjusted p-values (1979): rejecting those up to alpha errs in any at most with chance alpha."""
    given = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(given, kind="stable")
    scaled = given[order] * np.arange(len(given), 0, -1)
    adjusted = np.empty(len(given))
    adjusted[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    return adjusted.tolist()


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


def cohen_h(first: float, second: float) -> float:
    """Return Cohen's h (1988), the effect size of two proportions: 0.2 is small, 0.5 medium, 0.8 large."""
    return 2.0 * (asin(sqrt(min(1.0, first))) - asin(sqrt(min(1.0, second))))


def normal_p(difference: float, drawn: FloatArray) -> float | None:
    """Return the two-sided p of no difference, from its bootstrap standard error; None where it never varies."""
    error = float(np.std(drawn[np.isfinite(drawn)], ddof=1)) if np.isfinite(drawn).sum() > 1 else 0.0
    return erfc(abs(difference) / error / sqrt(2.0)) if error > 0 else None


def hedges_g(first: FloatArray, second: FloatArray) -> float | None:
    """Return Hedges' g (1981): the difference of means in pooled standard deviations, less its small-sample bias."""
    freedom = len(first) + len(second) - 2
    if min(len(first), len(second)) < 2:
        return None
    pooled = ((len(first) - 1) * first.var(ddof=1) + (len(second) - 1) * second.var(ddof=1)) / freedom
    if pooled == 0:
        return None
    return float((first.mean() - second.mean()) / sqrt(pooled)) * (1.0 - 3.0 / (4.0 * freedom - 1.0))
