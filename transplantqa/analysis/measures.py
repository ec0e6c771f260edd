"""Each measure as what a question adds to its numerator and its denominator; formulas are in ``docs/measures.md``.

A measure is the ratio of the two sums over questions. A pooled rate adds counts; a mean over questions adds the
question's rate and 1; so one bootstrap over questions serves all of them.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from transplantqa.analysis.counts import CELL_STATES, PAIR_STATES, SIGNIFICANCES, CellState, IntArray, PairState
from transplantqa.records import Label

FloatArray = NDArray[np.float64]
Counts = NDArray[Any]
Terms = tuple[FloatArray, FloatArray]

ANSWERED = (CellState.ANSWERED,)
SILENT = (CellState.ABSTAINED, CellState.EMPTY_RETRIEVAL)
DIVERGENT = tuple(state for state in PairState if state.name.startswith("DIVERGENT"))
CONTRADICTORY = tuple(state for state in PairState if state.name.startswith("CONTRADICTORY"))
CONFLICT = DIVERGENT + CONTRADICTORY
UNRATED = (PairState.DIVERGENT_UNRATED, PairState.CONTRADICTORY_UNRATED)
RATED_HIGH = (PairState.DIVERGENT_HIGH, PairState.CONTRADICTORY_HIGH)
AGREEMENT = (PairState.CONSISTENT, PairState.COMPLEMENTARY)
VISIBLE = AGREEMENT + CONFLICT
ONE_SILENT = (PairState.ONE_SILENT, PairState.JUDGED_ONE_SILENT)
JUDGED_ABSENT = (PairState.JUDGED_ONE_SILENT, PairState.JUDGED_BOTH_SILENT, PairState.JUDGED_ABSENT)
ABSENT = (PairState.ONE_SILENT, PairState.BOTH_SILENT, *JUDGED_ABSENT)
DECIDED = ABSENT + VISIBLE
WITH_AN_ANSWER = ONE_SILENT + VISIBLE
"""Decided pairs in which a side is known to answer: what a source-dependence index is over."""
STATES_OF_LABEL: Mapping[Label, tuple[PairState, ...]] = {
    Label.ABSENT: ABSENT,
    Label.CONSISTENT: (PairState.CONSISTENT,),
    Label.COMPLEMENTARY: (PairState.COMPLEMENTARY,),
    Label.DIVERGENT: DIVERGENT,
    Label.CONTRADICTORY: CONTRADICTORY,
}
"""Decided states by the label they count as, silence of a cell as ABSENT; in the order of ``Label``."""


@dataclass(frozen=True)
class Measure:
    """A named ratio of sums over questions.

    ``terms`` takes counts of states (any leading shape, states last) and returns numerator and denominator of that
    leading shape. ``low`` and ``high`` are the same with each failure resolved, or left out, as makes the
    measure least or greatest; so the measure lies between them.
    """

    name: str
    unit: Literal["cells", "pairs"]
    terms: Callable[[Counts], Terms]
    low: Callable[[Counts], Terms] | None = None
    high: Callable[[Counts], Terms] | None = None


def weights_of(states: Iterable[int], size: int) -> FloatArray:
    """Return 1 at each state and 0 elsewhere."""
    weights = np.zeros(size)
    weights[list(states)] = 1.0
    return weights


def group_of_state(groups: Iterable[Iterable[int]]) -> IntArray:
    """Return for each pair state the position of the last group it is in; -1 where it is in none."""
    table = np.full(PAIR_STATES, -1, dtype=np.int64)
    for place, states in enumerate(groups):
        table[list(states)] = place
    return table


def pooled(numerator: Iterable[int], denominator: Iterable[int], size: int = PAIR_STATES) -> Callable[[Counts], Terms]:
    """Return terms that add the counts of ``numerator`` states over those of ``denominator`` states."""
    return weighted(weights_of(numerator, size), weights_of(denominator, size))


def weighted(numerator: FloatArray, denominator: FloatArray) -> Callable[[Counts], Terms]:
    """Return terms that add state counts by weight."""

    def terms(counts: Counts) -> Terms:
        return counts @ numerator, counts @ denominator

    return terms


def question_mean(rate: Callable[[Counts], Terms]) -> Callable[[Counts], Terms]:
    """Return terms whose ratio is the mean of ``rate`` over questions that have it."""

    def terms(counts: Counts) -> Terms:
        numerator, denominator = rate(counts)
        defined = denominator > 0
        return np.where(defined, numerator / np.where(defined, denominator, 1.0), 0.0), defined.astype(np.float64)

    return terms


def any_of(event: Iterable[int], eligible: Iterable[int]) -> Callable[[Counts], Terms]:
    """Return terms whose ratio is the share of questions with an eligible pair that have an event."""
    events, eligibles = weights_of(event, PAIR_STATES), weights_of(eligible, PAIR_STATES)

    def terms(counts: Counts) -> Terms:
        return (counts @ events > 0).astype(np.float64), (counts @ eligibles > 0).astype(np.float64)

    return terms


def rarefied(pairs: int) -> Callable[[Counts], Terms]:
    """Return terms of the chance that ``pairs`` visible pairs drawn from a question hold a conflict.

    ``1 - C(V - X, m) / C(V, m)`` by its product form, over questions with at least ``m`` visible pairs.
    """
    visible_weights, conflict_weights = weights_of(VISIBLE, PAIR_STATES), weights_of(CONFLICT, PAIR_STATES)

    def terms(counts: Counts) -> Terms:
        visible, conflict = counts @ visible_weights, counts @ conflict_weights
        enough = visible >= pairs
        none = np.ones_like(visible)
        for drawn in range(pairs):
            left = np.where(enough, visible - drawn, 1.0)
            none = none * np.clip(visible - conflict - drawn, 0.0, None) / left
        return np.where(enough, 1.0 - none, 0.0), enough.astype(np.float64)

    return terms


def cell_measures() -> tuple[Measure, ...]:
    """Return the measures over cells."""
    asked = tuple(CellState)
    return (
        Measure(
            "absence_rate",
            "cells",
            pooled(SILENT, ANSWERED + SILENT, CELL_STATES),
            low=pooled(SILENT, asked, CELL_STATES),
            high=pooled((*SILENT, CellState.FAILED), asked, CELL_STATES),
        ),
        Measure("empty_retrieval_rate", "cells", pooled((CellState.EMPTY_RETRIEVAL,), ANSWERED + SILENT, CELL_STATES)),
        Measure("answer_failure_rate", "cells", pooled((CellState.FAILED,), asked, CELL_STATES)),
    )


def pair_measures(rarefaction_pairs: int, severity_weights: Mapping[str, float]) -> tuple[Measure, ...]:
    """Return the measures over pairs that are given for every stratum."""
    unsure, unsure_absent = PairState.UNDECIDED, PairState.UNDECIDED_ABSENT
    could_be_visible = (*VISIBLE, unsure)
    in_design = tuple(PairState)
    conflict_if_unsure = (*CONFLICT, unsure)
    rate, rate_low = pooled(CONFLICT, VISIBLE), pooled(CONFLICT, could_be_visible)
    rate_high = pooled(conflict_if_unsure, could_be_visible)
    dependence = ONE_SILENT + CONFLICT
    return (
        Measure(
            "pair_absence_rate",
            "pairs",
            pooled(ABSENT, DECIDED),
            low=pooled(ABSENT, (*DECIDED, unsure)),
            high=pooled((*ABSENT, unsure_absent, unsure), in_design),
        ),
        Measure("divergence_rate", "pairs", rate, low=rate_low, high=rate_high),
        Measure(
            "divergence_rate_question_mean",
            "pairs",
            question_mean(rate),
            low=question_mean(rate_low),
            high=question_mean(rate_high),
        ),
        Measure(
            "any_divergence_rate",
            "pairs",
            any_of(CONFLICT, DECIDED),
            low=any_of(CONFLICT, in_design),
            high=any_of(conflict_if_unsure, (*DECIDED, unsure)),
        ),
        Measure("any_divergence_rarefied", "pairs", rarefied(rarefaction_pairs)),
        Measure(
            "source_dependence_index",
            "pairs",
            pooled(dependence, WITH_AN_ANSWER),
            low=pooled(dependence, (*WITH_AN_ANSWER, unsure)),
            high=pooled((*dependence, unsure, unsure_absent), (*WITH_AN_ANSWER, unsure, unsure_absent)),
        ),
        Measure("source_dependence_silence", "pairs", pooled(ONE_SILENT, WITH_AN_ANSWER)),
        Measure("source_dependence_conflict", "pairs", pooled(CONFLICT, WITH_AN_ANSWER)),
        Measure("severity_weighted_divergence", "pairs", severity(severity_weights)),
        Measure("severity_high_share", "pairs", high_share()),
    )


def severity(weights: Mapping[str, float]) -> Callable[[Counts], Terms]:
    """Return terms of conflicts weighted by significance over visible pairs; unrated conflicts are in neither."""
    numerator = np.zeros(PAIR_STATES)
    for unrated in UNRATED:
        for offset, name in enumerate(SIGNIFICANCES, start=1):
            numerator[unrated + offset] = weights[name]
    return weighted(numerator, weights_of(set(VISIBLE) - set(UNRATED), PAIR_STATES))


def high_share() -> Callable[[Counts], Terms]:
    """Return terms of conflicts rated high over rated conflicts."""
    return pooled(RATED_HIGH, set(CONFLICT) - set(UNRATED))


def label_measures() -> tuple[Measure, ...]:
    """Return label shares over decided pairs, visible pairs, and pairs of two answers."""
    over = {"label": DECIDED, "label_visible": VISIBLE, "label_judged": JUDGED_ABSENT + VISIBLE}
    return tuple(
        Measure(f"{prefix}/{label}", "pairs", pooled(set(states) & set(denominator), denominator))
        for prefix, denominator in over.items()
        for label, states in STATES_OF_LABEL.items()
        if set(states) & set(denominator)
    )
