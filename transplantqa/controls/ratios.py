"""Design-weighted ratios over questions, with seeded bootstrap intervals."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from transplantqa.analysis.intervals import percentile, resampling_weights
from transplantqa.analysis.measures import FloatArray


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


def ratio(parts: Iterable[Part], how: Resampling) -> Ratio:
    """Estimate a ratio, resampling questions; with no events the upper bound is the exact one-sided one.

    Args:
        parts: what items add; ``n`` counts those with a denominator.
        how: the bootstrap.
    """
    given = list(parts)
    questions = sorted({part.question_id for part in given})
    top, bottom = _sums(given, questions)
    n = sum(part.denominator > 0 for part in given)
    if bottom.sum() <= 0:
        return Ratio(None, None, None, n, 0)
    weights = resampling_weights(len(questions), how.replicates, how.seed)
    found = percentile(top[:, None], bottom[:, None], weights, how.confidence)
    low, high = (None if np.isnan(bound[0]) else float(bound[0]) for bound in (found.low, found.high))
    return Ratio(float(top.sum() / bottom.sum()), low, high, n, int(found.clusters[0]))


def remaining(parts: Iterable[Part], removed: Iterable[Part], how: Resampling) -> Ratio:
    """Estimate a ratio times what is left of it, ``parts * (1 - removed)``; every resample estimates both.

    Where nothing or everything is removed, resampling says nothing of the share, and the bounds are products of both
    ratios' bounds. ``n`` and ``clusters`` are of what was looked at to see what is removed.

    Args:
        parts: of the ratio.
        removed: of the share of it that is taken away.
        how: the bootstrap.
    """
    given, taken = list(parts), list(removed)
    whole, share = ratio(given, how), ratio(taken, how)
    if whole.value is None or share.value is None:
        return Ratio(None, None, None, share.n, 0)
    value = whole.value * (1.0 - share.value)
    low, high = None, None
    if 0.0 < share.value < 1.0:
        low, high = _joint(given, taken, how)
    elif whole.low is not None and whole.high is not None and share.low is not None and share.high is not None:
        low, high = whole.low * (1.0 - share.high), whole.high * (1.0 - share.low)
    return Ratio(value, low, high, share.n, share.clusters)


def _joint(parts: Sequence[Part], removed: Sequence[Part], how: Resampling) -> tuple[float | None, float | None]:
    questions = sorted({part.question_id for part in (*parts, *removed)})
    weights = resampling_weights(len(questions), how.replicates, how.seed)
    tops, bottoms = zip(*(_sums(side, questions) for side in (parts, removed)), strict=True)
    drawn = [(weights @ top, weights @ bottom) for top, bottom in zip(tops, bottoms, strict=True)]
    known = np.logical_and(*(bottom > 0 for _, bottom in drawn))
    if not known.any():
        return None, None
    whole, share = (top[known] / bottom[known] for top, bottom in drawn)
    tail = (1.0 - how.confidence) / 2.0
    low, high = np.quantile(whole * (1.0 - share), [tail, 1.0 - tail])
    return float(low), float(high)


def _sums(parts: Iterable[Part], questions: Sequence[str]) -> tuple[FloatArray, FloatArray]:
    """Add up numerators and denominators by question: (questions,) each."""
    place = {name: number for number, name in enumerate(questions)}
    top, bottom = np.zeros(len(questions)), np.zeros(len(questions))
    for part in parts:
        top[place[part.question_id]] += part.numerator
        bottom[place[part.question_id]] += part.denominator
    return top, bottom


def flat(name: str, found: Ratio) -> dict[str, float]:
    """Return a ratio as flat figures: the value, ``_n``, ``_lo`` and ``_hi``, as far as there are any."""
    parts = {"": found.value, "_n": found.n, "_lo": found.low, "_hi": found.high}
    return {f"{name}{suffix}": float(part) for suffix, part in parts.items() if part is not None}
