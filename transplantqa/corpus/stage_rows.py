"""Ingested documents as rows of the ingest table, and back."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from transplantqa.corpus.ingested import IngestedDocument
from transplantqa.records import Chunk, Document, Section
from transplantqa.retrieval.protocols import SourceDocument


def to_row(ingested: IngestedDocument) -> dict[str, Any]:
    """Return the row of the ingest table, but for the columns its ledger adds."""
    row = ingested.document.row()
    row["outcome"] = ingested.outcome.value
    row["headings_from"] = ingested.headings_from
    row["removed"] = [{"kind": kind, "count": count} for kind, count in sorted(ingested.removed.items())]
    row["removed_texts"] = [
        {**asdict(removed), "spans": [{"start": start, "end": end} for start, end in removed.spans]}
        for removed in ingested.removed_texts
    ]
    row["page_labels"] = list(ingested.page_labels)
    row["page_facts"] = [{**asdict(page), "reasons": list(page.reasons)} for page in ingested.pages]
    row["sections"] = [section.row() for section in ingested.sections]
    row["chunks"] = [chunk.row() for chunk in ingested.chunks]
    return row


def from_row(row: Mapping[str, Any]) -> SourceDocument:
    """Rebuild a document from a row of the ingest table."""
    document = Document(
        **{name: row[name] for name in Document.__dataclass_fields__ if name != "reasons"},
        reasons=tuple(row["reasons"]),
    )
    sections = tuple(
        Section(**{**section, "heading_path": tuple(section["heading_path"])}) for section in row["sections"]
    )
    return SourceDocument(document, sections, tuple(Chunk(**chunk) for chunk in row["chunks"]))
