"""Retrievers over flat chunks: hybrid, and its two halves alone."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Annotated, Literal

import pyarrow as pa
from pydantic import Field

from transplantqa.models.protocols import Embedder, Identity, Reranker
from transplantqa.records import Question
from transplantqa.retrieval.confidence import Weights, confidence_from
from transplantqa.retrieval.decision import NO_TEXT, ChoicePolicy, Decision
from transplantqa.retrieval.dense import QuestionVectors
from transplantqa.retrieval.found import Found
from transplantqa.retrieval.indexed import ChunkText, index_document
from transplantqa.retrieval.passages import Expansion, PassageOrder, PassagePolicy
from transplantqa.retrieval.protocols import SourceDocument
from transplantqa.retrieval.rankers import DenseRanker, LexicalRanker
from transplantqa.retrieval.search import Search
from transplantqa.retrieval.terms import Language, TermAnalyzer

Count = Annotated[int, Field(ge=1)]
Sentences = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
NonNegative = Annotated[float, Field(ge=0)]


class ChunkRetriever:
    """Ranks a document's chunks and shows the best; what the retrievers of this module have in common.

    Args:
        search: rankers, fusion, reranker, confidence.
        policy: how many chunks are shown, how, and when none.
        chunk_text: what is searched of a chunk.
        language: how a question's words are found in a chunk that must be cut.
    """

    def __init__(self, search: Search, policy: ChoicePolicy, chunk_text: ChunkText, language: Language) -> None:
        self._search = search
        self._policy = policy
        self._chunk_text: ChunkText = chunk_text
        self._analyzer = TermAnalyzer(language)

    def identity(self) -> Identity:
        """Everything that can change the evidence."""
        return {
            "retriever": type(self).__name__,
            **self._search.identity(),
            **asdict(self._policy),
            "chunk_text": self._chunk_text,
            "language": self._analyzer.language,
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
            return
        for found in self._search.find(questions, document):
            decision = Decision(found, document)
            decision.show_chosen(decision.settle(self._policy.silence_below), self._policy, self._analyzer)
            yield decision.batch()


class Hybrid(ChunkRetriever):
    """BM25 and dense over flat chunks, fused by reciprocal rank, reranked if there is a reranker.

    Args:
        embedder: for the dense ranking.
        reranker: scores question and chunk together, or none.
        chunk_text: search a chunk's text alone, or with its section's heading before it.
        language: stemmer and stop words of BM25.
        bm25_k1: saturation of term frequency.
        bm25_b: strength of length normalisation.
        dense_window_sentences: sentences embedded together, a chunk scoring as its best window; 0 embeds chunks whole.
        rrf_k: constant of reciprocal rank fusion.
        ranker_weights: weight of a ranker in the fusion, 1 where not named.
        ranker_depth: chunks of each ranking that are fused and kept in the audit trail.
        rerank_top: fused chunks that the reranker sees.
        top_k: chunks shown.
        evidence_tokens: most tokens shown, as the corpus's tokenizer counts.
        passage: show a chunk alone, or with its neighbours in the section up to ``passage_tokens``.
        passage_tokens: see ``passage``.
        passage_order: best first, or as in the document.
        confidence: weights of the signals, or null for no confidence.
        silence_below: confidence under which the document counts as silent; 0 never does.

    Raises:
        ConfigError: if ``confidence`` weighs a signal that isn't there, or is null while ``silence_below`` isn't 0.
    """

    def __init__(  # noqa: PLR0913 - one parameter a key of the YAML
        self,
        *,
        embedder: Embedder,
        reranker: Reranker | None,
        chunk_text: ChunkText = "plain",
        language: Language = "english",
        bm25_k1: NonNegative = 1.5,
        bm25_b: Share = 0.75,
        dense_window_sentences: Sentences = 0,
        rrf_k: Count = 60,
        ranker_weights: dict[Literal["bm25", "dense"], NonNegative] | None = None,
        ranker_depth: Count = 30,
        rerank_top: Count = 20,
        top_k: Count = 5,
        evidence_tokens: Count = 3000,
        passage: Expansion = "chunk",
        passage_tokens: Count = 512,
        passage_order: PassageOrder = "rank",
        confidence: Weights | None = None,
        silence_below: Share = 0.0,
    ) -> None:
        rankers = (
            LexicalRanker(language, bm25_k1, bm25_b),
            DenseRanker(QuestionVectors(embedder), embedder, dense_window_sentences),
        )
        search = Search(
            rankers,
            reranker=reranker,
            confidence=confidence_from(confidence, rankers, reranker, silence_below),
            rrf_k=rrf_k,
            weights=ranker_weights,
            depth=ranker_depth,
            rerank_top=rerank_top,
        )
        passages = PassagePolicy(evidence_tokens, passage, passage_tokens, passage_order)
        super().__init__(search, ChoicePolicy(top_k, silence_below, passages), chunk_text, language)


class BM25(ChunkRetriever):
    """BM25 alone; parameters mean what they mean in ``Hybrid``."""

    def __init__(  # noqa: PLR0913 - one parameter a key of the YAML
        self,
        *,
        reranker: Reranker | None = None,
        chunk_text: ChunkText = "plain",
        language: Language = "english",
        bm25_k1: NonNegative = 1.5,
        bm25_b: Share = 0.75,
        ranker_depth: Count = 30,
        rerank_top: Count = 20,
        top_k: Count = 5,
        evidence_tokens: Count = 3000,
        passage: Expansion = "chunk",
        passage_tokens: Count = 512,
        passage_order: PassageOrder = "rank",
        confidence: Weights | None = None,
        silence_below: Share = 0.0,
    ) -> None:
        rankers = (LexicalRanker(language, bm25_k1, bm25_b),)
        search = Search(
            rankers,
            reranker=reranker,
            confidence=confidence_from(confidence, rankers, reranker, silence_below),
            depth=ranker_depth,
            rerank_top=rerank_top,
        )
        passages = PassagePolicy(evidence_tokens, passage, passage_tokens, passage_order)
        super().__init__(search, ChoicePolicy(top_k, silence_below, passages), chunk_text, language)


class Dense(ChunkRetriever):
    """Cosine of embeddings alone; parameters mean what they mean in ``Hybrid``."""

    def __init__(  # noqa: PLR0913 - one parameter a key of the YAML
        self,
        *,
        embedder: Embedder,
        reranker: Reranker | None = None,
        chunk_text: ChunkText = "plain",
        language: Language = "english",
        dense_window_sentences: Sentences = 0,
        ranker_depth: Count = 30,
        rerank_top: Count = 20,
        top_k: Count = 5,
        evidence_tokens: Count = 3000,
        passage: Expansion = "chunk",
        passage_tokens: Count = 512,
        passage_order: PassageOrder = "rank",
        confidence: Weights | None = None,
        silence_below: Share = 0.0,
    ) -> None:
        rankers = (DenseRanker(QuestionVectors(embedder), embedder, dense_window_sentences),)
        search = Search(
            rankers,
            reranker=reranker,
            confidence=confidence_from(confidence, rankers, reranker, silence_below),
            depth=ranker_depth,
            rerank_top=rerank_top,
        )
        passages = PassagePolicy(evidence_tokens, passage, passage_tokens, passage_order)
        super().__init__(search, ChoicePolicy(top_k, silence_below, passages), chunk_text, language)
