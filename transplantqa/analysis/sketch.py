"""Small audits written out cell by cell, for tests of anything that reads an audit's tables."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from transplantqa.analysis.tables import AuditTables
from transplantqa.store.tables import ANSWERS, COMPARISONS, DOCUMENTS, QUESTIONS

Row = dict[str, Any]


def _blank(schema: pa.Schema) -> Row:
    """Return a row of empty text, zeros, false and nulls."""
    row: Row = {}
    for column in schema:
        if column.nullable:
            row[column.name] = None
        elif pa.types.is_list(column.type):
            row[column.name] = []
        elif pa.types.is_string(column.type):
            row[column.name] = ""
        elif pa.types.is_boolean(column.type):
            row[column.name] = False
        else:
            row[column.name] = 0
    return row


@dataclass
class Sketch:
    """An audit in the making: only cells that are named exist; methods return the sketch, so that calls chain."""

    documents: dict[str, Row] = field(default_factory=dict)
    questions: dict[str, Row] = field(default_factory=dict)
    cells: dict[tuple[str, str], str] = field(default_factory=dict)
    compared: dict[tuple[str, str, str], Row] = field(default_factory=dict)

    def document(self, name: str, institution: str | None = None, **columns: object) -> "Sketch":
        """Add a document, by default of an institution of its own, with columns of the documents table."""
        self.documents[name] = {"institution": institution or f"of {name}", "verdict": "accept", **columns}
        return self

    def question(self, name: str, cells: Mapping[str, str], **columns: object) -> "Sketch":
        """Add a question and the outcome of each of its cells by document."""
        self.questions[name] = columns
        self.cells |= {(name, document): outcome for document, outcome in cells.items()}
        return self

    def compare(self, question: str, a: str, b: str, label: str | None, **columns: object) -> "Sketch":
        """Add the judge's comparison of a pair, ended ok unless ``columns`` says otherwise."""
        self.compared[question, a, b] = {"outcome": "ok", "label": label, "decided_by": "judge", **columns}
        return self

    def tables(self) -> AuditTables:
        """Return the audit's tables."""
        return AuditTables(
            documents=_table(DOCUMENTS.schema, [{"document_id": name, **row} for name, row in self.documents.items()]),
            questions=_table(QUESTIONS.schema, [{"question_id": name, **row} for name, row in self.questions.items()]),
            answers=_table(
                ANSWERS.schema,
                [
                    {"question_id": question, "document_id": document, "variant": "default", "outcome": outcome}
                    for (question, document), outcome in self.cells.items()
                ],
            ),
            comparisons=_table(
                COMPARISONS.schema,
                [
                    {"question_id": question, "document_a": a, "document_b": b, **row}
                    for (question, a, b), row in self.compared.items()
                ],
            ),
        )


def _table(schema: pa.Schema, rows: list[Row]) -> pa.Table:
    return pa.Table.from_pylist([_blank(schema) | row for row in rows], schema=schema)
