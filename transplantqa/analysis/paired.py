"""From the tables of two systems to their contrast: differences, decomposition, changed cells and questions."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from transplantqa.analysis.contrast import (
    TERMS,
    Change,
    PairedStates,
    any_divergence_change,
    cell_changes,
    growth_alone,
    pair_up,
    pooled_change,
    question_flips,
    require_same_design,
)
from transplantqa.analysis.counts import PAIR_STATES, Cells, CellState, Mask, Pairs, count, find, read_cells, read_pairs
from transplantqa.analysis.deltas import POINTS, Delta, Resampling, deltas, to_table, verdict_of
from transplantqa.analysis.facets import SCOPES, Attributes, read_attributes, scope_of, select
from transplantqa.analysis.intervals import resampling_weights
from transplantqa.analysis.measures import CONFLICT, SILENT, VISIBLE, Terms, pair_measures, weights_of
from transplantqa.analysis.newly_answered import NewlyAnswered, newly_answered
from transplantqa.analysis.settings import Analysis
from transplantqa.analysis.tables import AuditTables

Scope = Literal["cross_institution", "cross_phase", "same_institution", "all"]
PAIR_MEASURES = (
    "divergence_rate",
    "any_divergence_rate",
    "any_divergence_rarefied",
    "source_dependence_index",
    "pair_absence_rate",
)
RATES = {"any_divergence_rate": any_divergence_change, "divergence_rate": pooled_change}
"""The rates that are decomposed."""


@dataclass(frozen=True)
class ContrastFindings:
    """What a contrast found.

    Attributes:
        deltas: every difference, see ``transplantqa.analysis.deltas``; the first are the whole's.
        changes: rate to its change and terms.
        facts: counts and figures as JSON-safe data.
        tables: ``deltas``, ``terms``, ``newly_answered`` and ``questions``.
    """

    deltas: tuple[Delta, ...]
    changes: Mapping[str, Change]
    facts: Mapping[str, Any]
    tables: Mapping[str, pa.Table]


def contrast(
    baseline: AuditTables, candidate: AuditTables, settings: Analysis, scope: Scope, margin: float
) -> ContrastFindings:
    """Contrast two systems on the cells and pairs decided in both.

    Args:
        baseline: tables of the system before.
        candidate: tables of the system after; the same questions and documents.
        settings: intervals, and the number of pairs that any-divergence is rarefied to.
        scope: which pairs.
        margin: largest difference, in points, that counts as none.

    Raises:
        InputError: the two are over different questions or documents.
    """
    cells = (read_cells(baseline), read_cells(candidate))
    require_same_design(*cells)
    pairs = (
        read_pairs(cells[0], baseline.comparisons)[0],
        read_pairs(cells[1], candidate.comparisons)[0],
    )
    attributes = read_attributes(candidate, cells[1])
    masks = tuple(_in_scope(side, attributes, settings, scope) for side in pairs)
    paired = pair_up(cells[0], pairs, (masks[0], masks[1]))
    weights = resampling_weights(paired.questions, settings.bootstrap_replicates, settings.seed)
    how = Resampling(weights, settings.confidence, margin, settings.exploratory_below_clusters)
    rows = deltas(_terms(cells, paired, settings), _strata(attributes, paired.questions), how)
    changes = {name: change(paired, weights, settings.confidence) for name, change in RATES.items()}
    gained = newly_answered(cells[0], cells[1], select(pairs[1], masks[1]))
    return ContrastFindings(
        deltas=tuple(rows),
        changes=changes,
        facts=_facts(cells, paired, gained),
        tables={
            "deltas": to_table(rows),
            "terms": _term_table(changes, margin),
            "newly_answered": gained.cells,
            "questions": _question_table(cells[1], paired),
        },
    )


def _in_scope(pairs: Pairs, attributes: Attributes, settings: Analysis, scope: Scope) -> Mask:
    if scope == "all":
        return np.ones(len(pairs.state), np.bool_)
    mask: Mask = scope_of(pairs, attributes, settings.spanning_phases) == SCOPES.index(scope)
    return mask


def _strata(attributes: Attributes, questions: int) -> dict[tuple[str, str], Mask]:
    whole = {("all", ""): np.ones(questions, np.bool_)}
    groups = {("group", name): mask for name, mask in attributes.question_group.items()}
    topics = {("topic", name): mask for name, mask in attributes.topic.items()}
    return {**whole, **groups, **topics}


def _terms(cells: tuple[Cells, Cells], paired: PairedStates, settings: Analysis) -> dict[str, tuple[Terms, Terms]]:
    found = {"absence_rate": _absence(cells)}
    sides = [_by_question(paired, state) for state in (paired.before, paired.after)]
    measures = {
        measure.name: measure for measure in pair_measures(settings.rarefaction_pairs, settings.severity_weights)
    }
    for name in PAIR_MEASURES:
        before, after = (measures[name].terms(counts) for counts in sides)
        if name == "any_divergence_rarefied":  # questions with enough visible pairs in both, so that it is one set
            both = (before[1] > 0) & (after[1] > 0)
            before, after = (before[0] * both, before[1] * both), (after[0] * both, after[1] * both)
        found[name] = (before, after)
    return found


def _by_question(paired: PairedStates, state: Any) -> Any:
    shape = (paired.questions, 1, PAIR_STATES)
    return count(paired.question, np.zeros_like(paired.question), state, shape)[:, 0]


def _absence(cells: tuple[Cells, Cells]) -> tuple[Terms, Terms]:
    """Return silent cells over cells that failed in neither system, by question."""
    before, after = cells
    at, there = find(after.keys, before.keys)
    first, question = before.state[there], before.question[there]
    second = after.state[at[there]]
    decided = (first != CellState.FAILED) & (second != CellState.FAILED)
    questions = len(before.question_ids)

    def summed(mask: Mask) -> Any:
        return np.bincount(question[mask], minlength=questions).astype(np.float64)

    whole = summed(decided)
    silent = [summed(decided & np.isin(state, SILENT)) for state in (first, second)]
    return (silent[0], whole), (silent[1], whole)


def _facts(cells: tuple[Cells, Cells], paired: PairedStates, gained: NewlyAnswered) -> dict[str, Any]:
    growth, rest = growth_alone(paired)
    gained_questions, lost_questions, p_value = question_flips(paired)
    matrix = cell_changes(*cells).tolist()
    names = [state.name.lower() for state in CellState]
    visible = weights_of(VISIBLE, PAIR_STATES) > 0
    return {
        "questions": paired.questions,
        "pairs_decided_in_both": len(paired.question),
        "pairs_left_out": paired.excluded,
        "visible_pairs": {
            "baseline": int(visible[paired.before].sum()),
            "candidate": int(visible[paired.after].sum()),
        },
        "cell_changes": {first: dict(zip(names, row, strict=True)) for first, row in zip(names, matrix, strict=True)},
        "newly_answered": {
            "cells": gained.cells.num_rows,
            "pairs": gained.pairs,
            "questions_with_conflict": gained.questions_with_conflict,
            "questions_by_it_alone": gained.questions_by_it_alone,
        },
        "growth_alone_points": POINTS * growth,
        "beyond_growth_points": POINTS * rest,
        "questions_gained_conflict": gained_questions,
        "questions_lost_conflict": lost_questions,
        "mcnemar_p": p_value,
    }


def _term_table(changes: Mapping[str, Change], margin: float) -> pa.Table:
    rows = []
    for rate, change in changes.items():
        values = (change.after - change.before, *change.terms)
        for place, (term, value) in enumerate(zip(("change", *TERMS), values, strict=True)):
            low, high = _bounds(change.low[place], change.high[place])
            rows.append(
                {
                    "rate": rate,
                    "term": term,
                    "points": POINTS * value,
                    "low": low,
                    "high": high,
                    "verdict": verdict_of(low, high, margin),
                }
            )
    return pa.Table.from_pylist(rows, schema=TERM_SCHEMA)


def _bounds(low: float, high: float) -> tuple[float | None, float | None]:
    """Return bounds in points; none where nothing was drawn, or where every draw is the same: that says nothing."""
    return (None, None) if np.isnan(low) or low == high else (float(POINTS * low), float(POINTS * high))


TERM_SCHEMA = pa.schema(
    [
        pa.field("rate", pa.string(), nullable=False),
        pa.field("term", pa.string(), nullable=False),
        pa.field("points", pa.float64(), nullable=False),
        pa.field("low", pa.float64()),
        pa.field("high", pa.float64()),
        pa.field("verdict", pa.string(), nullable=False),
    ]
)
"""Of each rate the change, then the terms that sum to it."""


def _question_table(cells: Cells, paired: PairedStates) -> pa.Table:
    """Return a row a question: visible pairs and conflicts in both systems, over pairs decided in both."""
    columns: dict[str, Any] = {"question_id": pa.array(cells.question_ids, pa.string())}
    for side, state in (("baseline", paired.before), ("candidate", paired.after)):
        for name, states in (("visible", VISIBLE), ("conflicts", CONFLICT)):
            mask = weights_of(states, PAIR_STATES)[state] > 0
            columns[f"{side}_{name}"] = pa.array(paired.sums(mask).astype(np.int64))
    return pa.table(columns)
