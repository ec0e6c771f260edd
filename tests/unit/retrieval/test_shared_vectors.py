"""A document's chunks and headings are embedded once, for every retriever and every point of a sweep."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from transplantqa.records import Question
from transplantqa.retrieval import Dense, HeroQA, Hybrid, Retriever, SourceDocument
from transplantqa.retrieval.table import read_evidence
from transplantqa.store.embedding_cache import CachedEmbedder

MakeQuestions = Callable[..., list[Question]]


def sweep(embedder: Any, root: Path) -> list[Retriever]:
    """Retrievers as separate runs make them, each with a cache of its own over the same folder."""
    made: list[Retriever] = []
    for top_k in (1, 2, 3):
        cached = CachedEmbedder(embedder, root)
        made += [
            Dense(embedder=cached, top_k=top_k),
            Hybrid(embedder=cached, reranker=None, top_k=top_k, rrf_k=top_k),
            HeroQA(
                embedder=cached,
                reranker=None,
                route_max_chars=0,
                rankers=["dense", "bm25", "section_body", "section_title"],
                top_k=top_k,
            ),
        ]
    return made


def test_nine_retrievers_embed_each_chunk_and_heading_once(
    guide: SourceDocument, make_questions: MakeQuestions, embedder: Any, tmp_path: Path
) -> None:
    for retriever in sweep(embedder, tmp_path):
        list(retriever.retrieve(make_questions("aspirin", "fruit"), guide))
    embedded = Counter(embedder.passages)
    assert set(embedded) == {chunk.text for chunk in guide.chunks} | {section.heading for section in guide.sections}
    assert set(embedded.values()) == {1}


def test_stored_vectors_give_the_evidence_of_fresh_ones(
    guide: SourceDocument, make_questions: MakeQuestions, embedder: Any, tmp_path: Path
) -> None:
    questions = make_questions("aspirin dose", "fruit")
    fresh = read_evidence(Dense(embedder=embedder).retrieve(questions, guide))
    for _ in range(2):
        stored = Dense(embedder=CachedEmbedder(embedder, tmp_path))
        assert read_evidence(stored.retrieve(questions, guide)) == fresh
