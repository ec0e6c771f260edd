"""Differences of measures between two systems on the same questions, with paired intervals."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pyarrow as pa

from transplantqa.analysis.contrast import unchanged
from transplantqa.analysis.counts import Mask
from transplantqa.analysis.effects import cohen_h, holm, normal_p
from transplantqa.analysis.measures import FloatArray, Terms

Verdict = Literal["rose", "fell", "unchanged", "undecided"]
POINTS = 100.0
SCHEMA = pa.schema(
    [
        pa.field("facet", pa.string(), nullable=False),
        pa.field("member", pa.string(), nullable=False),
        pa.field("measure", pa.string(), nullable=False),
        pa.field("baseline", pa.float64(), nullable=False),
        pa.field("candidate", pa.float64(), nullable=False),
        pa.field("baseline_denominator", pa.float64(), nullable=False),
        pa.field("candidate_denominator", pa.float64(), nullable=False),
        pa.field("delta_points", pa.float64(), nullable=False),
        pa.field("low", pa.float64()),
        pa.field("high", pa.float64()),
        pa.field("cohen_h", pa.float64(), nullable=False),
        pa.field("p", pa.float64()),
        pa.field("p_holm", pa.float64()),
        pa.field("clusters", pa.int64(), nullable=False),
        pa.field("exploratory", pa.bool_(), nullable=False),
        pa.field("verdict", pa.string(), nullable=False),
    ]
)
"""``low`` and ``high`` are of ``delta_points``, which is candidate less baseline in percentage points.

``p`` is of no difference, by the bootstrap's standard error; ``p_holm`` is corrected for the members of one facet and
measure, and a stratum's ``verdict`` is "rose" or "fell" only where it is at most one less the confidence.
"""


@dataclass(frozen=True)
class Resampling:
    """How differences are resampled and what is said of them.

    Attributes:
        weights: (replicates, questions), of ``resampling_weights``; the same draws for both systems.
        confidence: coverage aimed at.
        margin: largest difference, in points, that counts as none.
        exploratory_below: intervals over fewer questions are marked exploratory.
    """

    weights: FloatArray
    confidence: float
    margin: float
    exploratory_below: int


@dataclass(frozen=True)
class Delta:
    """One measure of one stratum in both systems; see ``SCHEMA``."""

    facet: str
    member: str
    measure: str
    baseline: float
    candidate: float
    baseline_denominator: float
    candidate_denominator: float
    delta_points: float
    low: float | None
    high: float | None
    cohen_h: float
    p: float | None
    p_holm: float | None
    clusters: int
    exploratory: bool
    verdict: Verdict


def deltas(
    terms: Mapping[str, tuple[Terms, Terms]], strata: Mapping[tuple[str, str], Mask], how: Resampling
) -> list[Delta]:
    """Return each measure's difference in each stratum where both systems have it.

    Args:
        terms: measure to what each question adds to numerator and denominator, before and after.
        strata: (facet, member) to the questions in it.
        how: the resampling.
    """
    rows = []
    for (facet, member), mask in strata.items():
        for measure, sides in terms.items():
            before, after = ((top * mask, bottom * mask) for top, bottom in sides)
            if before[1].sum() > 0 and after[1].sum() > 0:
                rows.append(_delta((facet, member, measure), before, after, how))
    return _corrected(rows, 1.0 - how.confidence)


def _corrected(rows: list[Delta], alpha: float) -> list[Delta]:
    """Correct the p-values of each facet and measure for their number; take back verdicts that don't survive it."""
    families: dict[tuple[str, str], list[int]] = {}
    for place, row in enumerate(rows):
        if row.p is not None:
            families.setdefault((row.facet, row.measure), []).append(place)
    found = list(rows)
    for places in families.values():
        for place, p in zip(places, holm([rows[place].p or 0.0 for place in places]), strict=True):
            taken_back = len(places) > 1 and p > alpha and rows[place].verdict in {"rose", "fell"}
            found[place] = replace(rows[place], p_holm=p, verdict="undecided" if taken_back else rows[place].verdict)
    return found


def to_table(rows: list[Delta]) -> pa.Table:
    """Return differences as a table with ``SCHEMA``."""
    return pa.Table.from_pylist([vars(row) for row in rows], schema=SCHEMA)


def verdict_of(low: float | None, high: float | None, margin: float) -> Verdict:
    """Say what an interval shows; "unchanged" only where it lies inside the margin and includes zero."""
    if low is None or high is None:
        return "undecided"
    if low > 0:
        return "rose"
    if high < 0:
        return "fell"
    return "unchanged" if unchanged(low, high, margin) else "undecided"


def _delta(name: tuple[str, str, str], before: Terms, after: Terms, how: Resampling) -> Delta:
    first, second = _rate(before), _rate(after)
    clusters = int(((before[1] > 0) | (after[1] > 0)).sum())
    low, high, p = _interval(before, after, clusters, how)
    return Delta(
        *name,
        baseline=first,
        candidate=second,
        baseline_denominator=float(before[1].sum()),
        candidate_denominator=float(after[1].sum()),
        delta_points=POINTS * (second - first),
        low=low,
        high=high,
        cohen_h=cohen_h(second, first),
        p=p,
        p_holm=None,
        clusters=clusters,
        exploratory=clusters < how.exploratory_below,
        verdict=verdict_of(low, high, how.margin),
    )


def _rate(terms: Terms) -> float:
    return float(terms[0].sum() / terms[1].sum())


def _interval(
    before: Terms, after: Terms, clusters: int, how: Resampling
) -> tuple[float | None, float | None, float | None]:
    """Return percentile bounds in points and p; where no question changed, the exact one-sided bound on either side."""
    if not len(how.weights):
        return None, None, None
    if all(np.array_equal(x, y) for x, y in zip(before, after, strict=True)):
        reach = POINTS * (1.0 - (1.0 - how.confidence) ** (1.0 / max(clusters, 1)))
        return -reach, reach, None
    drawn = POINTS * (_drawn(after, how.weights) - _drawn(before, how.weights))
    tail = (1.0 - how.confidence) / 2.0
    low, high = np.nanquantile(drawn, [tail, 1.0 - tail])
    if np.isnan(low):
        return None, None, None
    return float(low), float(high), normal_p(POINTS * (_rate(after) - _rate(before)), drawn)


def _drawn(terms: Terms, weights: FloatArray) -> FloatArray:
    top, bottom = weights @ terms[0], weights @ terms[1]
    ratios: FloatArray = np.where(bottom > 0, top / np.where(bottom > 0, bottom, 1.0), np.nan)
    return ratios
