"""The audit trail: every candidate of every question, with its places, its scores and what became of it, by column."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from transplantqa.retrieval.found import Found
from transplantqa.retrieval.indexed import IndexedDocument
from transplantqa.store.tables import CANDIDATE, RANKER_SCORE

Flat = NDArray[np.intp]


class Words:
    """What became of each candidate, in words: a number by question and place among its candidates."""

    def __init__(self, found: Found) -> None:
        self._said: list[str] = []
        self._known: dict[str, int] = {}
        self.numbers = np.full(found.order.shape, self.number(""), dtype=np.intp)

    def number(self, word: str) -> int:
        """Return the number that stands for a word."""
        if word not in self._known:
            self._known[word] = len(self._said)
            self._said.append(word)
        return self._known[word]

    def say(self, rows: Flat, words: Sequence[str]) -> None:
        """Say one word of all candidates of each of these rows."""
        self.numbers[rows] = np.array([self.number(word) for word in words], dtype=np.intp)[:, None]

    def columns(self, numbers: Flat) -> tuple[pa.Array, pa.Array]:
        """Return the columns ``kept`` and ``why`` of candidates with these words."""
        kept = np.array([word.startswith("kept") for word in self._said])
        return pa.array(kept[numbers]), pa.array(self._said, pa.string()).take(pa.array(numbers))


def candidate_lists(found: Found, document: IndexedDocument, words: Words) -> pa.ListArray:
    """Return the candidates of each question, best first, as a column of the evidence table."""
    inside = np.arange(found.order.shape[1]) < found.counts[:, None]
    rows, _ = np.nonzero(inside)
    positions = found.order[inside]
    chunk_ids = pa.array([chunk.chunk_id for chunk in document.chunks], pa.string())
    kept, why = words.columns(words.numbers[inside])
    reranked = found.reranked[rows, positions]
    columns = {
        "chunk_id": chunk_ids.take(pa.array(positions)),
        "rankers": _ranker_lists(found, rows, positions),
        "fused_score": pa.array(found.fused[rows, positions]),
        "rerank_score": pa.array(reranked, mask=np.isnan(reranked)),
        "kept": kept,
        "why": why,
    }
    values = pa.StructArray.from_arrays([columns[field.name] for field in CANDIDATE], fields=list(CANDIDATE))
    return pa.ListArray.from_arrays(_offsets(found.counts), values)


def _ranker_lists(found: Found, rows: Flat, positions: Flat) -> pa.ListArray:
    """Return where each ranker that proposes a candidate put it, in the order of the rankers."""
    shape = (len(rows), len(found.placed))
    ranks, scores = np.zeros(shape, dtype=np.int32), np.zeros(shape)
    for column, placed in enumerate(found.placed):
        ranks[:, column] = placed.ranks[rows, positions]
        scores[:, column] = placed.scores[rows, positions]
    proposed = ranks > 0
    names = pa.array([placed.ranker for placed in found.placed], pa.string())
    columns = [names.take(pa.array(np.nonzero(proposed)[1])), pa.array(ranks[proposed]), pa.array(scores[proposed])]
    values = pa.StructArray.from_arrays(columns, fields=list(RANKER_SCORE))
    return pa.ListArray.from_arrays(_offsets(proposed.sum(axis=1)), values)


def _offsets(counts: Flat) -> pa.Array:
    return pa.array(np.concatenate([[0], np.cumsum(counts)]).astype(np.int32))
