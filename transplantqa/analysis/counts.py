"""From answers and comparisons to the state of every cell and every pair, and to counts of states.

Ids become positions in sorted id lists, so that nothing depends on the order of rows.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from transplantqa.analysis.tables import AuditTables
from transplantqa.errors import InputError
from transplantqa.records import FAILED_OUTCOMES, Label, Outcome

IntArray = NDArray[np.integer[Any]]
"""Any width: millions of pairs are kept as 32-bit positions and 8-bit states."""
Mask = NDArray[np.bool_]
DEFAULT_VARIANT = "default"
UNREADABLE = "reject"


class CellState(IntEnum):
    """How a question asked of a document ended."""

    ANSWERED = 0
    ABSTAINED = 1
    EMPTY_RETRIEVAL = 2
    FAILED = 3


class PairState(IntEnum):
    """What is known of two documents on one question.

    The first two are silence of a cell; the ``JUDGED_`` three are the ABSENT of a judge, or of a pre-screen that reads
    answers, on two answered cells, the last of them without a side. ``UNDECIDED_ABSENT`` has a failed side and a silent
    one: it can't be visible. ``UNDECIDED`` has a failed side, or two answers and no judgement.
    """

    ONE_SILENT = 0
    BOTH_SILENT = 1
    JUDGED_ONE_SILENT = 2
    JUDGED_BOTH_SILENT = 3
    JUDGED_ABSENT = 4
    CONSISTENT = 5
    COMPLEMENTARY = 6
    DIVERGENT_UNRATED = 7
    DIVERGENT_LOW = 8
    DIVERGENT_MEDIUM = 9
    DIVERGENT_HIGH = 10
    CONTRADICTORY_UNRATED = 11
    CONTRADICTORY_LOW = 12
    CONTRADICTORY_MEDIUM = 13
    CONTRADICTORY_HIGH = 14
    UNDECIDED_ABSENT = 15
    UNDECIDED = 16


SIGNIFICANCES = ("low", "medium", "high")
CELL_STATES = len(CellState)
PAIR_STATES = len(PairState)
_LABELS = tuple(str(label) for label in Label)
_SIDES = ("a", "b", "both")
_CELL_OF_OUTCOME = {
    str(Outcome.OK): CellState.ANSWERED,
    str(Outcome.ABSTAINED): CellState.ABSTAINED,
    str(Outcome.EMPTY_RETRIEVAL): CellState.EMPTY_RETRIEVAL,
} | {str(outcome): CellState.FAILED for outcome in FAILED_OUTCOMES}


@dataclass(frozen=True)
class Cells:
    """Every cell of readable documents, ordered by question then document; positions index the id tuples."""

    question_ids: tuple[str, ...]
    document_ids: tuple[str, ...]
    question: IntArray
    document: IntArray
    state: IntArray

    @property
    def starts(self) -> IntArray:
        """First cell of each question, and the number of cells at the end."""
        return np.searchsorted(self.question, np.arange(len(self.question_ids) + 1)).astype(np.int64)

    @property
    def keys(self) -> IntArray:
        """A number for each cell, ascending; the same cell's in every system over these questions and documents."""
        return self.question.astype(np.int64) * len(self.document_ids) + self.document

    def pair_keys(self, question: IntArray, a: IntArray, b: IntArray) -> IntArray:
        """Return such a number for each pair of cells of a question, documents ``a`` < ``b`` by position."""
        size = len(self.document_ids)
        return (question.astype(np.int64) * size + a) * size + b


@dataclass(frozen=True)
class Pairs:
    """Every in-design pair: ``a`` and ``b`` are document positions, a < b, ordered by question, a, b."""

    question: IntArray
    a: IntArray
    b: IntArray
    state: IntArray


@dataclass(frozen=True)
class JudgeCalls:
    """Comparisons of two answered cells that the judge was called for, by outcome.

    ``excluded`` counts those whose two orders were both read and, disagreeing, left the pair without a label.
    """

    outcomes: dict[str, int]
    excluded: int

    def total(self) -> int:
        """Return the number of calls."""
        return sum(self.outcomes.values())


def positions(column: pa.ChunkedArray, ids: tuple[str, ...]) -> IntArray:
    """Return where each value stands in ``ids``; -1 where it doesn't or is null."""
    found = pc.index_in(column.cast(pa.string()), value_set=pa.array(ids, pa.string()), skip_nulls=True)
    result: IntArray = np.asarray(pc.fill_null(found, -1), dtype=np.int32)
    return result


