"""From ranked chunks to the passages a generator reads: expansion, merging, token budget; many questions at once."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from transplantqa.corpus.chunking import sentences
from transplantqa.records import Passage, Section
from transplantqa.retrieval.indexed import IndexedDocument
from transplantqa.retrieval.layout import Places
from transplantqa.retrieval.protocols import SourceDocument
from transplantqa.retrieval.terms import TermAnalyzer
from transplantqa.retrieval.windows import best_run
from transplantqa.store.hashing import text_sha256
from transplantqa.store.tables import PASSAGE

Expansion = Literal["chunk", "section"]
PassageOrder = Literal["rank", "document"]
Focus = Callable[[str, int], tuple[int, int]]
"""From a chunk's text and a number of characters to the span to show when no more fit."""

KEPT = "kept"
MERGED = "kept: within a passage of a better chunk"
CUT = "kept: cut to the token budget"
OVER_BUDGET = "dropped: over the token budget"
REASONS = (KEPT, MERGED, CUT, OVER_BUDGET)
"""What becomes of a chosen chunk; ``Assembly.why`` holds their numbers."""


@dataclass(frozen=True)
class PassagePolicy:
    """How much of a document is shown.

    Args:
        evidence_tokens: the most tokens all passages together have, as the corpus's tokenizer counted them.
        expansion: a chosen chunk alone, or with its neighbours of the same section up to ``passage_tokens``.
        passage_tokens: the largest expanded passage; a chunk that is larger stands alone.
        order: passages best first, or as they stand in the document.
    """

    evidence_tokens: int
    expansion: Expansion
    passage_tokens: int
    order: PassageOrder


class Spans:
    """The distinct spans of a document that are shown, each made once; ``rank`` of their passages means nothing."""

    def __init__(self) -> None:
        self.all: list[Passage] = []
        self._known: dict[Hashable, int] = {}

    def number(self, key: Hashable, passage: Passage | Callable[[], Passage]) -> int:
        """Return the number of the span that ``key`` stands for, made only at its first use where that takes work."""
        if key not in self._known:
            self._known[key] = len(self.all)
            self.all.append(passage() if callable(passage) else passage)
        return self._known[key]


@dataclass(frozen=True)
class Shown:
    """Passages of many questions, flat: of each its question's row, the number of its span, its rank from 1.

    Passages of one row stand in the order shown.
    """

    rows: Places = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    spans: Places = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    ranks: Places = field(default_factory=lambda: np.zeros(0, dtype=np.intp))

    @classmethod
    def of(cls, rows: Places, spans: Sequence[int], ranks: Sequence[int]) -> "Shown":
        """Return the same passages shown for each of these rows."""
        return cls(np.repeat(rows, len(spans)), np.tile(spans, len(rows)), np.tile(ranks, len(rows)))


@dataclass(frozen=True)
class Assembly:
    """The passages, and for each choice (rows, best first) the number in ``REASONS`` of why it was kept or dropped."""

    shown: Shown
    why: NDArray[np.intp]


def assemble(document: IndexedDocument, chosen: Places, policy: PassagePolicy, spans: Spans) -> Assembly:
    """Turn chosen chunks into passages within the budget.

    Each chunk in turn is shown expanded if that fits, else alone if that fits, else dropped, and the next one is tried.
    Runs of neighbouring chunks that touch are one passage. Where not even the best chunk fits alone, nothing is shown:
    see ``cut``.

    Args:
        document: the document of the chunks.
        chosen: positions of chunks, a row a question, best first, without repeats, filled up with -1.
        policy: budget, expansion, order.
        spans: where the passages' spans are collected.
    """
    layout = document.layout
    steps = np.zeros((len(chosen), len(document.chunks)), dtype=np.intp)
    why = np.full(chosen.shape, REASONS.index(OVER_BUDGET), dtype=np.intp)
    attempts = [layout.grown(policy.passage_tokens)] if policy.expansion == "section" else []
    attempts.append(layout.alone())
    for step in range(chosen.shape[1]):
        left = np.flatnonzero(chosen[:, step] >= 0)
        places = layout.places[chosen[left, step]]
        held = steps[left, places] > 0
        why[left[held], step] = REASONS.index(MERGED)
        left, places = left[~held], places[~held]
        for runs in attempts:
            added = runs[places] & (steps[left] == 0)
            fits = layout.tokens_of((steps[left] > 0) | added) <= policy.evidence_tokens
            steps[left[fits]] += added[fits] * (step + 1)
            why[left[fits], step] = REASONS.index(KEPT)
            left, places = left[~fits], places[~fits]
    return Assembly(_shown(document, steps, policy.order, spans), why)


