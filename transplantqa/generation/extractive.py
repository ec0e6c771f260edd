"""The baseline generator: quotes the sentences that fit the question best, without a language model."""

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Annotated

from pydantic import Field

from transplantqa.generation import citations
from transplantqa.generation.lexical import content_stems, sentences
from transplantqa.generation.protocols import Cell, ResolvedPassage
from transplantqa.generation.skipped import without_call
from transplantqa.models.protocols import Embedder, Identity, Vectors
from transplantqa.records import Answer, Citation, Outcome

METHOD = "extractive-1"
HEADING_WEIGHT = 0.5
"""A question word found in the heading alone counts half. Ours."""
NEIGHBOUR_WEIGHT = 0.3
"""A question word found in the sentence before or after alone. Ours."""
EMBEDDED_CANDIDATES = 60
"""Sentences the embedder compares a question with: the lexically best, for speed. Ours."""
LEXICAL_WEIGHT = 0.4
"""Of words against meaning, with an embedder; flat between 0.2 and 0.5 on the sample's gold. Ours."""
SHARE_OF_BEST = 0.7
"""A further sentence of the best passage is quoted when it scores at least this share of the best one. Ours."""
LONGEST_LIST = 4
"""List items quoted after a sentence that ends in a colon. Ours."""

BATCH_CELLS = 256
"""Cells whose sentences are embedded together; changes no answer. Ours."""
MOST_VECTORS = 50_000
"""Sentence vectors kept in memory: 75 MB at 384 dimensions. Ours."""

Share = Annotated[float, Field(ge=0.0, le=1.0)]


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    headed: str
    passage: int
    order: int
    stems: frozenset[str]
    around: frozenset[str]
    heading: frozenset[str]


class Extractive:
    """Answers with verbatim sentences of one passage, citing its heading and page; silent below a score.

    A sentence's score is the share, weighted by inverse document frequency over the evidence's sentences, of the
    question's content words that it, its heading (half) or its neighbours (0.3) contain; with an embedder, 0.4 of that
    and 0.6 of the cosine of the question and the sentence under its heading. Grounded by construction, deterministic;
    ties go to the earlier passage and sentence.

    Args:
        silence_below: best score under which the document is taken to be silent.
        max_sentences: most sentences quoted, list items apart.
        embedder: compares meaning besides words; none: words alone.
        abstention: the standard reply of a silent document.
    """

    def __init__(
        self,
        *,
        silence_below: Share,
        max_sentences: Annotated[int, Field(ge=1, le=20)] = 2,
        embedder: Embedder | None = None,
        abstention: str = "NOT ADDRESSED",
    ) -> None:
        self._silence_below = silence_below
        self._max_sentences = max_sentences
        self._embedder = embedder
        self._abstention = abstention
        self._sentences: dict[str, Vectors] = {}
        self._questions: dict[str, Vectors] = {}

    def identity(self) -> Identity:
        """Method and thresholds, and the embedder's identity."""
        return {
            "method": METHOD,
            "silence_below": self._silence_below,
            "max_sentences": self._max_sentences,
            "abstention": self._abstention,
            "embedder": None if self._embedder is None else dict(self._embedder.identity()),
        }

    def answer(self, cells: Iterable[Cell]) -> Iterator[Answer]:
        """Yield one answer a cell, in the order given; sentences are embedded for many cells at a time."""
        waiting = iter(cells)
        while batch := list(islice(waiting, BATCH_CELLS)):
            skipped = [without_call(cell, self._abstention) for cell in batch]
            self._embed([cell for cell, answer in zip(batch, skipped, strict=True) if answer is None])
            for cell, answer in zip(batch, skipped, strict=True):
                yield answer or self._extract(cell)

    def close(self) -> None:
        """Forget vectors."""
        self._sentences.clear()
        self._questions.clear()

    def score(self, cell: Cell) -> float:
        """Return the best sentence's score in [0, 1], for calibrating ``silence_below``; 0 without sentences."""
        self._embed([cell])
        ranked = self._rank(cell)
        return ranked[0][0] if ranked else 0.0

    def _extract(self, cell: Cell) -> Answer:
        started = time.perf_counter()
        ranked = self._rank(cell)
        question_id, document_id = cell.question.question_id, cell.document_id
        if not ranked or ranked[0][0] < self._silence_below:
            seconds = time.perf_counter() - started
            return Answer(question_id, document_id, Outcome.ABSTAINED, self._abstention, seconds=seconds)
        passage = cell.passages[ranked[0][1].passage]
        chosen = _chosen(ranked, self._max_sentences)
        quote = " ".join(_with_lists(chosen, _sentences_of(cell.passages)))
        heading = passage.heading_path[-1] if passage.heading_path else "Untitled section"
        return Answer(
            question_id,
            document_id,
            Outcome.OK,
            f"“{quote}” [{citations.reference(passage)}]",
            citations=(Citation(heading, passage.page_start, valid=True),),
            raw=quote,
            seconds=time.perf_counter() - started,
        )

    def _rank(self, cell: Cell) -> list[tuple[float, _Sentence]]:
        scored = _by_words(cell)
        if self._embedder is None or not scored:
            return scored
        query = self._questions[cell.question.text]
        blended = []
        for words, sentence in scored[:EMBEDDED_CANDIDATES]:
            meaning = max(0.0, float(query @ self._sentences[sentence.headed]))
            blended.append((round(LEXICAL_WEIGHT * words + (1 - LEXICAL_WEIGHT) * meaning, 6), sentence))
        return sorted(blended, key=lambda item: (-item[0], item[1].passage, item[1].order))

    def _embed(self, cells: Sequence[Cell]) -> None:
        """Embed the questions and candidate sentences of these cells that have no vector yet, in one call each."""
        if self._embedder is None:
            return
        if len(self._sentences) > MOST_VECTORS:
            self._sentences.clear()
        candidates = [sentence.headed for cell in cells for _, sentence in _by_words(cell)[:EMBEDDED_CANDIDATES]]
        _fill(self._sentences, candidates, self._embedder.embed_passages)
        _fill(self._questions, [cell.question.text for cell in cells], self._embedder.embed_queries)


