"""What the pipeline asks of a generator."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from transplantqa.models.protocols import Identity
from transplantqa.records import Answer, Evidence, Question


@dataclass(frozen=True, slots=True)
class ResolvedPassage:
    """A passage with its text and where it stands: the heading path and physical pages a citation can name."""

    section_id: str
    heading_path: tuple[str, ...]
    page_start: int
    page_end: int
    text: str


@dataclass(frozen=True, slots=True)
class Cell:
    """A question asked of a document, with the evidence found. ``passages`` resolves ``evidence.passages`` in order."""

    question: Question
    evidence: Evidence
    passages: tuple[ResolvedPassage, ...]

    @property
    def document_id(self) -> str:
        """The document asked."""
        return self.evidence.document_id


class Generator(Protocol):
    """Answers cells from their evidence alone."""

    def identity(self) -> Identity:
        """Everything that can change an answer: prompt, schema, model, sampling, thresholds."""
        ...

    def answer(self, cells: Iterable[Cell]) -> Iterator[Answer]:
        """Yield one answer a cell, in completion order; failures are answers with their outcome, never exceptions."""
        ...

    def close(self) -> None:
        """Release the model's memory."""
        ...
