"""BM25 of many questions over one document's passages at once."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transplantqa.retrieval.fusion import ABSENT, Scores

Places = NDArray[np.intp]


@dataclass(frozen=True)
class LexicalMatch:
    """How questions and passages share terms.

    ``scores`` is BM25, shape (questions, passages), ``ABSENT`` where no term is shared. ``coverage`` is the share, by
    idf within the document, of a question's distinct terms that a passage has, same shape; ``document_coverage`` the
    share that the document has anywhere, shape (questions,). A question without terms covers nothing.
    """

    scores: Scores
    coverage: NDArray[np.float64]
    document_coverage: NDArray[np.float64]


class AskedTerms:
    """The terms of questions asked together, as a sparse matrix: made once and matched with document after document.

    A question's terms stand in its own order, so that its sums don't depend on the questions beside it.

    Args:
        questions: the terms of each question; repeated terms count again.
    """

    def __init__(self, questions: Sequence[Sequence[str]]) -> None:
        self.terms = list(dict.fromkeys(term for words in questions for term in words))
        place = {term: at for at, term in enumerate(self.terms)}
        counted = [Counter(words) for words in questions]
        self._columns = np.array([place[term] for one in counted for term in one], dtype=np.intp)
        self._starts = np.cumsum([0, *map(len, counted)])
        self.counts = self._matrix(np.array([count for one in counted for count in one.values()], dtype=np.float64))

    def weighed(self, weights: NDArray[np.float64]) -> Any:
        """Return the matrix (questions, terms) with a term's weight where a question has it, however often."""
        return self._matrix(weights[self._columns])

    def _matrix(self, values: NDArray[np.float64]) -> Any:
        from scipy.sparse import csr_array  # noqa: PLC0415

        shape = (len(self._starts) - 1, len(self.terms))
        return csr_array((values, self._columns, self._starts), shape=shape)


class LexicalIndex:
    """Term weights of a document's passages: Lucene's BM25 as bm25s computes it.

    Args:
        passages: the terms of each passage; passages without terms are fine.
        k1: saturation of term frequency.
        b: strength of length normalisation.
    """

    def __init__(self, passages: Sequence[Sequence[str]], k1: float, b: float) -> None:
        self.size = len(passages)
        self._vocabulary: dict[str, int] = {}
        ids = [[self._vocabulary.setdefault(term, len(self._vocabulary)) for term in terms] for terms in passages]
        self._starts, self._columns, self._weights = _sparse(ids, self._vocabulary, k1, b)

    def match(self, questions: AskedTerms) -> LexicalMatch:
        """Score every passage for every question."""
        weights = self._weights_of(questions.terms)
        present = (weights > 0).astype(np.float64)
        frequency = present.sum(axis=1)
        idf = np.log1p((self.size - frequency + 0.5) / (frequency + 0.5))
        total = questions.weighed(idf) @ np.ones(len(idf))
        total[total == 0] = 1.0
        scores = questions.counts @ weights
        scores[scores <= 0] = ABSENT
        coverage = questions.weighed(idf) @ present
        anywhere = questions.weighed(idf) @ (frequency > 0).astype(np.float64)
        return LexicalMatch(scores, coverage / total[:, None], anywhere / total)

    def _weights_of(self, terms: Sequence[str]) -> NDArray[np.float64]:
        """Return the weights of these terms, shape (terms, passages)."""
        weights = np.zeros((len(terms), self.size))
        known = [(row, self._vocabulary[term]) for row, term in enumerate(terms) if term in self._vocabulary]
        if not known:
            return weights
        rows, columns = np.array(known, dtype=np.intp).T
        starts, lengths = self._starts[columns], self._starts[columns + 1] - self._starts[columns]
        within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        entries = np.repeat(starts, lengths) + within
        weights[np.repeat(rows, lengths), self._columns[entries]] = self._weights[entries]
        return weights


def _sparse(
    ids: Sequence[Sequence[int]], vocabulary: Mapping[str, int], k1: float, b: float
) -> tuple[Places, Places, NDArray[np.float32]]:
    """Return the weights by term: where each term starts, and the passages and weights from there on."""
    if not vocabulary:  # bm25s can't index a corpus without a single term
        return np.zeros(1, dtype=np.intp), np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.float32)
    import bm25s  # noqa: PLC0415

    engine = bm25s.BM25(k1=k1, b=b, method="lucene", backend="numpy")
    engine.index((ids, dict(vocabulary)), create_empty_token=False, show_progress=False)
    return engine.scores["indptr"], engine.scores["indices"], engine.scores["data"]
