"""First stage, fusion and reranking: from questions and a document to ranked candidates with their scores."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transplantqa.models.protocols import Identity, Reranker
from transplantqa.records import Question, RankerScore
from transplantqa.retrieval.confidence import Confidence, Signal
from transplantqa.retrieval.failures import RankerError, reported_as
from transplantqa.retrieval.fusion import ABSENT, Ranks, Scores, fuse, order_of, ranks_of
from transplantqa.retrieval.indexed import IndexedDocument
from transplantqa.retrieval.rankers import Ranker, Ranking


@dataclass(frozen=True)
class Found:
    """The candidates for one question, best first: position, fused score, and where each ranker put it.

    ``reranked`` has the rerank score of the positions that were reranked; ``confidence`` is made of ``signals``, and 0
    when nothing was found. ``error`` says why the question failed.
    """

    question: Question
    positions: list[int] = field(default_factory=list)
    fused: list[float] = field(default_factory=list)
    rankers: list[tuple[RankerScore, ...]] = field(default_factory=list)
    reranked: Mapping[int, float] = field(default_factory=dict)
    signals: Mapping[Signal, float] = field(default_factory=dict)
    confidence: float | None = None
    error: str | None = None


class Search:
    """Rankers, their fusion, and a reranker over the best of it.

    Args:
        rankers: first stage; with one, fusion keeps its order.
        reranker: scores the ``rerank_top`` best fused candidates again; the others follow in fused order.
        confidence: made from what the rankers signal, or none.
        depth: the longest ranking that enters fusion, and so the audit trail.
        rerank_top: candidates that the reranker sees.
        rrf_k: constant of reciprocal rank fusion; changes nothing with one ranker.
        weights: ranker name to its weight in the fusion, 1 where not named.
    """

    def __init__(
        self,
        rankers: Sequence[Ranker],
        *,
        reranker: Reranker | None,
        confidence: Confidence | None,
        depth: int,
        rerank_top: int,
        rrf_k: int = 60,
        weights: Mapping[Any, float] | None = None,
    ) -> None:
        self._rankers = tuple(rankers)
        self._reranker = reranker
        self._confidence = confidence
        self._rrf_k = rrf_k
        self._weights = [(weights or {}).get(ranker.name, 1.0) for ranker in self._rankers]
        self._depth = depth
        self._rerank_top = rerank_top

    def identity(self) -> Identity:
        """Everything that can change a candidate, its place or the confidence."""
        return {
            "rankers": [dict(ranker.identity()) for ranker in self._rankers],
            "rrf_k": self._rrf_k,
            "ranker_weights": self._weights,
            "ranker_depth": self._depth,
            "reranker": None if self._reranker is None else dict(self._reranker.identity()),
            "rerank_top": None if self._reranker is None else self._rerank_top,
            "confidence": None if self._confidence is None else self._confidence.weights,
        }

    def find(self, questions: Sequence[Question], document: IndexedDocument) -> Iterator[Found]:
        """Yield what is found for each question, in the order given; a failing ranker fails, never shortens, a list."""
        if not questions:
            return
        try:
            rankings = self._rank([question.text for question in questions], document)
        except RankerError as error:
            yield from (Found(question, error=str(error)) for question in questions)
            return
        ranks = [ranks_of(ranking.scores, self._depth) for ranking in rankings]
        fused = fuse(ranks, self._rrf_k, self._weights)
        table = _Table(rankings, ranks, fused, order_of(fused), (fused > ABSENT).sum(axis=1))
        for row, question in enumerate(questions):
            yield self._found(question, row, table, document)

    def _rank(self, texts: Sequence[str], document: IndexedDocument) -> list[Ranking]:
        rankings = []
        for ranker in self._rankers:
            ranking = ranker.rank(texts, document)
            if ranking.scores.shape != (len(texts), len(document.chunks)):
                raise RankerError(f"{ranker.name}: scored shape {ranking.scores.shape}, not every chunk once")
            rankings.append(ranking)
        return rankings

    def _found(self, question: Question, row: int, table: "_Table", document: IndexedDocument) -> Found:
        error = next((ranking.failures[row] for ranking in table.rankings if row in ranking.failures), None)
        if error is not None:
            return Found(question, error=error)
        positions: list[int] = table.order[row, : table.counts[row]].tolist()
        if not positions:
            return Found(question, confidence=None if self._confidence is None else 0.0)
        try:
            reranked = self._rerank(question, positions[: self._rerank_top], document)
        except RankerError as failure:
            return Found(question, error=str(failure))
        positions = [*sorted(reranked, key=lambda at: (-reranked[at], at)), *positions[len(reranked) :]]
        signals: dict[Signal, float] = {}
        for ranking in table.rankings:
            signals |= {name: float(values[row]) for name, values in ranking.signals.items()}
        if reranked:
            signals["rerank"] = max(reranked.values())
        return Found(
            question,
            positions,
            table.fused[row, positions].tolist(),
            list(self._places(row, positions, table)),
            reranked,
            signals,
            None if self._confidence is None else self._confidence.of(signals),
        )

    def _rerank(self, question: Question, positions: Sequence[int], document: IndexedDocument) -> dict[int, float]:
        if self._reranker is None or not positions:
            return {}
        texts = [document.heads[at] + document.chunks[at].text for at in positions]
        with reported_as("reranker"):
            scores = [float(score) for score in self._reranker.score(question.text, texts)]
        if len(scores) != len(positions) or not np.isfinite(scores).all():
            raise RankerError(
                f"reranker: {len(scores)} scores for {len(positions)} passages, or one that is not finite"
            )
        return dict(zip(positions, scores, strict=True))

    def _places(self, row: int, positions: Sequence[int], table: "_Table") -> Iterator[tuple[RankerScore, ...]]:
        columns = [
            (ranker.name, ranks[row, positions].tolist(), ranking.scores[row, positions].tolist())
            for ranker, ranks, ranking in zip(self._rankers, table.ranks, table.rankings, strict=True)
        ]
        for at in range(len(positions)):
            yield tuple(RankerScore(name, ranks[at], scores[at]) for name, ranks, scores in columns if ranks[at])


@dataclass(frozen=True)
class _Table:
    """The first stage of one document for all questions; arrays have a row a question."""

    rankings: Sequence[Ranking]
    ranks: Sequence[Ranks]
    fused: Scores
    order: NDArray[np.intp]
    counts: NDArray[np.intp]
