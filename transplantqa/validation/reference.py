"""People's labels as a table for corrected rates."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from transplantqa.errors import InputError
from transplantqa.store.run_folder import RunFolder
from transplantqa.validation.judged import judged_pairs, key_of

REFERENCE_FILE = "reference.parquet"
_FIXED = ("question_id", "document_a", "document_b", "answer_a_sha256", "answer_b_sha256", "stratum")

REFERENCE = pa.schema(
    [
        *(pa.field(name, pa.string(), nullable=False) for name in _FIXED),
        pa.field("inclusion_probability", pa.float64(), nullable=False),
        pa.field("stratum_pairs", pa.int64(), nullable=False),
        pa.field("judge_label", pa.string()),
        pa.field("judge_significance", pa.string()),
        pa.field("decided_by", pa.string()),
        pa.field("label", pa.string()),
        pa.field("significance", pa.string()),
        pa.field("decided", pa.string(), nullable=False),
        pa.field("ratings", pa.int32(), nullable=False),
    ]
)


def reference_table(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Return rows of ``Assessed.reference`` as a table."""
    return pa.Table.from_pylist([dict(row) for row in rows], schema=REFERENCE)


def labels_for(run: RunFolder, record: Path) -> pa.Table:
    """Return a record's reference labels of the pairs whose answers a run has, with what that run says of them.

    Raises:
        InputError: the record's table can't be read.
    """
    file = record / REFERENCE_FILE
    try:
        rows = pq.read_table(file, schema=REFERENCE).to_pylist()
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"{file}: can't be read ({error}).\nRun transplantqa validate agreement again.") from error
    judged = judged_pairs(run, rows)
    return reference_table(
        [
            {
                **row,
                "judge_label": judged[key_of(row)].label,
                "judge_significance": judged[key_of(row)].significance,
                "decided_by": judged[key_of(row)].decided_by,
            }
            for row in rows
            if key_of(row) in judged
        ]
    )
