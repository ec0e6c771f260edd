"""Design-weighted ratios over questions, with seeded bootstrap intervals."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from transplantqa.analysis.intervals import percentile, resampling_weights


@dataclass(frozen=True, slots=True)
class Resampling:
    """How intervals are made: percentile bootstrap over questions."""

    replicates: int
    seed: int
    confidence: float


@dataclass(frozen=True, slots=True)
class Ratio:
    """A ratio of weighted sums. ``n`` counts what was looked at; ``value`` and bounds are null where undefined."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    clusters: int


@dataclass(frozen=True, slots=True)
class Part:
    """What one item adds to a ratio, and the question it is of."""

    question_id: str
    numerator: float
    denominator: float


def ratio(parts: Iterable[Part], how: Resampling, n: int | None = None) -> Ratio:
    """Estimate a ratio, resampling questions; with no events the upper bound is the exact one-sided one.

    Args:
        parts: what items add.
        how: the bootstrap.
        n: what was looked at; the number of parts with a denominator by default.
    """
    tops: dict[str, float] = defaultdict(float)
    bottoms: dict[str, float] = defaultdict(float)
    looked_at = 0
    for part in parts:
        tops[part.question_id] += part.numerator
        bottoms[part.question_id] += part.denominator
        looked_at += part.denominator > 0
    questions = sorted(bottoms)
    top, bottom = (np.array([[sums[name]] for name in questions]).reshape(-1, 1) for sums in (tops, bottoms))
    count = looked_at if n is None else n
    if bottom.sum() <= 0:
        return Ratio(None, None, None, count, 0)
    weights = resampling_weights(len(questions), how.replicates, how.seed)
    found = percentile(top, bottom, weights, how.confidence)
    low, high = (None if np.isnan(bound[0]) else float(bound[0]) for bound in (found.low, found.high))
    return Ratio(float(top.sum() / bottom.sum()), low, high, count, int(found.clusters[0]))


def flat(name: str, found: Ratio) -> dict[str, float]:
    """Return a ratio as flat figures: the value, ``_n``, ``_lo`` and ``_hi``, as far as there are any."""
    parts = {"": found.value, "_n": found.n, "_lo": found.low, "_hi": found.high}
    return {f"{name}{suffix}": float(part) for suffix, part in parts.items() if part is not None}
