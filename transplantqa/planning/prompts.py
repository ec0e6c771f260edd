"""The prompts of a stage still to be made, as classes of equal length."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from transplantqa.generation import Cell
from transplantqa.judging.protocols import Pair
from transplantqa.models.protocols import Request
from transplantqa.planning.evidence import Expected
from transplantqa.planning.meter import Meter
from transplantqa.records import Answer, Evidence, Outcome, Question

REFERENCE_TOKENS = 12
"""The line above a passage, ``[Heading, p. 3]``; ours."""

Tokens = NDArray[np.float64]
Sizes = tuple[Tokens, Tokens, Tokens]
"""Prompt tokens, cached tokens and number of calls, of classes of equal prompts."""


@runtime_checkable
class AsksOfCells(Protocol):
    """A generator that calls a language model."""

    def request(self, cell: Cell) -> Request:
        """Return the request for a cell."""
        ...


@runtime_checkable
class AsksOfPairs(Protocol):
    """A judge that calls a language model."""

    def request(self, pair: Pair) -> Request:
        """Return the request for a pair."""
        ...


def empty_cell_request(generator: AsksOfCells) -> Request:
    """Return the request about nothing: what every prompt has besides evidence and question."""
    evidence = Evidence("q", "d", "none", (), (), None, 0, Outcome.OK)
    return generator.request(Cell(Question("q", ""), evidence, ()))


def empty_pair_request(judge: AsksOfPairs) -> Request:
    """Return the request about nothing: what every prompt has besides question and answers."""
    a, b = (Answer("q", name, Outcome.OK, "") for name in ("a", "b"))
    return judge.request(Pair(Question("q", ""), a, b, "a"))


def of_evidence(evidence: pa.Table, fixed: int, questions: Mapping[str, float], meter: Meter) -> Sizes:
    """Return the prompts of cells whose evidence is known; those that it shows to be silent need no call.

    Args:
        evidence: rows with question_id, document_id, route, passages, tokens, outcome.
        fixed: tokens that every prompt has.
        questions: tokens of each question, by id.
        meter: scales word pieces.
    """
    rows = evidence.filter(pc.equal(evidence["outcome"], str(Outcome.OK)))
    passages = pc.list_value_length(rows["passages"]).to_numpy().astype(np.float64)
    shown = rows["tokens"].to_numpy() * meter.per_wordpiece + passages * REFERENCE_TOKENS
    asked = np.asarray([questions[name] for name in rows["question_id"].to_pylist()], dtype=np.float64)
    whole = pc.equal(rows["route"], "full_document").to_numpy(zero_copy_only=False)
    documents = rows["document_id"].to_numpy(zero_copy_only=False)
    first = np.zeros(len(rows), dtype=bool)
    first[np.unique(documents.astype(str), return_index=True)[1]] = True
    cached = np.where(whole & ~first, fixed + shown, fixed).astype(np.float64)
    return fixed + shown + asked, cached, np.ones(len(rows))


def of_documents(
    asked: Sequence[tuple[Expected, Sequence[float]]], fixed: int, meter: Meter, passage_tokens: int
) -> Sizes:
    """Return the prompts of cells without evidence: a class a document.

    Args:
        asked: for each document its expected evidence and the tokens of each question put to it.
        fixed: tokens that every prompt has.
        meter: scales word pieces.
        passage_tokens: of one passage, for the number of references.
    """
    sizes, cached, counts = [], [], []
    for expected, questions in asked:
        if not questions:
            continue
        references = np.ceil(expected.tokens / passage_tokens) * REFERENCE_TOKENS
        shown = expected.tokens * meter.per_wordpiece + references
        mean = sum(questions) / len(questions)
        others = (len(questions) - 1) / len(questions) if expected.is_whole_document else 0.0
        sizes.append(fixed + shown + mean)
        cached.append(fixed + shown * others)
        counts.append(len(questions))
    return _arrays(sizes, cached, counts)


@dataclass(frozen=True, slots=True)
class Judging:
    """What every judging has in common.

    Attributes:
        fixed: tokens that every prompt has.
        group_size: pairs judged in one call, which share the answer shown first.
    """

    fixed: int
    group_size: int = 1

    def sizes(self, asked: Tokens, first: Tokens, second: Tokens, counts: Tokens) -> Sizes:
        """Return the prompts of so many pairs.

        An engine that reuses prefixes has the question and the answer shown first cached from the judging before.
        """
        shared = self.fixed + asked + first
        return shared + second * self.group_size, shared, counts / self.group_size


def of_pairs(
    planned: pa.Table, answers: pa.Table, judging: Judging, questions: Mapping[str, float], meter: Meter
) -> Sizes:
    """Return the prompts of judgings to be made, from the lengths of the answers that they compare."""
    lengths = pc.utf8_length(answers["text"]).to_numpy() * meter.per_character
    keys = _joined(answers["question_id"], answers["document_id"])
    first, second = (
        lengths[pc.index_in(_joined(planned["question_id"], planned[side]), value_set=keys).to_numpy()]
        for side in ("document_a", "document_b")
    )
    names = pa.array(list(questions))
    asked = np.asarray(list(questions.values()))[pc.index_in(planned["question_id"], value_set=names).to_numpy()]
    return judging.sizes(asked, first, second, np.ones(len(planned)))


def of_expected_pairs(pairs: float, judging: Judging, question: float, answer: float) -> Sizes:
    """Return the prompts of judgings that can't be planned yet: one class."""
    asked, first, second, counts = (np.asarray([value]) for value in (question, answer, answer, pairs))
    return judging.sizes(asked, first, second, counts)


def together(parts: Sequence[Sizes]) -> Sizes:
    """Join classes of several kinds."""
    return tuple(np.concatenate([part[place] for part in parts]) for place in range(3))  # type: ignore[return-value]


def _arrays(*columns: Sequence[Any]) -> Sizes:
    return tuple(np.asarray(column, dtype=np.float64) for column in columns)  # type: ignore[return-value]


def _joined(*columns: pa.ChunkedArray) -> pa.ChunkedArray | pa.Array:
    joined = pc.binary_join_element_wise(*(column.cast(pa.string()) for column in columns), "\n")
    return joined.combine_chunks() if isinstance(joined, pa.ChunkedArray) else joined
