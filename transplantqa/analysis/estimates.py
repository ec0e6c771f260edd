"""Every measure for every member of a facet, with its denominator, interval and bounds over failures."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from transplantqa.analysis.facets import Facet
from transplantqa.analysis.intervals import NONE, percentile
from transplantqa.analysis.measures import FloatArray, Measure, Terms
from transplantqa.analysis.settings import Analysis

SCHEMA = pa.schema(
    [
        pa.field("facet", pa.string(), nullable=False),
        pa.field("member", pa.string(), nullable=False),
        pa.field("measure", pa.string(), nullable=False),
        pa.field("value", pa.float64()),
        pa.field("numerator", pa.float64(), nullable=False),
        pa.field("denominator", pa.float64(), nullable=False),
        pa.field("low", pa.float64()),
        pa.field("high", pa.float64()),
        pa.field("interval", pa.string()),
        pa.field("clusters", pa.int64(), nullable=False),
        pa.field("exploratory", pa.bool_(), nullable=False),
        pa.field("best", pa.float64()),
        pa.field("worst", pa.float64()),
    ]
)
"""``value`` is null where ``denominator`` is zero; ``best`` and ``worst`` resolve failures; ``interval`` says how."""


@dataclass(frozen=True)
class Estimate:
    """One figure; see ``SCHEMA``."""

    facet: str
    member: str
    measure: str
    value: float | None
    numerator: float
    denominator: float
    low: float | None
    high: float | None
    interval: str | None
    clusters: int
    exploratory: bool
    best: float | None
    worst: float | None


def estimate(facet: Facet, measures: Sequence[Measure], weights: FloatArray, settings: Analysis) -> list[Estimate]:
    """Estimate each measure for each member of ``facet`` from its counts of states."""
    rows: list[Estimate] = []
    for measure in measures:
        numerator, denominator = measure.terms(facet.counts)
        intervals = percentile(numerator, denominator, weights, settings.confidence)
        best = _ratios(measure.low(facet.counts) if measure.low else None, len(facet.members))
        worst = _ratios(measure.high(facet.counts) if measure.high else None, len(facet.members))
        values = _ratios((numerator, denominator), len(facet.members))
        for place, member in enumerate(facet.members):
            kind = intervals.kind[place]
            clusters = int(intervals.clusters[place])
            rows.append(
                Estimate(
                    facet=facet.name,
                    member=member,
                    measure=measure.name,
                    value=values[place],
                    numerator=float(numerator[:, place].sum()),
                    denominator=float(denominator[:, place].sum()),
                    low=None if kind == NONE else float(intervals.low[place]),
                    high=None if kind == NONE else float(intervals.high[place]),
                    interval=kind or None,
                    clusters=clusters,
                    exploratory=clusters < settings.exploratory_below_clusters,
                    best=best[place],
                    worst=worst[place],
                )
            )
    return rows


def _ratios(terms: Terms | None, width: int) -> list[float | None]:
    if terms is None:
        return [None] * width
    tops, bottoms = terms[0].sum(axis=0), terms[1].sum(axis=0)
    return [float(top / bottom) if bottom > 0 else None for top, bottom in zip(tops, bottoms, strict=True)]


def to_table(rows: Iterable[Estimate]) -> pa.Table:
    """Return estimates as a table with ``SCHEMA``."""
    return pa.Table.from_pylist([vars(row) for row in rows], schema=SCHEMA)


def flat(rows: Iterable[Estimate]) -> dict[str, float | int]:
    """Return estimates as flat figures: the whole's by name, others' as ``facet/member/name``.

    Each has ``_n``; ``_lo`` and ``_hi`` with an interval; ``_best`` and ``_worst`` where failures could move it.
    Undefined figures leave only ``_n``.
    """
    metrics: dict[str, float | int] = {}
    for row in rows:
        name = row.measure if row.facet == "all" else f"{row.facet}/{row.member}/{row.measure}"
        metrics[f"{name}_n"] = _whole(row.denominator)
        parts = {"": row.value, "_lo": row.low, "_hi": row.high}
        if row.facet == "all":
            parts |= {"_best": row.best, "_worst": row.worst}
        metrics |= {f"{name}{suffix}": part for suffix, part in parts.items() if part is not None}
    return metrics


def _whole(value: float) -> float | int:
    return int(value) if np.isclose(value, round(value)) else value
