"""Intervals for claims about institutions in general: institutions are resampled too."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from transplantqa.analysis.counts import CELL_STATES, PAIR_STATES, Cells, CellState, IntArray, Pairs
from transplantqa.analysis.facets import Attributes, Facet
from transplantqa.analysis.intervals import resampling_weights
from transplantqa.analysis.measures import (
    ABSENT,
    CONFLICT,
    DECIDED,
    ONE_SILENT,
    SILENT,
    VISIBLE,
    WITH_AN_ANSWER,
    FloatArray,
    weights_of,
)
from transplantqa.analysis.settings import Analysis

POOLED: Mapping[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "pair_absence_rate": (ABSENT, DECIDED),
    "divergence_rate": (CONFLICT, VISIBLE),
    "source_dependence_index": (ONE_SILENT + CONFLICT, WITH_AN_ANSWER),
}
"""Pooled pair rates: numerator and denominator states."""


@dataclass(frozen=True)
class _Weights:
    question: FloatArray
    institution: FloatArray


def institution_intervals(
    cells: Cells, headline: Pairs, attributes: Attributes, by_institution: Facet, settings: Analysis
) -> dict[str, float | int]:
    """Return ``<measure>_institutions_lo`` and ``_hi``.

    Pooled rates: questions and institutions are resampled independently (the pigeonhole bootstrap of Owen 2007); a pair
    weighs the product of its institutions' weights and its question's, and copies of one institution are not compared.
    Any-divergence is a maximum, which resampling with repeats biases down: the jackknife over institutions instead.
    Undefined with fewer than three institutions.

    Args:
        cells: the cells.
        headline: pairs of the headline scope.
        attributes: of the documents.
        by_institution: counts of the headline pairs of (questions, institutions, states).
        settings: replicates, seed, confidence.
    """
    size = len(attributes.institutions)
    if size < 3 or not settings.bootstrap_replicates:
        return {}
    weights = _Weights(
        resampling_weights(len(cells.question_ids), settings.bootstrap_replicates, settings.seed),
        resampling_weights(size, settings.bootstrap_replicates, settings.seed + 1),
    )
    found = _absence(cells, attributes.institution, weights, settings.confidence)
    meetings = _meetings(headline, attributes.institution, size)
    for name, states in POOLED.items():
        top, bottom = (_resampled(headline, meetings, weights_of(side, PAIR_STATES), weights) for side in states)
        found |= _bounds(name, top, bottom, settings.confidence)
    return found | _jackknife(headline, by_institution, settings.confidence)


def _absence(cells: Cells, institution: IntArray, weights: _Weights, confidence: float) -> dict[str, float | int]:
    shape = (weights.question.shape[1], weights.institution.shape[1])
    flat = cells.question.astype(np.int64) * shape[1] + institution[cells.document]
    sums = []
    for states in (SILENT, (*SILENT, CellState.ANSWERED)):
        counts = np.bincount(flat, weights_of(states, CELL_STATES)[cells.state], shape[0] * shape[1]).reshape(shape)
        sums.append(((weights.question @ counts) * weights.institution).sum(axis=1))
    return _bounds("absence_rate", sums[0], sums[1], confidence)


def _meetings(pairs: Pairs, institution: IntArray, size: int) -> IntArray:
    """Number the two institutions of each pair: a position in the upper triangle, row by row."""
    first, second = institution[pairs.a], institution[pairs.b]
    low, high = np.minimum(first, second), np.maximum(first, second)
    place: IntArray = low * (2 * size - low - 1) // 2 + (high - low - 1)
    return place


def _resampled(pairs: Pairs, meetings: IntArray, term: FloatArray, weights: _Weights) -> FloatArray:
    """Sum ``term`` over pairs, each by its question's and both its institutions' weights: one sum a replicate."""
    questions, size = weights.question.shape[1], weights.institution.shape[1]
    first, second = np.triu_indices(size, 1)
    counts = np.bincount(
        pairs.question.astype(np.int64) * len(first) + meetings, term[pairs.state], questions * len(first)
    )
    product = weights.institution[:, first] * weights.institution[:, second]
    total: FloatArray = ((weights.question @ counts.reshape(questions, len(first))) * product).sum(axis=1)
    return total


def _bounds(name: str, top: FloatArray, bottom: FloatArray, confidence: float) -> dict[str, float | int]:
    defined = bottom > 0
    if not defined.any() or not (top[defined] > 0).any():
        return {}
    tail = (1.0 - confidence) / 2.0
    low, high = np.quantile(top[defined] / bottom[defined], [tail, 1.0 - tail])
    return {f"{name}_institutions_lo": float(low), f"{name}_institutions_hi": float(high)}


def _jackknife(headline: Pairs, by_institution: Facet, confidence: float) -> dict[str, float | int]:
    """Return normal bounds of any-divergence from leaving out one institution at a time."""
    questions, size, _ = by_institution.counts.shape
    whole = np.bincount(headline.question * PAIR_STATES + headline.state, minlength=questions * PAIR_STATES)
    left = whole.reshape(questions, 1, PAIR_STATES) - by_institution.counts
    conflict, decided = (left @ weights_of(states, PAIR_STATES) > 0 for states in (CONFLICT, DECIDED))
    eligible = decided.sum(axis=0)
    if (eligible == 0).any():
        return {}
    rates = conflict.sum(axis=0) / eligible
    error = float(np.sqrt((size - 1) / size * ((rates - rates.mean()) ** 2).sum()))
    if error == 0.0:
        return {}
    everything = whole.reshape(questions, PAIR_STATES)
    decided_questions = (everything @ weights_of(DECIDED, PAIR_STATES) > 0).sum()
    estimate = float((everything @ weights_of(CONFLICT, PAIR_STATES) > 0).sum() / decided_questions)
    reach = NormalDist().inv_cdf(0.5 + confidence / 2.0) * error
    name = "any_divergence_rate_institutions"
    return {f"{name}_lo": max(0.0, estimate - reach), f"{name}_hi": min(1.0, estimate + reach)}
