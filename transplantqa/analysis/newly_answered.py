"""Cells that were silent in one system and are answered in another, and what the pairs they are in reveal."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from transplantqa.analysis.counts import PAIR_STATES, Cells, CellState, IntArray, Pairs, PairState, find
from transplantqa.analysis.measures import ABSENT, CONFLICT, CONTRADICTORY, DIVERGENT, SILENT, VISIBLE, Counts

REVEALED: dict[str, tuple[PairState, ...]] = {
    "still_absent": ABSENT,
    "consistent": (PairState.CONSISTENT,),
    "complementary": (PairState.COMPLEMENTARY,),
    "divergent": DIVERGENT,
    "contradictory": CONTRADICTORY,
    "undecided": (PairState.UNDECIDED, PairState.UNDECIDED_ABSENT),
}
"""What becomes of a pair with a newly answered side, by its state afterwards."""


@dataclass(frozen=True)
class NewlyAnswered:
    """The cells that gained an answer.

    Attributes:
        cells: one row a cell: ``question_id``, ``document_id``, ``before`` (its silence), and how many pairs it is in
            now, how many of them are visible, how many in conflict.
        pairs: pairs with at least one such side, each once, by what they show now.
        questions_with_conflict: questions in which such a pair is in conflict.
        questions_by_it_alone: of these, those in which no other pair is.
    """

    cells: pa.Table
    pairs: dict[str, int]
    questions_with_conflict: int
    questions_by_it_alone: int


def newly_answered(before: Cells, after: Cells, pairs: Pairs) -> NewlyAnswered:
    """Find the cells that were silent and are answered, and count what their pairs show.

    Args:
        before: cells of the system before; of the same questions and documents as ``after``.
        after: cells of the system after.
        pairs: pairs of the system after that are in scope.
    """
    chosen, was = _gained(before, after)
    new = np.zeros((len(after.question_ids), len(after.document_ids)), np.bool_)
    new[after.question[chosen], after.document[chosen]] = True
    on_a, on_b = new[pairs.question, pairs.a], new[pairs.question, pairs.b]
    touched = on_a | on_b
    counted = np.bincount(pairs.state[touched], minlength=PAIR_STATES)
    conflict = np.isin(pairs.state, CONFLICT)
    by_new, by_others = (np.unique(pairs.question[conflict & mask]) for mask in (touched, ~touched))
    return NewlyAnswered(
        cells=_cell_table(after, chosen, was, _per_cell(pairs, (on_a, on_b), new.shape)),
        pairs={name: int(counted[list(states)].sum()) for name, states in REVEALED.items()},
        questions_with_conflict=len(by_new),
        questions_by_it_alone=len(np.setdiff1d(by_new, by_others)),
    )


def _gained(before: Cells, after: Cells) -> tuple[IntArray, IntArray]:
    """Return positions in ``after`` of the cells that gained an answer, and their state before."""
    at, there = find(before.keys, after.keys)
    chosen = np.flatnonzero(there)
    was, now = before.state[at[chosen]], after.state[chosen]
    gained = np.isin(was, SILENT) & (now == CellState.ANSWERED)
    return chosen[gained], was[gained]


def _per_cell(pairs: Pairs, sides: tuple[Counts, Counts], shape: tuple[int, int]) -> Counts:
    """Return (questions, documents, 3): pairs, visible ones and conflicts of each newly answered cell."""
    kinds = (np.ones(len(pairs.state), np.bool_), np.isin(pairs.state, VISIBLE), np.isin(pairs.state, CONFLICT))
    counts = []
    for kind in kinds:
        total = np.zeros(shape[0] * shape[1], np.int64)
        for side, document in zip(sides, (pairs.a, pairs.b), strict=True):
            mask = side & kind
            flat = pairs.question[mask].astype(np.int64) * shape[1] + document[mask]
            total += np.bincount(flat, minlength=len(total))
        counts.append(total.reshape(shape))
    return np.stack(counts, axis=-1)


def _cell_table(cells: Cells, chosen: IntArray, was: IntArray, counts: Counts) -> pa.Table:
    question, document = cells.question[chosen], cells.document[chosen]
    found = counts[question, document]
    names = [CellState(state).name.lower() for state in was.tolist()]
    return pa.table(
        {
            "question_id": pa.array([cells.question_ids[place] for place in question.tolist()], pa.string()),
            "document_id": pa.array([cells.document_ids[place] for place in document.tolist()], pa.string()),
            "before": pa.array(names, pa.string()),
            "pairs": pa.array(found[:, 0]),
            "visible": pa.array(found[:, 1]),
            "conflicts": pa.array(found[:, 2]),
        }
    )
