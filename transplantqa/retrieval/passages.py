"""From ranked chunks to the passages a generator reads: expansion, merging and the token budget."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from transplantqa.corpus.chunking import sentences
from transplantqa.records import Passage, Section
from transplantqa.retrieval.indexed import IndexedDocument
from transplantqa.retrieval.protocols import SourceDocument
from transplantqa.retrieval.terms import TermAnalyzer
from transplantqa.retrieval.windows import best_run
from transplantqa.store.hashing import text_sha256

Expansion = Literal["chunk", "section"]
PassageOrder = Literal["rank", "document"]
Focus = Callable[[str, int], tuple[int, int]]
"""From a chunk's text and a number of characters to the span to show when no more fit."""

KEPT = "kept"
MERGED = "kept: within a passage of a better chunk"
CUT = "kept: cut to the token budget"
OVER_BUDGET = "dropped: over the token budget"


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


@dataclass(frozen=True)
class Assembly:
    """The passages in the order shown, and for each chosen chunk's position why it was kept or dropped."""

    passages: tuple[Passage, ...]
    why: dict[int, str]


@dataclass
class _Run:
    """Neighbouring chunks of one section, as places in its reading order, both ends included; ``rank`` of its best."""

    section_id: str
    first: int
    last: int
    rank: int


@dataclass
class _Shown:
    document: IndexedDocument
    runs: dict[str, list[_Run]] = field(default_factory=dict)
    tokens: int = 0

    def run_tokens(self, run: _Run) -> int:
        """Tokens of a run: its chunks' sum, an upper bound where they overlap, and never more than the section's."""
        members = self.document.siblings[run.section_id]
        total = sum(self.document.chunks[at].tokens for at in members[run.first : run.last + 1])
        whole = run.first == 0 and run.last == len(members) - 1
        return min(total, self.document.sections[run.section_id].tokens) if whole else total

    def holds(self, section_id: str, place: int) -> bool:
        """Whether a chunk is already shown."""
        return any(run.first <= place <= run.last for run in self.runs.get(section_id, ()))

    def add(self, run: _Run, limit: int) -> bool:
        """Show a run, merged with those it touches, unless that goes over ``limit`` tokens."""
        old = self.runs.get(run.section_id, [])
        touching = [other for other in old if other.first <= run.last + 1 and run.first <= other.last + 1]
        merged = _Run(
            run.section_id,
            min(run.first, *(other.first for other in touching)) if touching else run.first,
            max(run.last, *(other.last for other in touching)) if touching else run.last,
            min(run.rank, *(other.rank for other in touching)) if touching else run.rank,
        )
        tokens = self.tokens + self.run_tokens(merged) - sum(self.run_tokens(other) for other in touching)
        if tokens > limit:
            return False
        self.tokens = tokens
        self.runs[run.section_id] = [other for other in old if other not in touching] + [merged]
        return True


def assemble(document: IndexedDocument, chosen: Sequence[int], policy: PassagePolicy, focus: Focus) -> Assembly:
    """Turn chosen chunks (positions, best first) into passages within the budget.

    Each chunk in turn is shown expanded if that fits, else alone if that fits, else dropped, and the next one is tried.
    When not even the best chunk fits alone, it is cut to the piece that ``focus`` finds. Runs that touch are merged.

    Args:
        document: the document of the chunks.
        chosen: positions of chunks without repeats, best first.
        policy: budget, expansion, order.
        focus: chooses the piece; made by ``focus_on``.
    """
    shown = _Shown(document)
    why: dict[int, str] = {}
    for rank, position in enumerate(chosen, start=1):
        section_id = document.chunks[position].section_id
        place = document.siblings[section_id].index(position)
        if shown.holds(section_id, place):
            why[position] = MERGED
        elif any(
            shown.add(run, policy.evidence_tokens) for run in _attempts(document, section_id, place, rank, policy)
        ):
            why[position] = KEPT
        else:
            why[position] = OVER_BUDGET
    if chosen and not shown.runs:
        best = chosen[0]
        return Assembly((_cut(document, best, policy.evidence_tokens, focus),), {**why, best: CUT})
    return Assembly(_passages(shown, policy.order), why)


def _attempts(
    document: IndexedDocument, section_id: str, place: int, rank: int, policy: PassagePolicy
) -> Iterator[_Run]:
    if policy.expansion == "section":
        tokens = [document.chunks[at].tokens for at in document.siblings[section_id]]
        yield _Run(section_id, *_grown(tokens, place, policy.passage_tokens), rank)
    yield _Run(section_id, place, place, rank)


def _grown(tokens: Sequence[int], place: int, limit: int) -> tuple[int, int]:
    """Grow a run from one chunk by turns forwards and backwards while it fits ``limit`` tokens."""
    first = last = place
    total = tokens[place]
    forwards, backwards = True, True
    while forwards or backwards:
        forwards = forwards and last + 1 < len(tokens) and total + tokens[last + 1] <= limit
        if forwards:
            last += 1
            total += tokens[last]
        backwards = backwards and first > 0 and total + tokens[first - 1] <= limit
        if backwards:
            first -= 1
            total += tokens[first]
    return first, last


def _passages(shown: _Shown, order: PassageOrder) -> tuple[Passage, ...]:
    runs = sorted((run for runs in shown.runs.values() for run in runs), key=lambda run: run.rank)
    made = [_passage(shown, run, rank) for rank, run in enumerate(runs, start=1)]
    if order == "document":
        sections = shown.document.sections
        made.sort(key=lambda passage: (sections[passage.section_id].order, passage.char_start))
    return tuple(made)


def _passage(shown: _Shown, run: _Run, rank: int) -> Passage:
    document = shown.document
    members = [document.chunks[at] for at in document.siblings[run.section_id][run.first : run.last + 1]]
    return Passage(
        section_id=run.section_id,
        char_start=(start := min(chunk.char_start for chunk in members)),
        char_end=(end := max(chunk.char_end for chunk in members)),
        text_sha256=text_sha256(document.sections[run.section_id].text[start:end]),
        page_start=min(chunk.page_start for chunk in members),
        page_end=max(chunk.page_end for chunk in members),
        tokens=shown.run_tokens(run),
        rank=rank,
    )


def _cut(document: IndexedDocument, position: int, limit: int, focus: Focus) -> Passage:
    """Show a piece of a chunk; its tokens are the chunk's, shared out by characters and rounded up."""
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


def fitting_sections(document: IndexedDocument, ranked: Sequence[int], limit: int) -> tuple[Passage, ...]:
    """Return whole sections that fit ``limit`` tokens, in reading order.

    Sections are tried in the order of their best chunk among ``ranked`` (positions, best first), then the others in
    reading order; one that doesn't fit is passed over. When all fit, this is the whole document.
    """
    by_rank = [document.chunks[position].section_id for position in ranked]
    in_order = [section.section_id for section in document.source.sections if section.text.strip()]
    passages: list[Passage] = []
    left = limit
    for section_id in dict.fromkeys([*by_rank, *in_order]):
        section = document.sections[section_id]
        if section.tokens <= left:
            left -= section.tokens
            passages.append(_whole_section(section, len(passages) + 1))
    return tuple(sorted(passages, key=lambda passage: document.sections[passage.section_id].order))


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
