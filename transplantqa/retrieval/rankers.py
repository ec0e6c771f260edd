"""First-stage rankers: each scores all chunks of a document for all questions at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from transplantqa.models.protocols import Embedder, Identity
from transplantqa.retrieval.confidence import Signal
from transplantqa.retrieval.counts import document_counts
from transplantqa.retrieval.dense import QuestionVectors, cosines, passage_vectors
from transplantqa.retrieval.fusion import Scores
from transplantqa.retrieval.indexed import IndexedDocument
from transplantqa.retrieval.lexical import AskedTerms, LexicalIndex
from transplantqa.retrieval.terms import Language, TermAnalyzer
from transplantqa.retrieval.windows import windows


@dataclass(frozen=True)
class Ranking:
    """One ranker's view of one document.

    ``scores`` has shape (questions, chunks), ``ABSENT`` where a chunk isn't proposed; ``signals`` has one value a
    question; ``failures`` says of a question's row why it can't be used.
    """

    scores: Scores
    signals: Mapping[Signal, NDArray[np.float64]] = field(default_factory=dict)
    failures: Mapping[int, str] = field(default_factory=dict)


class Ranker(Protocol):
    """Scores chunks; ``name`` is what the audit trail calls it, ``signals`` what it says about the whole document."""

    name: str
    signals: frozenset[Signal]

    def identity(self) -> Identity:
        """Everything that can change a score."""
        ...

    def rank(self, questions: Sequence[str], document: IndexedDocument) -> Ranking:
        """Score every chunk for every question; never called without questions or without chunks.

        Raises:
            RankerError: if the document can't be scored.
        """
        ...


class QuestionTerms:
    """The terms of the questions asked last: the same questions are asked of document after document."""

    def __init__(self, analyzer: TermAnalyzer) -> None:
        self._analyzer = analyzer
        self._last: tuple[list[str], AskedTerms] | None = None

    def of(self, questions: Sequence[str]) -> AskedTerms:
        """Return the terms of these questions."""
        asked = list(questions)
        if self._last is None or self._last[0] != asked:
            self._last = asked, AskedTerms([self._analyzer.terms(text) for text in asked])
        return self._last[1]


class LexicalRanker:
    """BM25 within the document over its chunks."""

    name = "bm25"
    signals = frozenset[Signal]({"coverage", "document_coverage"})

    def __init__(self, language: Language, k1: float, b: float) -> None:
        self._analyzer = TermAnalyzer(language)
        self._asked = QuestionTerms(self._analyzer)
        self._k1 = k1
        self._b = b

    def identity(self) -> Identity:
        """Analysis and BM25's parameters."""
        return {"ranker": self.name, "language": self._analyzer.language, "k1": self._k1, "b": self._b}

    def rank(self, questions: Sequence[str], document: IndexedDocument) -> Ranking:
        """Score by shared terms; a chunk that shares none is absent."""
        counts = document.analysed(self._analyzer.language, lambda: document_counts(document, self._analyzer))[0]
        match = LexicalIndex(counts, self._k1, self._b).match(self._asked.of(questions))
        signals: dict[Signal, NDArray[np.float64]] = {
            "coverage": match.coverage.max(axis=1),
            "document_coverage": match.document_coverage,
        }
        return Ranking(match.scores, signals)


class SectionBodyRanker:
    """BM25 over whole sections: a chunk scores what its section scores."""

    name = "section_body"
    signals = frozenset[Signal]()

    def __init__(self, language: Language, k1: float, b: float) -> None:
        self._analyzer = TermAnalyzer(language)
        self._asked = QuestionTerms(self._analyzer)
        self._k1 = k1
        self._b = b

    def identity(self) -> Identity:
        """Analysis and BM25's parameters."""
        return {"ranker": self.name, "language": self._analyzer.language, "k1": self._k1, "b": self._b}

    def rank(self, questions: Sequence[str], document: IndexedDocument) -> Ranking:
        """Score sections, heading included, and hand the score down to their chunks."""
        counts = document.analysed(self._analyzer.language, lambda: document_counts(document, self._analyzer))[1]
        match = LexicalIndex(counts, self._k1, self._b).match(self._asked.of(questions))
        return Ranking(match.scores[:, document.columns_of_sections()])


class DenseRanker:
    """Cosine over chunks, or over windows of a few sentences where a chunk scores as its best window.

    Args:
        vectors: the questions' vectors, shared with other rankers of the same embedder.
        embedder: embeds the passages.
        window_sentences: sentences a window, 0 to embed each chunk whole.
    """

    name = "dense"
    signals = frozenset[Signal]({"cosine", "cosine_margin"})

    def __init__(self, vectors: QuestionVectors, embedder: Embedder, window_sentences: int) -> None:
        self._vectors = vectors
        self._embedder = embedder
        self._window = window_sentences

    def identity(self) -> Identity:
        """The embedder and what is embedded."""
        return {"ranker": self.name, "window_sentences": self._window, "embedder": dict(self._embedder.identity())}

    def rank(self, questions: Sequence[str], document: IndexedDocument) -> Ranking:
        """Score by cosine; every chunk is proposed."""
        pieces = [
            [head + piece for piece in self._pieces(chunk.text)]
            for head, chunk in zip(document.heads, document.chunks, strict=True)
        ]
        starts = np.cumsum([0, *(len(texts) for texts in pieces[:-1])])
        passages = passage_vectors(self._embedder, [text for texts in pieces for text in texts])
        vectors = self._vectors.of(questions)
        by_piece = cosines(vectors, passages)
        scores = np.maximum.reduceat(by_piece, starts, axis=1)
        best = scores.max(axis=1)
        signals: dict[Signal, NDArray[np.float64]] = {"cosine": best, "cosine_margin": best - by_piece.mean(axis=1)}
        return Ranking(scores, signals, _unusable(scores))

    def _pieces(self, text: str) -> list[str]:
        if self._window == 0:
            return [text]
        return [text[start:end] for start, end in windows(text, self._window)] or [text]


class SectionTitleRanker:
    """Cosine between the question and a section's heading path: a chunk scores what its section scores."""

    name = "section_title"
    signals = frozenset[Signal]()

    def __init__(self, vectors: QuestionVectors, embedder: Embedder) -> None:
        self._vectors = vectors
        self._embedder = embedder

    def identity(self) -> Identity:
        """The embedder."""
        return {"ranker": self.name, "embedder": dict(self._embedder.identity())}

    def rank(self, questions: Sequence[str], document: IndexedDocument) -> Ranking:
        """Score headings, each with those above it, and hand the score down to the section's chunks."""
        paths = [" > ".join(section.heading_path) or section.heading for section in document.searchable_sections()]
        by_section = cosines(self._vectors.of(questions), passage_vectors(self._embedder, paths))
        scores = by_section[:, document.columns_of_sections()]
        return Ranking(scores, failures=_unusable(scores))


def _unusable(scores: Scores) -> dict[int, str]:
    bad = np.flatnonzero(~np.isfinite(scores).all(axis=1))
    return {int(row): "embedder: the question's vector has values that are not finite" for row in bad}
