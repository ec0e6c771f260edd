"""Rankers, fusion, reranking and the retrievers made of them: from a question and a document to evidence."""

from transplantqa.retrieval.chunk_retrievers import BM25, Dense, Hybrid
from transplantqa.retrieval.controls import NoEvidence, Oracle, Shuffled
from transplantqa.retrieval.full_document import FullDocument
from transplantqa.retrieval.hero_qa import HeroQA
from transplantqa.retrieval.protocols import Retriever, SourceDocument

__all__ = [
    "BM25",
    "Dense",
    "FullDocument",
    "HeroQA",
    "Hybrid",
    "NoEvidence",
    "Oracle",
    "Retriever",
    "Shuffled",
    "SourceDocument",
]