def _shown(document: IndexedDocument, steps: Places, order: PassageOrder, spans: Spans) -> Shown:
    """Return the runs of places that were reached; ``steps`` says by which choice each was, 0 where it wasn't."""
    layout = document.layout
    reached = steps > 0
    begins, ends = reached.copy(), reached.copy()
    same = layout.sections[1:] == layout.sections[:-1]
    begins[:, 1:] &= ~(reached[:, :-1] & same)
    ends[:, :-1] &= ~(reached[:, 1:] & same)
    rows, firsts = np.nonzero(begins)
    lasts = np.nonzero(ends)[1]
    if not len(rows):
        return Shown()
    inside = steps[reached]
    lengths = lasts - firsts + 1
    best = np.minimum.reduceat(inside, np.concatenate([[0], np.cumsum(lengths)[:-1]]))
    by_rank = np.lexsort((best, rows))
    ranks = np.empty(len(rows), dtype=np.intp)
    ranks[by_rank] = np.arange(len(rows)) - np.searchsorted(rows, rows[by_rank]) + 1
    keys, number_of = np.unique(firsts * len(document.chunks) + lasts, return_inverse=True)
    numbers = np.array([_run(document, *divmod(int(key), len(document.chunks)), spans) for key in keys])[number_of]
    if order == "rank":
        return Shown(rows[by_rank], numbers[by_rank], ranks[by_rank])
    return Shown(rows, numbers, ranks)


def _run(document: IndexedDocument, first: int, last: int, spans: Spans) -> int:
    def make() -> Passage:
        layout = document.layout
        members = [document.chunks[at] for at in layout.positions[first : last + 1]]
        section = document.sections[members[0].section_id]
        start, end = min(chunk.char_start for chunk in members), max(chunk.char_end for chunk in members)
        places = np.arange(len(layout.positions))
        tokens = layout.tokens_of(((places >= first) & (places <= last))[None])[0]
        return Passage(
            section_id=section.section_id,
            char_start=start,
            char_end=end,
            text_sha256=text_sha256(section.text[start:end]),
            page_start=min(chunk.page_start for chunk in members),
            page_end=max(chunk.page_end for chunk in members),
            tokens=int(tokens),
            rank=0,
        )

    return spans.number((first, last), make)