def read_cells(tables: AuditTables) -> Cells:
    """Place every default-variant answer of a readable document.

    Raises:
        InputError: an answer names a question or document that isn't there, or a cell has two answers.
    """
    question_ids = tuple(sorted(tables.questions["question_id"].to_pylist()))
    all_documents = tuple(tables.documents["document_id"].to_pylist())
    readable = tables.documents.filter(pc.not_equal(tables.documents["verdict"], UNREADABLE))
    document_ids = tuple(sorted(readable["document_id"].to_pylist()))
    answers = tables.answers.filter(pc.equal(tables.answers["variant"], DEFAULT_VARIANT))
    question = positions(answers["question_id"], question_ids)
    document = positions(answers["document_id"], document_ids)
    _require(question >= 0, answers, "answers", "question_id", "are not among the questions")
    known = positions(answers["document_id"], all_documents) >= 0
    _require(known, answers, "answers", "document_id", "are not among the documents")
    state = _cell_states(answers["outcome"])
    kept = document >= 0
    key = question[kept].astype(np.int64) * max(len(document_ids), 1) + document[kept]
    order = np.argsort(key, kind="stable")
    if np.any(np.diff(key[order]) == 0):
        raise InputError("answers: a question has two current answers from one document. Pass current rows only.")
    return Cells(question_ids, document_ids, question[kept][order], document[kept][order], state[kept][order])


def _cell_states(outcomes: pa.ChunkedArray) -> IntArray:
    names = tuple(_CELL_OF_OUTCOME)
    code = positions(outcomes, names)
    if np.any(code < 0):
        raise InputError(f"answers: an outcome is none of {', '.join(sorted(names))}.")
    lookup = np.array([_CELL_OF_OUTCOME[name] for name in names], dtype=np.uint8)
    return lookup[code]


def _require(held: Mask, table: pa.Table, name: str, column: str, problem: str) -> None:
    if bool(held.all()):
        return
    wrong = sorted(set(table[column].filter(pa.array(~held)).to_pylist()))
    shown = ", ".join(repr(value) for value in wrong[:5])
    raise InputError(f"{name}: {len(wrong)} values of {column} {problem}: {shown}. Pass tables of one run.")


def read_pairs(cells: Cells, comparisons: pa.Table) -> tuple[Pairs, JudgeCalls]:
    """Enumerate every question's document pairs and give each its state.

    A cell's silence or failure decides before a comparison does, so a missing or needless comparison row changes
    nothing; only a pre-screen that also finds the other, answered side silent makes silence of both. Two answered cells
    without a comparison that ended ``ok`` are undecided.

    Raises:
        InputError: a comparison names a cell that has no answer, or a pair is compared twice.
    """
    pairs, left, right = _enumerate(cells)
    state = _state_from_cells(cells.state[left], cells.state[right])
    row, place = _place(cells, comparisons)
    both_silent = _equals(comparisons["silent_side"], "both")[row] & (state[place] == PairState.ONE_SILENT)
    state[place[both_silent]] = PairState.BOTH_SILENT
    both_answered = (cells.state[left[place]] == CellState.ANSWERED) & (cells.state[right[place]] == CellState.ANSWERED)
    row, place = row[both_answered], place[both_answered]
    used = comparisons.select(["outcome", "label", "silent_side", "decided_by", "significance", "consistent"])
    compared = used.take(pa.array(row)) if len(row) < used.num_rows else used
    state[place] = _state_from_comparisons(compared)
    return Pairs(pairs.question, pairs.a, pairs.b, state), _judge_calls(compared)


def _enumerate(cells: Cells) -> tuple[Pairs, IntArray, IntArray]:
    starts = cells.starts
    left_parts: list[IntArray] = []
    right_parts: list[IntArray] = []
    triangles: dict[int, tuple[IntArray, IntArray]] = {}
    for first, after in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        size = after - first
        if size not in triangles:
            upper = np.triu_indices(size, 1)
            triangles[size] = (upper[0].astype(np.int32), upper[1].astype(np.int32))
        left_parts.append(triangles[size][0] + np.int32(first))
        right_parts.append(triangles[size][1] + np.int32(first))
    nothing = np.empty(0, np.int32)
    left = np.concatenate([nothing, *left_parts])
    right = np.concatenate([nothing, *right_parts])
    undecided = np.full(len(left), PairState.UNDECIDED, dtype=np.uint8)
    return Pairs(cells.question[left], cells.document[left], cells.document[right], undecided), left, right


def _state_from_cells(left: IntArray, right: IntArray) -> IntArray:
    table = np.full((CELL_STATES, CELL_STATES), PairState.UNDECIDED, dtype=np.uint8)
    silent = [CellState.ABSTAINED, CellState.EMPTY_RETRIEVAL]
    for one in silent:
        table[one, CellState.ANSWERED] = table[CellState.ANSWERED, one] = PairState.ONE_SILENT
        table[one, CellState.FAILED] = table[CellState.FAILED, one] = PairState.UNDECIDED_ABSENT
        for other in silent:
            table[one, other] = PairState.BOTH_SILENT
    return table[left, right]


