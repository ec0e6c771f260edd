"""First stage, fusion and reranking: from questions and a document to ranked candidates with their scores."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from transplantqa.models.protocols import Identity, Reranker
from transplantqa.records import Question
from transplantqa.retrieval.confidence import Confidence, Signal
from transplantqa.retrieval.failures import RankerError, reported_as
from transplantqa.retrieval.found import Found, Placed
from transplantqa.retrieval.fusion import ABSENT, fuse, order_of, ranks_of
from transplantqa.retrieval.indexed import IndexedDocument
from transplantqa.retrieval.rankers import Ranker, Ranking

BLOCK_QUESTIONS = 512
"""Questions decided together: as many as make the cost of a block small; changes no result. Ours."""
RERANKED_QUESTIONS = 32
"""The same with a reranker, which may take seconds a question: what a kill loses. Ours."""


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
        """Yield what is found for the questions, some at a time, in the order given.

        A failing ranker fails every question, a failing reranker one; no list is ever shorter or shifted for it.
        """
        if not questions:
            return
        try:
            rankings = self._rank([question.text for question in questions], document)
        except RankerError as error:
            yield Found.nothing(questions, len(document.chunks), dict.fromkeys(range(len(questions)), str(error)))
            return
        found = self._fused(questions, rankings)
        size = BLOCK_QUESTIONS if self._reranker is None else RERANKED_QUESTIONS
        for start in range(0, len(questions), size):
            yield self._confident(self._reranked(found.between(start, start + size), document))

    def _rank(self, texts: Sequence[str], document: IndexedDocument) -> list[Ranking]:
        rankings = []
        for ranker in self._rankers:
            ranking = ranker.rank(texts, document)
            if ranking.scores.shape != (len(texts), len(document.chunks)):
                raise RankerError(f"{ranker.name}: scored shape {ranking.scores.shape}, not every chunk once")
            rankings.append(ranking)
        return rankings

    def _fused(self, questions: Sequence[Question], rankings: Sequence[Ranking]) -> Found:
        ranks = [ranks_of(ranking.scores, self._depth) for ranking in rankings]
        fused = fuse(ranks, self._rrf_k, self._weights)
        counts = (fused > ABSENT).sum(axis=1)
        errors: dict[int, str] = {}
        signals: dict[Signal, Any] = {}
        for ranking in rankings:
            errors = {**ranking.failures, **errors}  # the first ranker's reason is told
            signals |= ranking.signals
        counts[list(errors)] = 0
        named = zip(self._rankers, ranks, rankings, strict=True)
        placed = [Placed(ranker.name, places, ranking.scores) for ranker, places, ranking in named]
        unranked = np.broadcast_to(np.nan, fused.shape)
        return Found(questions, order_of(fused), counts, fused, unranked, placed, signals, None, errors)

    def _reranked(self, found: Found, document: IndexedDocument) -> Found:
        if self._reranker is None:
            return found
        order, counts = found.order.copy(), found.counts.copy()
        scores, errors = np.full(found.fused.shape, np.nan), dict(found.errors)
        for row, question in enumerate(found.questions):
            seen = found.positions(row)[: self._rerank_top]
            if not seen:
                continue
            try:
                scores[row, seen] = self._scores(self._reranker, question, seen, document)
            except RankerError as failure:
                errors[row], counts[row] = str(failure), 0
                continue
            order[row, : len(seen)] = sorted(seen, key=lambda at, own=scores[row]: (-own[at], at))  # type: ignore[misc]
        best = np.fmax.reduce(scores, axis=1)
        signals = {**found.signals, "rerank": best}
        return replace(found, order=order, counts=counts, reranked=scores, signals=signals, errors=errors)

    def _scores(
        self, reranker: Reranker, question: Question, positions: Sequence[int], document: IndexedDocument
    ) -> list[float]:
        texts = [document.heads[at] + document.chunks[at].text for at in positions]
        with reported_as("reranker"):
            scores = [float(score) for score in reranker.score(question.text, texts)]
        if len(scores) != len(positions) or not np.isfinite(scores).all():
            raise RankerError(
                f"reranker: {len(scores)} scores for {len(positions)} passages, or one that is not finite"
            )
        return scores

    def _confident(self, found: Found) -> Found:
        if self._confidence is None:
            return found
        return replace(found, confidence=np.where(found.counts > 0, self._confidence.of(found.signals), 0.0))
