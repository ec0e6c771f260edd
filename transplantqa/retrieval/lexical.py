"""BM25 of many questions over one document's passages at once."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transplantqa.retrieval.counts import TermCounts
from transplantqa.retrieval.fusion import ABSENT, Scores


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
    """Term weights of a document's passages: BM25 as Lucene has it (Kamphuis et al., ECIR 2020), in single precision.

    The weights are bm25s's to the last bit; here they come from counts that rankers share.

    Args:
        counts: of the passages; passages without terms are fine.
        k1: saturation of term frequency.
        b: strength of length normalisation.
    """

    def __init__(self, counts: TermCounts, k1: float, b: float) -> None:
        self.size = counts.matrix.shape[0]
        self._columns = counts.columns
        self._by_term = _weights(counts.matrix, k1, b)

    def match(self, questions: AskedTerms) -> LexicalMatch:
        """Score every passage for every question."""
        weights = self._weights_of(questions.terms)
        present = (weights > 0).astype(np.float64)
        frequency = present.sum(axis=1)
        idf = np.log1p((self.size - frequency + 0.5) / (frequency + 0.5))
        weighed = questions.weighed(idf)
        total = weighed @ np.ones(len(idf))
        total[total == 0] = 1.0
        scores = questions.counts @ weights
        scores[scores <= 0] = ABSENT
        anywhere = weighed @ (frequency > 0).astype(np.float64)
        return LexicalMatch(scores, (weighed @ present) / total[:, None], anywhere / total)

    def _weights_of(self, terms: Sequence[str]) -> NDArray[np.float64]:
        """Return the weights of these terms, shape (terms, passages)."""
        weights = np.zeros((len(terms), self.size))
        known = [(row, self._columns[term]) for row, term in enumerate(terms) if term in self._columns]
        if known:
            rows, columns = np.array(known, dtype=np.intp).T
            weights[rows] = self._by_term[columns].toarray()
        return weights


def _weights(counts: Any, k1: float, b: float) -> Any:
    """Return the weights by term, sparse, shape (terms, passages)."""
    lengths = counts.sum(axis=1)
    by_term = counts.T.tocsr()
    passages = by_term.indices
    frequency = np.diff(by_term.indptr)
    idf = np.log(1 + (len(lengths) - frequency + 0.5) / (frequency + 0.5)).astype(np.float32)
    mean = lengths.mean() if lengths.any() else 1.0
    norm = k1 * ((1 - b) + b * lengths / mean)
    weights = np.repeat(idf, frequency) * (by_term.data / (norm[passages] + by_term.data))
    by_term.data = weights.astype(np.float32).astype(np.float64)
    return by_term
