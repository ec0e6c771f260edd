"""A generated corpus of the size of a reference run, with embeddings by lookup, for timing retrieval."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from transplantqa.models.protocols import Identity
from transplantqa.records import Chunk, Document, Question, Section
from transplantqa.retrieval import SourceDocument
from transplantqa.store.hashing import text_sha256

CHUNKS, SECTIONS = 100, 30
"""Of a document."""
CHUNK_WORDS, CHUNK_TOKENS = 350, 512
"""English has about 1.45 WordPiece tokens a word; ours."""
QUESTION_WORDS = 12
VOCABULARY, QUESTION_VOCABULARY = 20_000, 6_000
"""Questions ask in the more frequent words, so that about as few cells as on the bundled sample fall back."""
DIMENSIONS = 384


class LookupEmbedder:
    """Unit vectors drawn from a text's hash: no model's time is in a figure of what comes after it."""

    def identity(self) -> Identity:
        """Nothing but the method."""
        return {"embedder": "lookup"}

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return vectors as for passages."""
        return self.embed_passages(texts)

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors, shape (len(texts), ``DIMENSIONS``)."""
        seeds = (int(text_sha256(text)[:8], 16) for text in texts)
        drawn = [np.random.default_rng(seed).standard_normal(DIMENSIONS, dtype=np.float32) for seed in seeds]
        vectors = np.array(drawn).reshape(len(texts), DIMENSIONS)
        unit: NDArray[np.float32] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit


class Words:
    """Running text whose words' frequencies fall as one over their rank, as a language's do."""

    def __init__(self, seed: int, vocabulary: int) -> None:
        self._generator = np.random.default_rng(seed)
        self._words = np.array([_word(number) for number in range(vocabulary)])
        shares = 1.0 / np.arange(1, vocabulary + 1)
        self._cumulative = np.cumsum(shares / shares.sum())

    def text(self, length: int) -> str:
        """Return so many words in sentences of ten."""
        drawn = self._words[np.searchsorted(self._cumulative, self._generator.random(length))]
        return " ".join(" ".join(drawn[start : start + 10]) + "." for start in range(0, length, 10))


def questions(count: int) -> list[Question]:
    """Return so many questions of generated words."""
    words = Words(1, QUESTION_VOCABULARY)
    return [Question(f"q{number:05d}", words.text(QUESTION_WORDS)) for number in range(count)]


def sources(count: int) -> dict[str, SourceDocument]:
    """Return so many documents of generated words, by id."""
    words = Words(2, VOCABULARY)
    made = [_source(f"guide-{number:03d}", words) for number in range(count)]
    return {source.document.document_id: source for source in made}


def _source(name: str, words: Words) -> SourceDocument:
    sections, chunks = [], []
    edges = [CHUNKS * number // SECTIONS for number in range(SECTIONS + 1)]
    for number, (first, last) in enumerate(pairwise(edges)):
        section_id, heading = f"{name}/s{number:03d}", words.text(4)
        texts = [words.text(CHUNK_WORDS) for _ in range(first, last)]
        starts = np.cumsum([0, *(len(text) + 1 for text in texts)]).tolist()
        tokens = CHUNK_TOKENS * len(texts)
        page = number + 1
        sections.append(
            Section(section_id, name, number, 1, heading, (heading,), page, page + 1, "\n".join(texts), tokens)
        )
        for order, text, start in zip(range(first, last), texts, starts, strict=False):
            place = (f"{name}/c{order:04d}", name, section_id, order, page, page + 1, start, start + len(text))
            chunks.append(Chunk(*place, text, CHUNK_TOKENS))
    characters, tokens = sum(len(one.text) for one in sections), CHUNK_TOKENS * CHUNKS
    facts = (name, "Center", "kidney", None, name, None, f"{name}.pdf", "0" * 64, SECTIONS + 1, characters, tokens)
    return SourceDocument(Document(*facts, None, True, "accept"), tuple(sections), tuple(chunks))


def _word(number: int) -> str:
    letters = ""
    while True:
        number, letter = divmod(number, 20)
        letters += "bcdfghjklmnpqrstvwxz"[letter] + "aeiou"[letter % 5]
        if number == 0:
            return letters
