"""Retrievers that answer for one document from another one."""

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from transplantqa.retrieval.protocols import Retriever, SourceDocument


@runtime_checkable
class ReadsElsewhere(Protocol):
    """A retriever whose evidence for a document comes from a document that it names itself."""

    def source_of(self, document_id: str, sources: Mapping[str, SourceDocument]) -> str:
        """Return the id of the document to read instead of ``document_id``."""
        ...


def source_read(retriever: Retriever, document_id: str, sources: Mapping[str, SourceDocument]) -> SourceDocument:
    """Return the document that a retriever reads when asked about ``document_id``: nearly always that one."""
    if isinstance(retriever, ReadsElsewhere):
        return sources[retriever.source_of(document_id, sources)]
    return sources[document_id]
