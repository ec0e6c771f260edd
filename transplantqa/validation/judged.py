"""What a run says of sampled pairs, and whether its answers are still those that people read."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from transplantqa.records import Outcome
from transplantqa.store.hashing import text_sha256
from transplantqa.store.run_folder import RunFolder
from transplantqa.validation.items import answer_texts

PairKey = tuple[str, str, str]
SIDES = (("document_a", "answer_a_sha256"), ("document_b", "answer_b_sha256"))


@dataclass(frozen=True, slots=True)
class Judged:
    """A run's comparison of one pair; ``shown_first`` is a, b, both, or None where no judge was asked."""

    label: str | None
    significance: str | None
    decided_by: str | None
    shown_first: str | None


def key_of(row: Mapping[str, Any]) -> PairKey:
    """Return the key of a pair's row."""
    return (row["question_id"], row["document_a"], row["document_b"])


def judged_pairs(run: RunFolder, pairs: Sequence[Mapping[str, Any]]) -> dict[PairKey, Judged]:
    """Return what a run says of pairs, those whose two answers it has word for word.

    Args:
        run: the run whose judge is looked at.
        pairs: rows with the key and both answers' hashes.
    """
    wanted = {(row["question_id"], row[side]) for row in pairs for side, _ in SIDES}
    hashes = {cell: text_sha256(text) for cell, text in answer_texts(run, wanted).items()}
    same = {
        key_of(row)
        for row in pairs
        if all(hashes.get((row["question_id"], row[side])) == row[sha256] for side, sha256 in SIDES)
    }
    first = _shown_first(run, same)
    found = {}
    for row in rows_of(run, "comparisons", same, ["outcome", "label", "significance", "decided_by"]):
        key = key_of(row)
        label = row["label"] if row["outcome"] == Outcome.OK else None
        found[key] = Judged(label, row["significance"], row["decided_by"], first.get(key))
    return found


def rows_of(run: RunFolder, table: str, keys: AbstractSet[PairKey], columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the key and columns of the rows about these pairs; a table may have millions of others."""
    questions = pa.array(sorted({key[0] for key in keys}), pa.string())
    for batch in run.batches(table, columns=["question_id", "document_a", "document_b", *columns]):
        near = batch.filter(pc.is_in(batch["question_id"], value_set=questions))
        yield from (row for row in near.to_pylist() if key_of(row) in keys)


def _shown_first(run: RunFolder, keys: AbstractSet[PairKey]) -> dict[PairKey, str]:
    found: dict[PairKey, str] = {}
    if run.has_table("judgements"):
        for row in rows_of(run, "judgements", keys, ["shown_first"]):
            side = row["shown_first"]
            found[key_of(row)] = side if found.get(key_of(row), side) == side else "both"
    return found
