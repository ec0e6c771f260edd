"""The whole document as evidence: no retrieval at all."""

from collections.abc import Iterator, Sequence

import pyarrow as pa

from transplantqa.models.protocols import Identity
from transplantqa.records import Question
from transplantqa.retrieval.decision import NO_TEXT, Decision
from transplantqa.retrieval.found import Found
from transplantqa.retrieval.indexed import index_document
from transplantqa.retrieval.protocols import SourceDocument


class FullDocument:
    """Every section of the document, in reading order; whether it fits is for the generator to find out and say."""

    def __init__(self) -> None:
        pass

    def identity(self) -> Identity:
        """Nothing but the method."""
        return {"retriever": type(self).__name__}

    def retrieve(self, questions: Sequence[Question], source: SourceDocument) -> Iterator[pa.RecordBatch]:
        """Yield the same passages for each question."""
        document = index_document(source)
        decision = Decision(Found.nothing(questions, len(document.chunks)), document)
        if any(section.text.strip() for section in source.sections):
            decision.show_whole(decision.rows, "the document is shown whole")
        else:
            decision.silence(decision.rows, NO_TEXT)
        yield decision.batch()
