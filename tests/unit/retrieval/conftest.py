"""Small documents and stand-in models, built by hand."""

import hashlib
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from transplantqa.models.protocols import Identity
from transplantqa.records import Chunk, Document, Question, Section
from transplantqa.retrieval import SourceDocument

Parts = Sequence[tuple[str, Sequence[str]]]
MakeSource = Callable[..., SourceDocument]
MakeQuestions = Callable[..., list[Question]]


class WordEmbedder:
    """Bags of words hashed into 64 dimensions: texts are near when they share words."""

    def __init__(self) -> None:
        self.queries: list[str] = []
        self.passages: list[str] = []

    def identity(self) -> Identity:
        return {"embedder": "words"}

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.queries += texts
        return self._embed(texts)

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.passages += texts
        return self._embed(texts)

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = np.zeros((len(texts), 64), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().replace(".", "").replace("?", "").split():
                vectors[row, hashlib.sha256(word.encode()).digest()[0] % 64] += 1
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit: NDArray[np.float32] = vectors / np.where(norms == 0, 1, norms)
        return unit


@pytest.fixture
def embedder() -> WordEmbedder:
    return WordEmbedder()


@pytest.fixture
def make_source() -> MakeSource:
    """Make a document of (heading, chunk texts) sections; a token is a word."""

    def make(parts: Parts, document_id: str = "doc") -> SourceDocument:
        sections: list[Section] = []
        chunks: list[Chunk] = []
        for order, (heading, texts) in enumerate(parts):
            section_id, body = f"{document_id}/s{order:02d}", "\n".join(texts)
            words = sum(len(text.split()) for text in texts)
            sections.append(Section(section_id, document_id, order, 1, heading, (heading,), 1, 2, body, words))
            start = 0
            for text in texts:
                at = len(chunks)
                end = start + len(text)
                chunk_id = f"{document_id}/c{at:02d}"
                chunks.append(Chunk(chunk_id, document_id, section_id, at, 1, 1, start, end, text, len(text.split())))
                start = end + 1
        characters = sum(len(section.text) for section in sections)
        tokens = sum(section.tokens for section in sections)
        document = Document(
            document_id,
            "Center A",
            "kidney",
            None,
            "Guide",
            None,
            "guide.md",
            "0" * 64,
            2,
            characters,
            tokens,
            None,
            True,
            "accept",
        )
        return SourceDocument(document, tuple(sections), tuple(chunks))

    return make


@pytest.fixture
def make_questions() -> MakeQuestions:
    def make(*texts: str) -> list[Question]:
        return [Question(f"q{at}", text) for at, text in enumerate(texts)]

    return make


@pytest.fixture
def guide(make_source: MakeSource) -> SourceDocument:
    return make_source(
        [
            ("Diet", ["Eat fresh fruit every day.", "Do not eat grapefruit with tacrolimus."]),
            ("Medicines", ["Take tacrolimus 2 mg twice a day.", "Take aspirin 5 mg in the morning."]),
            ("Travel", ["Carry your medicines in hand luggage."]),
        ]
    )
