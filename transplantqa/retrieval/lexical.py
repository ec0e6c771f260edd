"""BM25 of many questions over one document's passages at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from transplantqa.retrieval.fusion import ABSENT, Scores

Places = NDArray[np.intp]
Counts = NDArray[np.float64]


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

    def match(self, questions: Sequence[Sequence[str]]) -> LexicalMatch:
        """Score every passage for every question, given the terms of each question; repeated terms count again."""
        terms = {term: at for at, term in enumerate(dict.fromkeys(term for words in questions for term in words))}
        rows, counts = _padded(questions, terms)
        weights = self._dense(terms)
        found = weights > 0
        frequency = found.sum(axis=1)
        idf = np.log1p((self.size - frequency + 0.5) / (frequency + 0.5))
        shape = (len(questions), self.size)
        scores, covered, anywhere = np.zeros(shape), np.zeros(shape), np.zeros(len(questions))
        for row, count in zip(rows.T, counts.T, strict=True):
            weight = np.where(count > 0, idf[row], 0.0)
            scores += weights[row] * count[:, None]
            covered += found[row] * weight[:, None]
            anywhere += np.where(frequency[row] > 0, weight, 0.0)
        total = np.where(counts > 0, idf[rows], 0.0).sum(axis=1)
        total[total == 0] = 1.0
        scores[scores <= 0] = ABSENT
        return LexicalMatch(scores, covered / total[:, None], anywhere / total)

    def _dense(self, terms: Mapping[str, int]) -> NDArray[np.float64]:
        """Return the weights of these terms, shape (terms + 1, passages); the last row is the padding's, of zeros."""
        weights = np.zeros((len(terms) + 1, self.size))
        for term, row in terms.items():
            at = self._vocabulary.get(term)
            if at is not None:
                span = slice(self._starts[at], self._starts[at + 1])
                weights[row, self._columns[span]] = self._weights[span]
        return weights


def _padded(questions: Sequence[Sequence[str]], terms: Mapping[str, int]) -> tuple[Places, Counts]:
    """Return the rows and counts of each question's distinct terms, padded to the longest question."""
    distinct = [list(dict.fromkeys(words)) for words in questions]
    longest = max((len(words) for words in distinct), default=0)
    rows = np.full((len(questions), longest), len(terms), dtype=np.intp)
    counts = np.zeros(rows.shape)
    for at, (words, unique) in enumerate(zip(questions, distinct, strict=True)):
        rows[at, : len(unique)] = [terms[term] for term in unique]
        counts[at, : len(unique)] = 1 if len(unique) == len(words) else [words.count(term) for term in unique]
    return rows, counts


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
