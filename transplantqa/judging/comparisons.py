"""Comparisons: what the pre-screen and the judgements, together, say of every pair."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from transplantqa.judging.protocols import DisagreementPolicy
from transplantqa.records import Label, Outcome
from transplantqa.store.tables import COMPARISONS

Rows = NDArray[np.int64]

BATCH_PAIRS = 500_000
"""Pairs turned into plain strings at a time; bounds memory, changes no result."""

_LABELS = tuple(Label)
_KEY = ("question_id", "document_a", "document_b")
_TAKEN = ("outcome", "label", "silent_side", "reasoning", "divergence_topic", "significance")
_READ = [*_KEY, "shown_first", *_TAKEN]


def derive_comparisons(
    pairs: pa.Table, judgements: pa.Table, *, disagreement: DisagreementPolicy = "a_first"
) -> pa.Table:
    """Join pairs and judgements into one table of schema ``store.tables.COMPARISONS``.

    Of a pair judged in both orders, ``consistent`` says whether the labels agree; where they do not, ``disagreement``
    decides: the order that shows a first (``a_first``), the label that stands earlier or later in ``Label``
    (``milder``, ``severer``: ABSENT before CONSISTENT), or none (``exclude``: ``parse_failed``, no label). Of a pair
    where only one order was judged or can be read, that one counts and ``consistent`` is null. Replicates after the
    first serve the noise floor and are not read.
    A pair that is to be judged and was not is left out.

    Args:
        pairs: from ``enumerate_pairs``.
        judgements: columns of ``store.tables.JUDGEMENTS``, the last attempt of each.
        disagreement: what is done when the two orders disagree.
    """
    batches = list(comparison_batches(pairs, judgements, disagreement=disagreement))
    return pa.Table.from_batches(batches, schema=COMPARISONS.schema)


def comparison_batches(
    pairs: pa.Table, judgements: pa.Table, *, disagreement: DisagreementPolicy = "a_first"
) -> Iterator[pa.RecordBatch]:
    """Yield ``derive_comparisons`` piece by piece, for writing millions of rows in little memory."""
    pairs = pairs.unify_dictionaries().combine_chunks()
    first_replicate = pc.equal(judgements["replicate"], 0)
    judgements = judgements.select(_READ).filter(first_replicate)
    by_order = _rows_by_order(pairs, judgements)
    chosen, consistent = _choose(by_order, judgements, disagreement)
    excluded = (consistent == 0) & (disagreement == "exclude")
    kept = np.flatnonzero(np.asarray(pc.is_valid(pairs["outcome"])) | (chosen >= 0))
    for start in range(0, len(kept), BATCH_PAIRS):
        rows = kept[start : start + BATCH_PAIRS]
        yield _batch(pairs.take(pa.array(rows)), judgements, chosen[rows], consistent[rows], excluded[rows])


def _rows_by_order(pairs: pa.Table, judgements: pa.Table) -> dict[str, Rows]:
    """For each order, the judgement's row for every pair, -1 where there is none."""
    found = {side: np.full(len(pairs), -1, dtype=np.int64) for side in ("a", "b")}
    if not len(judgements) or not len(pairs):
        return found
    pair_keys, judgement_keys = _keys(pairs, judgements)
    order = np.argsort(pair_keys, kind="stable")
    places = np.minimum(np.searchsorted(pair_keys, judgement_keys, sorter=order), len(pair_keys) - 1)
    pair_rows = order[places]
    known = (judgement_keys >= 0) & (pair_keys[pair_rows] == judgement_keys)
    for side, rows in found.items():
        mine = known & np.asarray(pc.equal(judgements["shown_first"], side))
        rows[pair_rows[mine]] = np.flatnonzero(mine)
    return found


def _keys(pairs: pa.Table, judgements: pa.Table) -> tuple[Rows, Rows]:
    """One integer a pair, the same in both tables; -1 for a judgement of documents or a question no pair has."""
    pair_keys = np.zeros(len(pairs), dtype=np.int64)
    judgement_keys = np.zeros(len(judgements), dtype=np.int64)
    unknown = np.zeros(len(judgements), dtype=bool)
    for name in _KEY:
        column = pairs[name].combine_chunks()
        codes = pc.index_in(judgements[name].combine_chunks(), value_set=column.dictionary)
        mine = np.asarray(pc.fill_null(codes, -1), dtype=np.int64)
        unknown |= mine < 0
        size = len(column.dictionary)
        pair_keys = pair_keys * size + np.asarray(column.indices, dtype=np.int64)
        judgement_keys = judgement_keys * size + mine
    judgement_keys[unknown] = -1
    return pair_keys, judgement_keys


def _choose(
    by_order: dict[str, Rows], judgements: pa.Table, disagreement: DisagreementPolicy
) -> tuple[Rows, NDArray[np.int8]]:
    """The judgement that speaks for each pair (-1: none), and whether its orders agree (-1: not both can be read)."""
    first, second = by_order["a"], by_order["b"]
    labels = pc.index_in(judgements["label"].combine_chunks(), value_set=pa.array([str(label) for label in _LABELS]))
    label = np.append(np.asarray(pc.fill_null(labels, -1), dtype=np.int64), -1)
    readable = np.append(np.asarray(pc.equal(judgements["outcome"], str(Outcome.OK)), dtype=bool), values=False)
    both = readable[first] & readable[second]
    only_second = readable[second] & ~readable[first]
    chosen = np.where(only_second | (first < 0), second, first)
    if disagreement in ("milder", "severer"):
        sign = 1 if disagreement == "milder" else -1
        chosen = np.where(both & (sign * label[second] < sign * label[first]), second, chosen)
    consistent = np.where(both, (label[first] == label[second]).astype(np.int8), np.int8(-1)).astype(np.int8)
    return chosen, consistent


def _batch(
    pairs: pa.Table, judgements: pa.Table, chosen: Rows, consistent: NDArray[np.int8], excluded: NDArray[np.bool_]
) -> pa.RecordBatch:
    judged = np.asarray(pc.is_null(pairs["outcome"]))
    take = pa.array(chosen, mask=~judged)
    columns = {name: pairs[name].cast(pa.string()).combine_chunks() for name in pairs.column_names}
    for name in _TAKEN:
        said = judgements[name].take(take).combine_chunks()
        if name != "outcome":
            said = pc.if_else(pa.array(excluded), None, said)
        columns[name] = pc.coalesce(columns[name], said) if name in columns else said
    withdrawn = pa.array(excluded & judged)
    columns["outcome"] = pc.if_else(withdrawn, str(Outcome.PARSE_FAILED), columns["outcome"])
    decided = pc.and_(pa.array(judged), pc.equal(columns["outcome"], str(Outcome.OK)))
    columns["decided_by"] = pc.if_else(decided, "judge", columns["decided_by"])
    columns["consistent"] = pa.array(consistent == 1, mask=(consistent < 0) | ~judged)
    return pa.record_batch([columns[field.name] for field in COMPARISONS.schema], schema=COMPARISONS.schema)
