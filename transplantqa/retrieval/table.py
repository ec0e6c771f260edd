"""Evidence as rows of its table: what a retriever yields."""

from collections.abc import Iterable, Sequence

import pyarrow as pa

from transplantqa.records import Evidence, evidence_from_row
from transplantqa.store.tables import EVIDENCE, STAGE_FIELDS

SCHEMA = pa.schema([field for field in EVIDENCE.schema if field.name not in {stage.name for stage in STAGE_FIELDS}])
"""The evidence table's columns that a retriever fills; the ledger adds the others."""


def evidence_batch(evidence: Sequence[Evidence]) -> pa.RecordBatch:
    """Return records as rows: for retrievers that decide a question at a time."""
    return pa.RecordBatch.from_pylist([one.row() for one in evidence], schema=SCHEMA)


def read_evidence(batches: Iterable[pa.RecordBatch]) -> list[Evidence]:
    """Return rows as records, in their order."""
    return [evidence_from_row(row) for batch in batches for row in batch.to_pylist()]
