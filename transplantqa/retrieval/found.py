"""What a search found: the candidates of many questions in one document, as arrays with a row a question."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from transplantqa.records import Question
from transplantqa.retrieval.confidence import Signal
from transplantqa.retrieval.fusion import Ranks, Scores

Positions = NDArray[np.intp]


@dataclass(frozen=True)
class Placed:
    """Where one ranker put every chunk: rank from 1, 0 where it doesn't propose it, and score."""

    ranker: str
    ranks: Ranks
    scores: Scores


@dataclass(frozen=True)
class Found:
    """Candidates, best first, of questions asked of one document with so many chunks.

    Attributes:
        questions: one a row.
        order: positions of chunks, shape (questions, chunks); a row's first ``counts`` are its candidates.
        counts: shape (questions,); 0 where nothing was found or the question failed.
        fused: fused scores by position, shape (questions, chunks).
        placed: what each ranker said.
        reranked: rerank scores by position, same shape, NaN where a chunk wasn't reranked.
        signals: what confidence is made of, one value a question.
        confidence: in [0, 1], one a question, 0 where nothing was found; none where the retriever has none.
        errors: row to the reason why the question failed.
    """

    questions: Sequence[Question]
    order: Positions
    counts: Positions
    fused: Scores
    reranked: Scores
    placed: Sequence[Placed] = ()
    signals: Mapping[Signal, NDArray[np.float64]] = field(default_factory=dict)
    confidence: NDArray[np.float64] | None = None
    errors: Mapping[int, str] = field(default_factory=dict)

    @classmethod
    def nothing(cls, questions: Sequence[Question], chunks: int, errors: Mapping[int, str] | None = None) -> "Found":
        """Return questions without candidates: not searched, or failed."""
        shape = (len(questions), chunks)
        order = np.broadcast_to(np.arange(chunks, dtype=np.intp), shape)
        counts = np.zeros(len(questions), dtype=np.intp)
        return cls(questions, order, counts, np.zeros(shape), np.full(shape, np.nan), errors=errors or {})

    def positions(self, row: int) -> list[int]:
        """Return a question's candidates, best first."""
        positions: list[int] = self.order[row, : self.counts[row]].tolist()
        return positions

    def between(self, start: int, stop: int) -> "Found":
        """Return some of the questions, views of the same arrays."""
        rows = slice(start, stop)
        return replace(
            self,
            questions=self.questions[rows],
            order=self.order[rows],
            counts=self.counts[rows],
            fused=self.fused[rows],
            reranked=self.reranked[rows],
            placed=[Placed(one.ranker, one.ranks[rows], one.scores[rows]) for one in self.placed],
            signals={name: values[rows] for name, values in self.signals.items()},
            confidence=None if self.confidence is None else self.confidence[rows],
            errors={row - start: reason for row, reason in self.errors.items() if start <= row < stop},
        )