def _place(cells: Cells, comparisons: pa.Table) -> tuple[IntArray, IntArray]:
    """Return rows of ``comparisons`` about readable documents and the position of each one's pair."""
    question = positions(comparisons["question_id"], cells.question_ids)
    first = positions(comparisons["document_a"], cells.document_ids)
    second = positions(comparisons["document_b"], cells.document_ids)
    row = np.flatnonzero((first >= 0) & (second >= 0))
    if len(row) < len(first):
        question, first, second = question[row], first[row], second[row]
    where = np.full((len(cells.question_ids) + 1, len(cells.document_ids)), -1, dtype=np.int32)
    where[cells.question, cells.document] = np.arange(len(cells.state))
    left, right = where[question, np.minimum(first, second)], where[question, np.maximum(first, second)]
    if not bool(np.all((left >= 0) & (right > left))):
        raise InputError("comparisons: a row names a cell that has no answer. Pass tables of one run.")
    starts = cells.starts
    sizes = np.diff(starts)
    before = np.concatenate([[0], np.cumsum(sizes * (sizes - 1) // 2)])
    i, size = left - starts[question], sizes[question]
    place = before[question] + i * (2 * size - i - 1) // 2 + (right - left - 1)
    seen = np.zeros(int(before[-1]), np.bool_)
    seen[place] = True
    if int(seen.sum()) < len(place):
        raise InputError("comparisons: a pair is compared twice. Pass derived comparisons, one row a pair.")
    return row, place


def find(keys: IntArray, wanted: IntArray) -> tuple[IntArray, Mask]:
    """Return where each wanted key stands in sorted ``keys``, and whether it does."""
    if not len(keys):
        return np.zeros(len(wanted), np.int64), np.zeros(len(wanted), np.bool_)
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1).astype(np.int64)
    return at, keys[at] == wanted


def _state_from_comparisons(compared: pa.Table) -> IntArray:
    label = positions(compared["label"], _LABELS)
    side = positions(compared["silent_side"], _SIDES)
    significance = positions(compared["significance"], SIGNIFICANCES)
    state = _label_lookup()[label + 1, side + 1, significance + 1]
    state[~_equals(compared["outcome"], str(Outcome.OK))] = PairState.UNDECIDED
    return state


def _label_lookup() -> IntArray:
    """Return states indexed by label, silent side and significance, each shifted by one for "none"."""
    table = np.full((len(_LABELS) + 1, len(_SIDES) + 1, len(SIGNIFICANCES) + 1), PairState.UNDECIDED, dtype=np.uint8)
    at = {name: place + 1 for place, name in enumerate(_LABELS)}
    one, both = PairState.JUDGED_ONE_SILENT, PairState.JUDGED_BOTH_SILENT
    table[at["ABSENT"]] = np.array([PairState.JUDGED_ABSENT, one, one, both])[:, None]
    table[at["CONSISTENT"]] = PairState.CONSISTENT
    table[at["COMPLEMENTARY"]] = PairState.COMPLEMENTARY
    ratings = np.arange(len(SIGNIFICANCES) + 1)
    table[at["DIVERGENT"]] = PairState.DIVERGENT_UNRATED + ratings
    table[at["CONTRADICTORY"]] = PairState.CONTRADICTORY_UNRATED + ratings
    return table


def _equals(column: pa.ChunkedArray, value: str) -> Mask:
    return np.asarray(pc.fill_null(pc.equal(column, value), fill_value=False), dtype=np.bool_)


def _judge_calls(compared: pa.Table) -> JudgeCalls:
    called = ~(_equals(compared["decided_by"], "prescreen") | _equals(compared["decided_by"], "identical"))
    counted: list[dict[str, Any]] = pc.value_counts(compared["outcome"].filter(pa.array(called))).to_pylist()
    excluded = called & ~_equals(compared["outcome"], str(Outcome.OK)) & np.asarray(compared["consistent"].is_valid())
    by_outcome = {row["values"]: row["counts"] for row in sorted(counted, key=lambda row: row["values"])}
    return JudgeCalls(by_outcome, int(excluded.sum()))


def count(cluster: IntArray, member: IntArray, state: IntArray, shape: tuple[int, int, int]) -> IntArray:
    """Count states into ``shape`` (clusters, members, states); negative members are left out."""
    wide = (shape[0], shape[1] + 1, shape[2])
    flat = np.multiply(cluster, wide[1], dtype=np.int64)
    flat += member
    flat += 1
    flat *= wide[2]
    flat += state
    return np.bincount(flat, minlength=wide[0] * wide[1] * wide[2]).reshape(wide)[:, 1:]
