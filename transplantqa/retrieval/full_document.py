"""The whole document as evidence: no retrieval at all."""

from collections.abc import Iterator, Sequence

from transplantqa.models.protocols import Identity
from transplantqa.records import Evidence, Question
from transplantqa.retrieval.decision import NO_TEXT, answerable, silent
from transplantqa.retrieval.passages import whole_document
from transplantqa.retrieval.protocols import SourceDocument


class FullDocument:
    """Every section of the document, in reading order; whether it fits is for the generator to find out and say."""

    def __init__(self) -> None:
        pass

    def identity(self) -> Identity:
        """Nothing but the method."""
        return {"retriever": type(self).__name__}

    def retrieve(self, questions: Sequence[Question], source: SourceDocument) -> Iterator[Evidence]:
        """Yield the same passages for each question."""
        passages = whole_document(source)
        name = source.document.document_id
        for question in questions:
            if passages:
                yield answerable(question, name, "full_document", passages)
            else:
                yield silent(question, name, NO_TEXT)
