"""HERO-QA: length routing, four rankers over a hierarchy, reranking, expansion to sections, full-document fallback."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Annotated, Literal

import numpy as np
import pyarrow as pa
from pydantic import Field

from transplantqa.errors import ConfigError
from transplantqa.models.protocols import Embedder, Identity, Reranker
from transplantqa.records import Question
from transplantqa.retrieval.chunk_retrievers import Count, NonNegative, Sentences, Share
from transplantqa.retrieval.confidence import Weights, confidence_from
from transplantqa.retrieval.decision import NO_TEXT, ChoicePolicy, Decision
from transplantqa.retrieval.dense import QuestionVectors
from transplantqa.retrieval.found import Found
from transplantqa.retrieval.indexed import ChunkText, IndexedDocument, index_document
from transplantqa.retrieval.passages import PassageOrder, PassagePolicy
from transplantqa.retrieval.protocols import SourceDocument
from transplantqa.retrieval.rankers import (
    DenseRanker,
    LexicalRanker,
    Ranker,
    SectionBodyRanker,
    SectionTitleRanker,
)
from transplantqa.retrieval.search import Search
from transplantqa.retrieval.terms import Language, TermAnalyzer

RankerName = Literal["dense", "bm25", "section_body", "section_title"]


class HeroQA:
    """Short documents whole; of long ones the sections of the best chunks; the document again when evidence is weak.

    A document is short when it fits both ``route_max_chars`` and ``evidence_tokens``. Parameters that ``Hybrid`` has
    mean the same here; passages are always chunks with their neighbours in the section, up to ``passage_tokens``.

    Args:
        embedder: for the dense and section-title rankings.
        reranker: scores question and chunk together, or none.
        route_max_chars: the longest document given whole.
        rankers: the first stage.
        chunk_text: search a chunk's text alone, or with its section's heading before it.
        language: stemmer and stop words of BM25.
        bm25_k1: saturation of term frequency.
        bm25_b: strength of length normalisation.
        dense_window_sentences: sentences embedded together; 0 embeds chunks whole.
        rrf_k: constant of reciprocal rank fusion.
        ranker_weights: weight of a ranker in the fusion, 1 where not named.
        ranker_depth: chunks of each ranking that are fused and kept in the audit trail.
        rerank_top: fused chunks that the reranker sees.
        top_k: chunks expanded.
        evidence_tokens: most tokens shown.
        passage_tokens: largest expanded passage.
        passage_order: best first, or as in the document.
        confidence: weights of the signals, or null for no confidence.
        silence_below: confidence under which the document counts as silent, whatever its length; 0 never does, and
            then short documents aren't searched at all.
        fallback_below: confidence under which evidence is weak and the document is given instead; 0 never does.
        fallback_tokens: most tokens of that; when the document is larger, as many of its sections as fit.

    Raises:
        ConfigError: if a threshold has no confidence to compare with, a weight no signal, or a ranker comes twice.
    """

    def __init__(  # noqa: PLR0913 - one parameter a key of the YAML
        self,
        *,
        embedder: Embedder,
        reranker: Reranker | None,
        route_max_chars: Annotated[int, Field(ge=0)] = 80_000,
        rankers: Annotated[list[RankerName], Field(min_length=1)],
        chunk_text: ChunkText = "plain",
        language: Language = "english",
        bm25_k1: NonNegative = 1.5,
        bm25_b: Share = 0.75,
        dense_window_sentences: Sentences = 0,
        rrf_k: Count = 60,
        ranker_weights: dict[RankerName, NonNegative] | None = None,
        ranker_depth: Count = 30,
        rerank_top: Count = 20,
        top_k: Count = 8,
        evidence_tokens: Count = 3000,
        passage_tokens: Count = 1024,
        passage_order: PassageOrder = "document",
        confidence: Weights | None = None,
        silence_below: Share = 0.0,
        fallback_below: Share = 0.0,
        fallback_tokens: Count = 24_000,
    ) -> None:
        if len(set(rankers)) < len(rankers):
            raise ConfigError(f"retriever.rankers: {', '.join(rankers)} names one twice.\nName each ranker once.")
        vectors = QuestionVectors(embedder)
        choices: dict[RankerName, Ranker] = {
            "dense": DenseRanker(vectors, embedder, dense_window_sentences),
            "bm25": LexicalRanker(language, bm25_k1, bm25_b),
            "section_body": SectionBodyRanker(language, bm25_k1, bm25_b),
            "section_title": SectionTitleRanker(vectors, embedder),
        }
        used = [choices[name] for name in rankers]
        self._search = Search(
            used,
            reranker=reranker,
            confidence=confidence_from(confidence, used, reranker, max(silence_below, fallback_below)),
            depth=ranker_depth,
            rerank_top=rerank_top,
            rrf_k=rrf_k,
            weights=ranker_weights,
        )
        passages = PassagePolicy(evidence_tokens, "section", passage_tokens, passage_order)
        self._policy = ChoicePolicy(top_k, silence_below, passages)
        self._chunk_text: ChunkText = chunk_text
        self._analyzer = TermAnalyzer(language)
        self._route_max_chars = route_max_chars
        self._fallback_below = fallback_below
        self._fallback_tokens = fallback_tokens

    def identity(self) -> Identity:
        """Everything that can change the evidence."""
        return {
            "retriever": type(self).__name__,
            **self._search.identity(),
            **asdict(self._policy),
            "chunk_text": self._chunk_text,
            "language": self._analyzer.language,
            "route_max_chars": self._route_max_chars,
            "fallback_below": self._fallback_below,
            "fallback_tokens": self._fallback_tokens,
        }

    def retrieve(self, questions: Sequence[Question], source: SourceDocument) -> Iterator[pa.RecordBatch]:
        """Yield rows of evidence, one a question, in the order given.

        Raises:
            InputError: if the document's chunks contradict its sections.
        """
        document = index_document(source, self._chunk_text)
        if not document.chunks:
            decision = Decision(Found.nothing(questions, 0), document)
            decision.silence(decision.rows, NO_TEXT)
            yield decision.batch()
        elif not self._is_short(source):
            for found in self._search.find(questions, document):
                yield self._of_long(found, document)
        elif self._policy.silence_below > 0:
            for found in self._search.find(questions, document):
                yield self._of_short(found, document)
        else:
            yield self._of_short(Found.nothing(questions, len(document.chunks)), document)

    def _is_short(self, source: SourceDocument) -> bool:
        tokens = sum(section.tokens for section in source.sections)
        return source.document.characters <= self._route_max_chars and tokens <= self._policy.passages.evidence_tokens

    def _of_short(self, found: Found, document: IndexedDocument) -> pa.RecordBatch:
        decision = Decision(found, document)
        rows = decision.settle(self._policy.silence_below) if self._policy.silence_below > 0 else decision.rows
        decision.show_whole(rows, "the document is short and shown whole")
        return decision.batch()

    def _of_long(self, found: Found, document: IndexedDocument) -> pa.RecordBatch:
        decision = Decision(found, document)
        rows = decision.settle(self._policy.silence_below)
        confidence = found.confidence
        if confidence is not None:
            weak = rows[confidence[rows] < self._fallback_below]
            words = f"is below {self._fallback_below:g}"
            without = decision.fall_back(
                weak, self._fallback_tokens, lambda row: f"confidence {confidence[row]:.3f} {words}"
            )
            # Where no section is small enough, the chosen pieces are better than nothing.
            rows = np.union1d(np.setdiff1d(rows, weak), without)
        decision.show_chosen(rows, self._policy, self._analyzer)
        return decision.batch()
