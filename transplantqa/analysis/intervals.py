"""Intervals for ratios of sums over clusters, by resampling clusters."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from transplantqa.analysis.measures import FloatArray

BOOTSTRAP = "bootstrap"
ONE_SIDED = "one_sided"
NONE = ""


@dataclass(frozen=True)
class Intervals:
    """Bounds of F ratios; NaN, with ``kind`` empty, where there is none.

    ``clusters`` counts the clusters with a part in the denominator. ``kind`` is ``bootstrap``, or ``one_sided`` where
    no cluster has an event (or none lacks one), so that resampling says nothing and only the far bound is meant.
    """

    low: FloatArray
    high: FloatArray
    clusters: NDArray[np.int64]
    kind: tuple[str, ...]


def resampling_weights(clusters: int, replicates: int, seed: int) -> FloatArray:
    """Return how often each replicate draws each cluster: (replicates, clusters), rows sum to ``clusters``."""
    if clusters == 0:
        return np.zeros((replicates, 0))
    draws = np.random.default_rng(seed).multinomial(clusters, np.full(clusters, 1.0 / clusters), size=replicates)
    return draws.astype(np.float64)


def percentile(numerator: FloatArray, denominator: FloatArray, weights: FloatArray, confidence: float) -> Intervals:
    """Percentile bootstrap of ``sum(numerator) / sum(denominator)`` over clusters, for F ratios at once.

    Args:
        numerator: (clusters, F), each between 0 and ``denominator``.
        denominator: (clusters, F).
        weights: (replicates, clusters), of ``resampling_weights``; no replicates gives no intervals.
        confidence: coverage aimed at.

    Returns:
        Bounds; replicates that draw no denominator for a ratio are left out of its percentiles. Where the ratio is 0
        or 1 the far bound is the exact one-sided binomial one over clusters, ``1 - (1 - confidence) ** (1 /
        clusters)`` and its mirror image.
    """
    width = numerator.shape[1]
    clusters = (denominator > 0).sum(axis=0)
    low, high = np.full(width, np.nan), np.full(width, np.nan)
    kind = [NONE] * width
    total, whole = numerator.sum(axis=0), denominator.sum(axis=0)
    reach = 1.0 - (1.0 - confidence) ** (1.0 / np.maximum(clusters, 1))
    for place in range(width):
        if not len(weights) or whole[place] <= 0:
            continue
        if total[place] <= 0:
            low[place], high[place], kind[place] = 0.0, reach[place], ONE_SIDED
        elif np.isclose(total[place], whole[place], rtol=1e-12, atol=0.0):
            low[place], high[place], kind[place] = 1.0 - reach[place], 1.0, ONE_SIDED
        else:
            kind[place] = BOOTSTRAP
    drawn = np.array([name == BOOTSTRAP for name in kind], dtype=np.bool_)
    if drawn.any():
        low[drawn], high[drawn] = _quantiles(numerator[:, drawn], denominator[:, drawn], weights, confidence)
    return Intervals(low, high, clusters.astype(np.int64), tuple(kind))


def _quantiles(
    numerator: FloatArray, denominator: FloatArray, weights: FloatArray, confidence: float
) -> tuple[FloatArray, FloatArray]:
    top, bottom = weights @ numerator, weights @ denominator
    ratios = np.where(bottom > 0, top / np.where(bottom > 0, bottom, 1.0), np.nan)
    tail = (1.0 - confidence) / 2.0
    low, high = np.quantile(ratios, [tail, 1.0 - tail], axis=0)
    gaps = np.isnan(ratios).any(axis=0)
    if gaps.any():
        low[gaps], high[gaps] = np.nanquantile(ratios[:, gaps], [tail, 1.0 - tail], axis=0)
    return low, high
