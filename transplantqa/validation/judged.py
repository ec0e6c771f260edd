"""What a run says of sampled pairs, and whether its answers are still those that people read."""

from collections.abc import Mapping, Sequence
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
    columns = ["question_id", "document_a", "document_b", "outcome", "label", "significance", "decided_by"]
    questions = pa.array(sorted({key[0] for key in same}), pa.string())
    for batch in run.batches("comparisons", columns=columns):
        for row in batch.filter(pc.is_in(batch["question_id"], value_set=questions)).to_pylist():
            key = key_of(row)
            if key in same:
                label = row["label"] if row["outcome"] == Outcome.OK else None
                found[key] = Judged(label, row["significance"], row["decided_by"], first.get(key))
    return found


def _shown_first(run: RunFolder, keys: set[PairKey]) -> dict[PairKey, str]:
    found: dict[PairKey, str] = {}
    if not run.has_table("judgements"):
        return found
    for batch in run.batches("judgements", columns=["question_id", "document_a", "document_b", "shown_first"]):
        for row in batch.to_pylist():
            key = key_of(row)
            if key in keys:
                found[key] = row["shown_first"] if found.get(key, row["shown_first"]) == row["shown_first"] else "both"
    return found
