"""Each member of a stratum against the rest: difference, effect size, p, and Holm's correction for their number."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from transplantqa.analysis.effects import cohen_h, holm, normal_p
from transplantqa.analysis.facets import Facet
from transplantqa.analysis.measures import CONFLICT, VISIBLE, FloatArray, Measure, cell_measures, pooled
from transplantqa.analysis.settings import Analysis

FACETS = ("group", "topic", "institution", "document_group", "phase")
MIN_CLUSTERS = 5
"""Questions on either side below which nothing is tested. Ours."""
SCHEMA = pa.schema(
    [
        pa.field("facet", pa.string(), nullable=False),
        pa.field("member", pa.string(), nullable=False),
        pa.field("measure", pa.string(), nullable=False),
        pa.field("value", pa.float64(), nullable=False),
        pa.field("rest", pa.float64(), nullable=False),
        pa.field("difference", pa.float64(), nullable=False),
        pa.field("low", pa.float64(), nullable=False),
        pa.field("high", pa.float64(), nullable=False),
        pa.field("cohen_h", pa.float64(), nullable=False),
        pa.field("p", pa.float64(), nullable=False),
        pa.field("p_holm", pa.float64(), nullable=False),
    ]
)
"""``p_holm`` is corrected for the members of one facet and measure; decide by it."""


def strata_table(
    by_cell: Sequence[Facet], by_pair: Sequence[Facet], weights: FloatArray, settings: Analysis
) -> pa.Table:
    """Compare each member of each facet with everything that isn't of it, questions resampled; see ``SCHEMA``.

    Args:
        by_cell: counts of cells; the first is the whole, and of the others those in ``FACETS`` are compared.
        by_pair: likewise of pairs.
        weights: of ``resampling_weights``; without replicates the table is empty.
        settings: confidence.
    """
    absence = cell_measures()[0]
    divergence = Measure("divergence_rate", "pairs", pooled(CONFLICT, VISIBLE))
    rows: list[dict[str, Any]] = []
    for facets, measure in ((by_cell, absence), (by_pair, divergence)):
        for facet in facets[1:]:
            if facet.name in FACETS and len(weights):
                rows += _compared(facets[0], facet, measure, weights, settings.confidence)
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def _compared(
    whole: Facet, facet: Facet, measure: Measure, weights: FloatArray, confidence: float
) -> list[dict[str, Any]]:
    top, bottom = measure.terms(facet.counts)
    all_top, all_bottom = measure.terms(whole.counts)
    rest_top, rest_bottom = all_top - top, all_bottom - bottom
    tail = (1.0 - confidence) / 2.0
    rows: list[dict[str, Any]] = []
    for place, member in enumerate(facet.members):
        sides = ((top[:, place], bottom[:, place]), (rest_top[:, place], rest_bottom[:, place]))
        if min(int((below > 0).sum()) for _, below in sides) < MIN_CLUSTERS:
            continue
        value, rest = (float(above.sum() / below.sum()) for above, below in sides)
        drawn = np.subtract(*(_ratios(weights @ above, weights @ below) for above, below in sides))
        p = normal_p(value - rest, drawn)
        if p is None:
            continue
        low, high = np.nanquantile(drawn, [tail, 1.0 - tail])
        found = {"facet": facet.name, "member": member, "measure": measure.name, "value": value, "rest": rest}
        found |= {"difference": value - rest, "low": float(low), "high": float(high)}
        rows.append({**found, "cohen_h": cohen_h(value, rest), "p": p})
    adjusted = holm([row["p"] for row in rows])
    return [{**row, "p_holm": p} for row, p in zip(rows, adjusted, strict=True)]


def _ratios(top: FloatArray, bottom: FloatArray) -> FloatArray:
    ratios: FloatArray = np.where(bottom > 0, top / np.where(bottom > 0, bottom, 1.0), np.nan)
    return ratios
