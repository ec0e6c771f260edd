"""The rows that travel between stages, as frozen dataclasses whose fields are the columns of ``store.tables``."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Literal

Phase = str
Significance = Literal["low", "medium", "high"]
SilentSide = Literal["a", "b", "both"]
DecidedBy = Literal["prescreen", "identical", "judge"]
Route = Literal["full_document", "retrieved", "fallback", "none"]
Verdict = Literal["accept", "review", "reject"]


class Outcome(StrEnum):
    """How one unit of work ended; every unit ends in exactly one."""

    OK = "ok"
    ABSTAINED = "abstained"
    EMPTY_RETRIEVAL = "empty_retrieval"
    CONTEXT_OVERFLOW = "context_overflow"
    OUTPUT_TRUNCATED = "output_truncated"
    REASONING_UNCLOSED = "reasoning_unclosed"
    PARSE_FAILED = "parse_failed"
    ENGINE_ERROR = "engine_error"


SILENT_OUTCOMES = frozenset({Outcome.ABSTAINED, Outcome.EMPTY_RETRIEVAL})
FAILED_OUTCOMES = frozenset(Outcome) - SILENT_OUTCOMES - {Outcome.OK}


class Label(StrEnum):
    """The relation between two answers, in coverage-agreement order."""

    ABSENT = "ABSENT"
    CONSISTENT = "CONSISTENT"
    COMPLEMENTARY = "COMPLEMENTARY"
    DIVERGENT = "DIVERGENT"
    CONTRADICTORY = "CONTRADICTORY"


CONFLICT_LABELS = frozenset({Label.DIVERGENT, Label.CONTRADICTORY})


class Record:
    """Shared by all rows: conversion to the plain mapping a table stores."""

    def row(self) -> dict[str, Any]:
        """Return the row as nested plain values, keyed by column."""
        return asdict(self)  # type: ignore[call-overload, no-any-return]


@dataclass(frozen=True, slots=True)
class Document(Record):
    """One source, answered from on its own. ``verdict`` "reject" means unreadable: it is asked nothing."""

    document_id: str
    institution: str
    group: str
    phase: Phase | None
    title: str
    year: int | None
    source_file: str
    sha256: str
    pages: int
    characters: int
    tokens: int
    licence: str | None
    redistributable: bool
    verdict: Verdict
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Section(Record):
    """A headed part of a document; pages are physical, counted from 1; ``level`` 1 is the outermost."""

    section_id: str
    document_id: str
    order: int
    level: int
    heading: str
    heading_path: tuple[str, ...]
    page_start: int
    page_end: int
    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Chunk(Record):
    """A child of one section; ``text == section.text[char_start:char_end]``."""

    chunk_id: str
    document_id: str
    section_id: str
    order: int
    page_start: int
    page_end: int
    char_start: int
    char_end: int
    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Question(Record):
    """A question; no groups means general: asked of every document."""

    question_id: str
    text: str
    groups: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    subtopics: tuple[str, ...] = ()
    source: str | None = None


@dataclass(frozen=True, slots=True)
class RankerScore(Record):
    """Where one ranker put a chunk; rank counted from 1."""

    ranker: str
    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Candidate(Record):
    """A chunk some ranker proposed, and what became of it. ``why`` says in a few words why it was kept or dropped."""

    chunk_id: str
    rankers: tuple[RankerScore, ...]
    fused_score: float
    rerank_score: float | None
    kept: bool
    why: str


@dataclass(frozen=True, slots=True)
class Passage(Record):
    """A span of a section given to the generator: the text is ``section.text[char_start:char_end]``."""

    section_id: str
    char_start: int
    char_end: int
    text_sha256: str
    page_start: int
    page_end: int
    tokens: int
    rank: int


@dataclass(frozen=True, slots=True)
class Evidence(Record):
    """The passages for one (question, document), in the order shown, with the audit trail of their choice.

    ``outcome`` is ``ok``, ``empty_retrieval`` (the retriever says the document is silent) or ``engine_error``.
    ``top_score`` is the retriever's calibrated confidence in [0, 1] that the document addresses the question, or null
    where the route has none.
    """

    question_id: str
    document_id: str
    route: Route
    passages: tuple[Passage, ...]
    candidates: tuple[Candidate, ...]
    top_score: float | None
    tokens: int
    outcome: Outcome
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Citation(Record):
    """A section an answer names; ``valid`` when that section was among the evidence given."""

    heading: str
    page: int | None
    valid: bool


@dataclass(frozen=True, slots=True)
class Answer(Record):
    """One generated text for one (question, document): ``ok`` answered, silent, or failed. Seconds are wall clock."""

    question_id: str
    document_id: str
    outcome: Outcome
    text: str
    citations: tuple[Citation, ...] = ()
    reasoning: str | None = None
    raw: str = ""
    finish_reason: str | None = None
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    variant: str = "default"
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Judgement(Record):
    """One judging of one unordered pair (``document_a < document_b``); only an ``ok`` outcome has a label."""

    question_id: str
    document_a: str
    document_b: str
    outcome: Outcome
    shown_first: Literal["a", "b"]
    label: Label | None = None
    silent_side: SilentSide | None = None
    reasoning: str | None = None
    divergence_topic: str | None = None
    significance: Significance | None = None
    raw: str = ""
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    replicate: int = 0
    variant: str = "default"
    error: str | None = None


@dataclass(frozen=True, slots=True)
class GoldEvidence(Record):
    """What a person found: quotes of the document that address the question and the stance they take, or silence."""

    question_id: str
    document_id: str
    silent: bool
    stance: str | None = None
    quotes: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class GoldPair(Record):
    """The relation between two documents' stances on one question, as authored."""

    question_id: str
    document_a: str
    document_b: str
    label: Label
    also_acceptable: tuple[Label, ...] = ()
    topic: str | None = None
    significance: Significance | None = None


def evidence_from_row(row: Mapping[str, Any]) -> Evidence:
    """Return the evidence a row of the evidence table holds."""
    values = {name: row[name] for name in Evidence.__dataclass_fields__}
    values["passages"] = tuple(Passage(**passage) for passage in row["passages"])
    values["candidates"] = tuple(_candidate(candidate) for candidate in row["candidates"])
    values["outcome"] = Outcome(row["outcome"])
    return Evidence(**values)


def _candidate(row: Mapping[str, Any]) -> Candidate:
    return Candidate(**{**row, "rankers": tuple(RankerScore(**score) for score in row["rankers"])})


def answer_from_row(row: Mapping[str, Any]) -> Answer:
    """Return the answer a row of the answers table holds."""
    values = {name: row[name] for name in Answer.__dataclass_fields__}
    values["outcome"] = Outcome(row["outcome"])
    values["citations"] = tuple(Citation(**citation) for citation in row["citations"])
    return Answer(**values)


def judgement_from_row(row: Mapping[str, Any]) -> Judgement:
    """Return the judgement a row of the judgements table holds."""
    values = {name: row[name] for name in Judgement.__dataclass_fields__}
    values["outcome"] = Outcome(row["outcome"])
    values["label"] = None if row["label"] is None else Label(row["label"])
    return Judgement(**values)
