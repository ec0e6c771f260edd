"""The population a sample is drawn from: every labelled pair of a run, with what the draw balances."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from transplantqa.errors import InputError
from transplantqa.records import Outcome
from transplantqa.store.run_folder import RunFolder
from transplantqa.validation.ratings import Codes

PairKey = tuple[str, str, str]
_COLUMNS = ["question_id", "document_a", "document_b", "outcome", "label", "decided_by"]


@dataclass(frozen=True)
class Frame:
    """Labelled pairs in order of their key, as numbers: a run may have millions.

    Args:
        questions, documents: ids, sorted.
        question, a, b: (pairs,), places in them.
        strata: names, what decided and the label, sorted.
        stratum: (pairs,), places in them.
        length: (pairs,), characters of both answers.
        institutions: (pairs,), a number a pair of institutions.
        unlabelled: pairs of the run without a label: they failed and can't be drawn.
    """

    questions: tuple[str, ...]
    documents: tuple[str, ...]
    question: Codes
    a: Codes
    b: Codes
    strata: tuple[str, ...]
    stratum: Codes
    length: Codes
    institutions: Codes
    unlabelled: int

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Stratum to its number of pairs."""
        counted = np.bincount(self.stratum, minlength=len(self.strata))
        return {name: int(count) for name, count in zip(self.strata, counted, strict=True)}

    def key(self, row: int) -> PairKey:
        """Return the ids of a pair's question and documents."""
        return (self.questions[self.question[row]], self.documents[self.a[row]], self.documents[self.b[row]])


def frame(run: RunFolder) -> Frame:
    """Read the labelled pairs of a run.

    Raises:
        InputError: there are none, or the run isn't finished.
    """
    questions = tuple(sorted(run.table("questions", ["question_id"])["question_id"].to_pylist()))
    rows = run.table("documents", ["document_id", "institution"]).to_pylist()
    houses = {row["document_id"]: row["institution"] for row in rows}
    documents = tuple(sorted(houses))
    pairs, strata, unlabelled = _pairs(run, questions, documents)
    if not len(pairs):
        raise InputError(
            f"{run.path}: none of its {unlabelled} pairs has a label, so there is nothing to validate.\n"
            "Look at the run's failures, or take another run."
        )
    question, a, b, stratum = pairs[np.lexsort((pairs[:, 2], pairs[:, 1], pairs[:, 0]))].T
    lengths = _lengths(run, questions, documents)
    house = np.unique([houses[name] for name in documents], return_inverse=True)[1]
    low, high = np.minimum(house[a], house[b]), np.maximum(house[a], house[b])
    institutions = np.unique(low * len(documents) + high, return_inverse=True)[1]
    length = lengths[question, a] + lengths[question, b]
    return Frame(questions, documents, question, a, b, strata, stratum, length, institutions, unlabelled)


def _pairs(run: RunFolder, questions: Sequence[str], documents: Sequence[str]) -> tuple[Codes, tuple[str, ...], int]:
    """Return question, documents and stratum of each labelled pair, (pairs, 4), the strata, and pairs without label."""
    seen: dict[str, int] = {}
    found = [np.zeros((0, 4), dtype=np.int64)]
    unlabelled = 0
    for batch in run.batches("comparisons", columns=_COLUMNS):
        kept = batch.filter(pc.and_(pc.equal(batch["outcome"], str(Outcome.OK)), pc.is_valid(batch["label"])))
        unlabelled += len(batch) - len(kept)
        names = pc.binary_join_element_wise(
            kept["decided_by"].cast(pa.string()), kept["label"].cast(pa.string()), "/"
        ).dictionary_encode()
        places = np.array([seen.setdefault(name, len(seen)) for name in names.dictionary.to_pylist()], dtype=np.int64)
        codes = [
            _places(kept[name], known) for name, known in zip(_COLUMNS, (questions, documents, documents), strict=False)
        ]
        found.append(np.stack([*codes, places[np.asarray(names.indices)]], axis=1))
    pairs = np.concatenate(found)
    strata = tuple(sorted(seen))
    pairs[:, 3] = np.array([strata.index(name) for name in seen], dtype=np.int64)[pairs[:, 3]]
    return pairs, strata, unlabelled


def _lengths(run: RunFolder, questions: Sequence[str], documents: Sequence[str]) -> Codes:
    """Return the characters of each cell's answer, (questions, documents); 0 where there is none."""
    lengths = np.zeros((len(questions), len(documents)), dtype=np.int64)
    for batch in run.batches("answers", columns=["question_id", "document_id", "variant", "text"]):
        kept = batch.filter(pc.equal(batch["variant"], "default"))
        cells = _places(kept["question_id"], questions), _places(kept["document_id"], documents)
        lengths[cells] = np.asarray(pc.utf8_length(kept["text"]))
    return lengths


def _places(column: pa.Array, known: Sequence[str]) -> Codes:
    return np.asarray(pc.index_in(column.cast(pa.string()), value_set=pa.array(known, pa.string())), dtype=np.int64)