def _fill(vectors: dict[str, Vectors], texts: Sequence[str], embed: Callable[[Sequence[str]], Vectors]) -> None:
    missing = [text for text in dict.fromkeys(texts) if text not in vectors]
    if missing:
        vectors.update(zip(missing, embed(missing), strict=True))


def _by_words(cell: Cell) -> list[tuple[float, _Sentence]]:
    """Rank the evidence's sentences by the question's words alone."""
    candidates = _sentences_of(cell.passages)
    weights = _idf(frozenset(content_stems(cell.question.text)), candidates)
    scored = [(_coverage(sentence, weights), sentence) for sentence in candidates]
    return sorted(scored, key=lambda item: (-item[0], item[1].passage, item[1].order))


@lru_cache(maxsize=4096)
def _parsed(text: str) -> tuple[tuple[str, frozenset[str]], ...]:
    return tuple((sentence, frozenset(content_stems(sentence))) for sentence in sentences(text))


def _sentences_of(passages: Sequence[ResolvedPassage]) -> list[_Sentence]:
    found: list[_Sentence] = []
    for number, passage in enumerate(passages):
        heading = frozenset(content_stems(" ".join(passage.heading_path)))
        title = passage.heading_path[-1] if passage.heading_path else ""
        parsed = _parsed(passage.text)
        for order, (text, stems) in enumerate(parsed):
            before = parsed[order - 1][1] if order else frozenset()
            after = parsed[order + 1][1] if order + 1 < len(parsed) else frozenset()
            if stems:
                found.append(_Sentence(text, f"{title}. {text}", number, order, stems, before | after, heading))
    return found


def _idf(wanted: frozenset[str], candidates: Sequence[_Sentence]) -> dict[str, float]:
    """Inverse document frequency over sentences, as in BM25 (never negative); unseen words weigh most."""
    frequency = Counter(stem for sentence in candidates for stem in wanted & sentence.stems)
    total = len(candidates)
    return {stem: math.log(1.0 + (total - frequency[stem] + 0.5) / (frequency[stem] + 0.5)) for stem in sorted(wanted)}


def _coverage(sentence: _Sentence, weights: dict[str, float]) -> float:
    total = sum(weights.values())
    if not total:
        return 0.0
    gained = 0.0
    for stem, weight in weights.items():
        if stem in sentence.stems:
            gained += weight
        elif stem in sentence.heading:
            gained += HEADING_WEIGHT * weight
        elif stem in sentence.around:
            gained += NEIGHBOUR_WEIGHT * weight
    return round(gained / total, 6)


def _chosen(ranked: Sequence[tuple[float, _Sentence]], most: int) -> list[_Sentence]:
    best_score, best = ranked[0]
    near = [
        sentence
        for score, sentence in ranked
        if sentence.passage == best.passage and score >= SHARE_OF_BEST * best_score
    ]
    return sorted(near[:most], key=lambda sentence: sentence.order)


def _with_lists(chosen: Sequence[_Sentence], every: Sequence[_Sentence]) -> list[str]:
    """The chosen sentences, and after one that ends in a colon the list it opens."""
    following = {(sentence.passage, sentence.order): sentence for sentence in every}
    quoted: dict[int, str] = {}
    for sentence in chosen:
        quoted[sentence.order] = sentence.text
        if sentence.text.endswith(":"):
            for order in range(sentence.order + 1, sentence.order + 1 + LONGEST_LIST):
                item = following.get((sentence.passage, order))
                if item is not None:
                    quoted[order] = item.text
    return [quoted[order] for order in sorted(quoted)]
