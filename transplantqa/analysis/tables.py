"""What an audit reads and what it finds."""

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa


@dataclass(frozen=True)
class AuditTables:
    """The current rows of one run, with the schemas of ``transplantqa.store.tables``.

    ``judgements`` is used for token counts alone; without it only the answers' tokens are counted.
    """

    documents: pa.Table
    questions: pa.Table
    answers: pa.Table
    comparisons: pa.Table
    judgements: pa.Table | None = None


@dataclass(frozen=True)
class Findings:
    """Flat figures by name, and the tables they come from.

    A figure whose denominator is zero is absent from ``metrics``; its ``<name>_n`` is there and is 0. Nothing is NaN.
    """

    metrics: Mapping[str, float | int]
    tables: Mapping[str, pa.Table]

    def run_tables(self) -> dict[str, pa.Table]:
        """Return the tables as a run folder names them: ``by_`` before those whose name is a stage's own table's."""
        stages = {"questions", "documents"}
        return {f"by_{name}" if name in stages else name: table for name, table in self.tables.items()}

    def with_more(self, other: "Findings") -> "Findings":
        """Return these findings and others of the same run."""
        return Findings({**self.metrics, **other.metrics}, {**self.tables, **other.tables})
