"""Several retrievers on the same gold: each one's figures, and its differences from the first, question by question."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from transplantqa.analysis.intervals import percentile, resampling_weights
from transplantqa.retrieval.evaluation import PARTS, SEPARATION, RetrievalCell, measure_retrieval

Array = NDArray[np.float64]
NOT_SHARES = frozenset({"evidence_tokens"})
"""Measures that aren't between 0 and 1."""


@dataclass(frozen=True, slots=True)
class RetrievalFigure:
    """One measure of one retriever.

    Attributes:
        retriever: its name.
        measure: see ``evaluation.PARTS``.
        value: null over nothing.
        n: cells (or pairs of cells) it is over.
        low: of a percentile bootstrap over questions; null where resampling says nothing.
        high: likewise.
        difference: from the first retriever, over cells that the measure is over for both; null for the first.
        difference_n: how many these are.
        difference_low: of the paired bootstrap: both retrievers on the same resampled questions.
        difference_high: likewise.
    """

    retriever: str
    measure: str
    value: float | None
    n: int
    low: float | None = None
    high: float | None = None
    difference: float | None = None
    difference_n: int | None = None
    difference_low: float | None = None
    difference_high: float | None = None


@dataclass(frozen=True)
class Bootstrap:
    """How often each replicate draws each question, (replicates, questions), and the coverage aimed at."""

    questions: Mapping[str, int]
    weights: Array
    confidence: float

    @classmethod
    def over(cls, questions: Sequence[str], replicates: int, seed: int, confidence: float) -> "Bootstrap":
        """Return the draws for these questions; they don't depend on the order given."""
        places = {name: place for place, name in enumerate(sorted(set(questions)))}
        return cls(places, resampling_weights(len(places), replicates, seed), confidence)

    def bounds(self, replicates: Array) -> tuple[float | None, float | None]:
        """Return the percentile interval; none where no replicate has a value or all have the same."""
        known = replicates[~np.isnan(replicates)]
        if not len(known) or known.min() == known.max():
            return None, None
        tail = (1.0 - self.confidence) / 2.0
        low, high = np.quantile(known, [tail, 1.0 - tail])
        return float(low), float(high)


def compare_retrievers(cells: Mapping[str, Sequence[RetrievalCell]], bootstrap: Bootstrap) -> list[RetrievalFigure]:
    """Return every measure of every retriever, in the order given; differences are from the first.

    Args:
        cells: retriever's name to its cells.
        bootstrap: draws over all their questions.
    """
    first = next(iter(cells), None)
    figures = []
    for name, own in cells.items():
        values = measure_retrieval(own)
        for measure, found in values.items():
            low, high = _interval(measure, own, bootstrap)
            figure = RetrievalFigure(name, measure, found.value, found.n, low, high)
            figures.append(figure if name == first else _from_first(figure, cells[str(first)], own, bootstrap))
    return figures


def _interval(measure: str, cells: Sequence[RetrievalCell], bootstrap: Bootstrap) -> tuple[float | None, float | None]:
    if measure == SEPARATION:
        return bootstrap.bounds(_separations(cells, bootstrap))
    numerator, denominator = _sums(measure, cells, bootstrap)
    if measure in NOT_SHARES:
        return bootstrap.bounds(_ratios(numerator, denominator, bootstrap.weights))
    found = percentile(numerator[:, None], denominator[:, None], bootstrap.weights, bootstrap.confidence)
    low, high = float(found.low[0]), float(found.high[0])
    return (None, None) if np.isnan(low) else (low, high)


def _from_first(
    figure: RetrievalFigure, before: Sequence[RetrievalCell], after: Sequence[RetrievalCell], bootstrap: Bootstrap
) -> RetrievalFigure:
    """Return a figure with its difference, over the cells that both have."""
    measure = figure.measure
    common = {cell.key for cell in before if _counts(measure, cell)} & {
        cell.key for cell in after if _counts(measure, cell)
    }
    sides = [[cell for cell in side if cell.key in common] for side in (before, after)]
    values = [measure_retrieval(side)[measure] for side in sides]
    if values[0].value is None or values[1].value is None:
        return replace(figure, difference_n=0)
    if measure == SEPARATION:
        replicates = _separations(sides[1], bootstrap) - _separations(sides[0], bootstrap)
    else:
        sums = [_sums(measure, side, bootstrap) for side in sides]
        replicates = _ratios(*sums[1], bootstrap.weights) - _ratios(*sums[0], bootstrap.weights)
    low, high = bootstrap.bounds(replicates)
    return replace(
        figure,
        difference=values[1].value - values[0].value,
        difference_n=values[1].n,
        difference_low=low,
        difference_high=high,
    )


def _counts(measure: str, cell: RetrievalCell) -> bool:
    if measure == SEPARATION:
        return cell.evidence.top_score is not None
    return PARTS[measure](cell) is not None


def _sums(measure: str, cells: Sequence[RetrievalCell], bootstrap: Bootstrap) -> tuple[Array, Array]:
    """Return a measure's numerators and denominators by question."""
    numerator, denominator = np.zeros(len(bootstrap.questions)), np.zeros(len(bootstrap.questions))
    for cell in cells:
        added = PARTS[measure](cell)
        if added is not None:
            place = bootstrap.questions[cell.key[0]]
            numerator[place] += added[0]
            denominator[place] += added[1]
    return numerator, denominator


def _ratios(numerator: Array, denominator: Array, weights: Array) -> Array:
    """Return a replicate's ratio each; NaN where it draws no denominator."""
    top, bottom = weights @ numerator, weights @ denominator
    ratios: Array = np.where(bottom > 0, top / np.where(bottom > 0, bottom, 1.0), np.nan)
    return ratios


def _separations(cells: Sequence[RetrievalCell], bootstrap: Bootstrap) -> Array:
    """Return ``silence_auc`` of each replicate: a pair counts as often as both its questions are drawn."""
    scored = [cell for cell in cells if cell.evidence.top_score is not None]
    count = len(bootstrap.questions)
    place = np.array([bootstrap.questions[cell.key[0]] for cell in scored], dtype=np.intp)
    score = np.array([cell.evidence.top_score for cell in scored], dtype=np.float64)
    silent = np.array([cell.silent for cell in scored], dtype=np.bool_)
    addressed_count = np.bincount(place[~silent], minlength=count).astype(np.float64)
    silent_count = np.bincount(place[silent], minlength=count).astype(np.float64)
    wins = np.zeros((count, count))
    for question in np.flatnonzero(addressed_count):
        difference = np.subtract.outer(score[~silent & (place == question)], score[silent])
        right = ((difference > 0) + 0.5 * (difference == 0)).sum(axis=0)
        wins[question] = np.bincount(place[silent], weights=right, minlength=count)
    weights = bootstrap.weights
    pairs = (weights @ addressed_count) * (weights @ silent_count)
    right_pairs = np.einsum("rq,rq->r", weights @ wins, weights)
    found: Array = np.where(pairs > 0, right_pairs / np.where(pairs > 0, pairs, 1.0), np.nan)
    return found
