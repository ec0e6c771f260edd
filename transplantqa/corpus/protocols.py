"""What the pipeline asks of a corpus and of a set of questions."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from transplantqa.corpus.ingested import IngestedDocument, SourceFile
from transplantqa.models.protocols import Identity
from transplantqa.records import Question


class Corpus(Protocol):
    """Documents that are listed cheaply and read one at a time."""

    def identity(self) -> Identity:
        """The method of ingestion; nothing about which documents there are."""
        ...

    def sources(self) -> Sequence[SourceFile]:
        """List the documents by id, unread; raises InputError with every problem of the listing."""
        ...

    def groups(self) -> Collection[str]:
        """Return the groups of the whole corpus, also of documents that ``sources`` was told to leave out."""
        ...

    def ingest(self, source: SourceFile) -> IngestedDocument:
        """Read one document; one that can't be read comes back rejected, with the reason."""
        ...

    def pictures(self, source: SourceFile, pages: int) -> Mapping[int, str]:
        """Return small pictures (base64 PNG) of a document's first pages by page number, as far as there are any."""
        ...

    def close(self) -> None:
        """Release what reading needed; the next ``ingest`` takes it again."""
        ...


class QuestionSource(Protocol):
    """Questions from wherever they are kept; ``gold`` is the file of what people found for them, if there is one."""

    gold: Path | None

    def load(self) -> Sequence[Question]:
        """Return the questions; raises InputError with every problem."""
        ...