def cut(document: IndexedDocument, position: int, limit: int, focus: Focus) -> Passage:
    """Return the piece of a chunk that ``focus`` finds, for a chunk larger than ``limit`` tokens.

    Its tokens are the chunk's, shared out by characters and rounded up.
    """
    chunk = document.chunks[position]
    start, end = focus(chunk.text, len(chunk.text) * limit // chunk.tokens)
    start, end = chunk.char_start + start, chunk.char_start + end
    return Passage(
        section_id=chunk.section_id,
        char_start=start,
        char_end=end,
        text_sha256=text_sha256(document.sections[chunk.section_id].text[start:end]),
        page_start=chunk.page_start,
        page_end=chunk.page_end,
        tokens=min(limit, -(-chunk.tokens * (end - start) // len(chunk.text))),
        rank=1,
    )


def focus_on(question: str, analyzer: TermAnalyzer) -> Focus:
    """Return a focus on the run of sentences that shares most terms with the question, the first of equals."""
    wanted = set(analyzer.terms(question))

    def focus(text: str, max_chars: int) -> tuple[int, int]:
        spans = sentences(text)
        shared = [float(len(wanted.intersection(analyzer.terms(text[start:end])))) for start, end in spans]
        return best_run(spans, shared, max(1, max_chars))

    return focus


def whole_document(source: SourceDocument) -> tuple[Passage, ...]:
    """Return every section that has text, in reading order, ranked as they stand."""
    sections = (section for section in source.sections if section.text.strip())
    return tuple(_whole_section(section, rank) for rank, section in enumerate(sections, start=1))


@dataclass(frozen=True)
class Fitting:
    """Which whole sections fit: ``ranks`` from 1 in the order they were tried, 0 where one doesn't fit.

    Shape (questions, sections): columns are the document's ``passages``, in reading order.
    """

    passages: tuple[Passage, ...]
    ranks: Places


def fitting_sections(document: IndexedDocument, order: Places, counts: Places, limit: int) -> Fitting:
    """Choose whole sections that fit ``limit`` tokens.

    Sections are tried in the order of their best candidate, then the others in reading order; one that doesn't fit is
    passed over. When all fit, this is the whole document.

    Args:
        document: the document.
        order: positions of chunks, a row a question, best first.
        counts: how many of a row are candidates.
        limit: most tokens shown.
    """
    passages = whole_document(document.source)
    column = {passage.section_id: at for at, passage in enumerate(passages)}
    section_of = np.array([column[chunk.section_id] for chunk in document.chunks], dtype=np.intp)
    chunks = order.shape[1]
    best = np.tile(np.arange(chunks, chunks + len(passages)), (len(order), 1))
    places = np.broadcast_to(np.arange(chunks), order.shape)
    candidate = places < counts[:, None]
    np.minimum.at(best, (np.nonzero(candidate)[0], section_of[order[candidate]]), places[candidate])
    tokens = np.array([passage.tokens for passage in passages], dtype=np.intp)
    ranks = np.zeros(best.shape, dtype=np.intp)
    left, fitted = np.full(len(order), limit), np.zeros(len(order), dtype=np.intp)
    every = np.arange(len(order))
    for tried in np.argsort(best, axis=1, kind="stable").T:
        fits = tokens[tried] <= left
        fitted += fits
        left -= np.where(fits, tokens[tried], 0)
        ranks[every, tried] = np.where(fits, fitted, 0)
    return Fitting(passages, ranks)


def _whole_section(section: Section, rank: int) -> Passage:
    return Passage(
        section_id=section.section_id,
        char_start=0,
        char_end=len(section.text),
        text_sha256=text_sha256(section.text),
        page_start=section.page_start,
        page_end=section.page_end,
        tokens=section.tokens,
        rank=rank,
    )


def passage_lists(parts: Sequence[Shown], questions: int, spans: Spans) -> tuple[pa.ListArray, NDArray[np.int64]]:
    """Return the passages of each question as a column of the evidence table, and the tokens of each question's.

    Args:
        parts: passages; no row is in two parts.
        questions: number of rows.
        spans: what the passages' numbers stand for.
    """
    rows, numbers, ranks = (
        np.concatenate([getattr(part, name) for part in (Shown(), *parts)]) for name in ("rows", "spans", "ranks")
    )
    order = np.argsort(rows, kind="stable")
    picked = pa.array(numbers[order])
    columns = {
        field.name: pa.array([getattr(one, field.name) for one in spans.all], field.type).take(picked)
        for field in PASSAGE
    }
    columns["rank"] = pa.array(ranks[order], pa.int32())
    offsets = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=questions))]).astype(np.int32)
    values = pa.StructArray.from_arrays(list(columns.values()), fields=list(PASSAGE))
    tokens = np.array([one.tokens for one in spans.all], dtype=np.float64)
    totals = np.bincount(rows, weights=tokens[numbers], minlength=questions).astype(np.int64)
    return pa.ListArray.from_arrays(pa.array(offsets), values), totals
