"""What the pipeline asks of a retriever."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from transplantqa.models.protocols import Identity
from transplantqa.records import Chunk, Document, Question, Section


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """A readable document with its sections and chunks, both in reading order."""

    document: Document
    sections: tuple[Section, ...]
    chunks: tuple[Chunk, ...]


class Retriever(Protocol):
    """Chooses evidence for questions within one document at a time."""

    def identity(self) -> Identity:
        """Everything that can change the evidence, the embedder's and reranker's identity included."""
        ...

    def retrieve(self, questions: Sequence[Question], source: SourceDocument) -> Iterator[pa.RecordBatch]:
        """Yield rows of the evidence table (``table.SCHEMA``), one a question, in the order given, some at a time.

        A question that fails gets a row with its reason and no passages. Who decides a question at a time makes rows
        of records with ``table.evidence_batch``.
        """
        ...
