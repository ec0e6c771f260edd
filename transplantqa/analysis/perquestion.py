"""Tables of counts and rates by question, by document, and by pair of documents or institutions."""

from typing import Any

import numpy as np
import pyarrow as pa

from transplantqa.analysis.counts import PAIR_STATES, Cells, CellState, IntArray, Pairs, PairState
from transplantqa.analysis.facets import Facet
from transplantqa.analysis.measures import (
    ABSENT,
    AGREEMENT,
    CONFLICT,
    CONTRADICTORY,
    DECIDED,
    DIVERGENT,
    ONE_SILENT,
    RATED_HIGH,
    SILENT,
    UNRATED,
    VISIBLE,
    WITH_AN_ANSWER,
    FloatArray,
)

Columns = dict[str, Any]


def cell_columns(counts: IntArray) -> Columns:
    """Return named counts and the absence rate for (rows, cell states)."""
    silent = counts[:, list(SILENT)].sum(axis=1)
    answered = counts[:, CellState.ANSWERED]
    return {
        "answered": pa.array(answered),
        "silent": pa.array(silent),
        "empty_retrieval": pa.array(counts[:, CellState.EMPTY_RETRIEVAL]),
        "failed": pa.array(counts[:, CellState.FAILED]),
        "absence_rate": ratio(silent, answered + silent),
    }


def pair_columns(counts: IntArray) -> Columns:
    """Return named counts and rates for (rows, pair states)."""

    def of(states: tuple[PairState, ...]) -> IntArray:
        total: IntArray = counts[:, list(states)].sum(axis=1)
        return total

    conflict, visible, with_answer = of(CONFLICT), of(VISIBLE), of(WITH_AN_ANSWER)
    one_silent = of(ONE_SILENT)
    return {
        "pairs": pa.array(counts.sum(axis=1)),
        "decided": pa.array(of(DECIDED)),
        "undecided": pa.array(of((PairState.UNDECIDED, PairState.UNDECIDED_ABSENT))),
        "absent": pa.array(of(ABSENT)),
        "one_silent": pa.array(one_silent),
        "visible": pa.array(visible),
        "consistent": pa.array(of((PairState.CONSISTENT,))),
        "complementary": pa.array(of((PairState.COMPLEMENTARY,))),
        "divergent": pa.array(of(DIVERGENT)),
        "contradictory": pa.array(of(CONTRADICTORY)),
        "conflicts": pa.array(conflict),
        "conflicts_high": pa.array(of(RATED_HIGH)),
        "conflicts_unrated": pa.array(of(UNRATED)),
        "divergence_rate": ratio(conflict, visible),
        "broad_agreement": ratio(of(AGREEMENT), visible),
        "source_dependence_index": ratio(one_silent + conflict, with_answer),
        "source_dependence_silence": ratio(one_silent, with_answer),
        "source_dependence_conflict": ratio(conflict, with_answer),
    }


def ratio(numerator: IntArray | FloatArray, denominator: IntArray | FloatArray) -> pa.Array:
    """Return element-wise ratios, null where the denominator is zero."""
    undefined = np.asarray(denominator) == 0
    return pa.array(numerator / np.where(undefined, 1, denominator), pa.float64(), mask=undefined)


def question_table(questions: pa.Table, cells: Cells, by_cell: Facet, by_pair: Facet) -> pa.Table:
    """Return one row a question, those whose answer depends most on the source first.

    Ordered by source-dependence index, then conflicts, both descending, undefined last, then id.
    """
    texts = dict(zip(questions["question_id"].to_pylist(), questions["text"].to_pylist(), strict=True))
    columns: Columns = {
        "question_id": pa.array(cells.question_ids, pa.string()),
        "text": pa.array([texts[question] for question in cells.question_ids], pa.string()),
        **cell_columns(by_cell.counts[:, 0]),
        **pair_columns(by_pair.counts[:, 0]),
    }
    order = [("source_dependence_index", "descending"), ("conflicts", "descending"), ("question_id", "ascending")]
    return pa.table(columns).sort_by(order)


def document_table(documents: pa.Table, cells: Cells, by_cell: list[Facet], by_pair: list[Facet]) -> pa.Table:
    """Return one row a document, unreadable ones included with their verdict and no counts."""
    cell_counts = next(facet for facet in by_cell if facet.name == "document").counts.sum(axis=0)
    pair_counts = next(facet for facet in by_pair if facet.name == "document").counts.sum(axis=0)
    counted = pa.table(
        {
            "document_id": pa.array(cells.document_ids, pa.string()),
            **cell_columns(cell_counts),
            **pair_columns(pair_counts),
        }
    )
    described = documents.select(["document_id", "institution", "group", "phase", "verdict"])
    return described.join(counted, keys="document_id").sort_by("document_id")


def matrix_table(pairs: Pairs, members: tuple[str, ...], of: IntArray) -> pa.Table:
    """Return one row an unordered pair of members that some pair of documents joins, with its counts and rates."""
    first, second = of[pairs.a], of[pairs.b]
    low, high = np.minimum(first, second), np.maximum(first, second)
    size = len(members)
    flat = np.bincount(
        (low.astype(np.int64) * size + high) * PAIR_STATES + pairs.state, minlength=size * size * PAIR_STATES
    )
    counts = flat.reshape(size * size, PAIR_STATES)
    met = np.flatnonzero(counts.sum(axis=1))
    names = np.array(members, dtype=object)
    sides = {
        "a": pa.array(names[met // max(size, 1)], pa.string()),
        "b": pa.array(names[met % max(size, 1)], pa.string()),
    }
    return pa.table({**sides, **pair_columns(counts[met])})
