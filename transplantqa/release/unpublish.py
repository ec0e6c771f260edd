"""From published rows back to a run's rows: the inverse of ``publish`` as far as what was published goes."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from transplantqa.analysis.themes import THEMES
from transplantqa.errors import InputError
from transplantqa.release.features import LABELS, SHARED_SPLIT
from transplantqa.release.record import ReleaseRecord, table_path
from transplantqa.store import tables as t

UNPUBLISHED = {"raw": "", "error": None, "sha256": "", "reasoning": None}
"""Columns that a run has and a release hasn't, or not always, with what stands there instead."""

_LABELS = pa.array(LABELS, pa.string())


def run_tables(
    folder: Path, record: ReleaseRecord, split: str, question_ids: Sequence[str], document_ids: Sequence[str]
) -> dict[str, pa.Table]:
    """Return a system's tables with the schemas of a run; sections only of documents whose text was published.

    Args:
        folder: the release.
        record: its record.
        split: the system's split.
        question_ids: the system's questions, in its order.
        document_ids: the system's documents, in its order.

    Raises:
        InputError: a table lacks a column, a question or a document, or can't be read.
    """
    documents = _in_order(_read(folder, record, "documents", SHARED_SPLIT), "document_id", document_ids)
    questions = _in_order(_read(folder, record, "questions", SHARED_SPLIT), "question_id", question_ids)
    found = {
        "documents": _shaped(documents, t.DOCUMENTS.schema),
        "sections": _sections(documents),
        "chunks": t.CHUNKS.schema.empty_table(),
        "questions": _shaped(questions, t.QUESTIONS.schema),
        **{
            spec.name: _shaped(_worded(_read(folder, record, spec.name, split)), spec.schema)
            for spec in (t.EVIDENCE, t.ANSWERS, t.COMPARISONS, t.JUDGEMENTS)
        },
    }
    if split in record.rows.get("themes", {}):
        found["themes"] = _shaped(_read(folder, record, "themes", split), THEMES)
    if split in record.rows.get("judge_validation", {}):
        found["judge_validation"] = _worded(_read(folder, record, "judge_validation", split))
    return found


def _read(folder: Path, record: ReleaseRecord, config: str, split: str) -> pa.Table:
    """Read a split; one that isn't there has no rows."""
    if split not in record.rows.get(config, {}):
        from datasets import Features  # noqa: PLC0415 - heavy

        return Features.from_dict(dict(record.schemas[config])).arrow_schema.empty_table()
    path = folder / table_path(config, split)
    try:
        return pq.read_table(path)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path}: can't be read as Parquet ({error}).\nPull it again.") from error


def _in_order(table: pa.Table, key: str, ids: Sequence[str]) -> pa.Table:
    places = pc.index_in(pa.array(ids, pa.string()), value_set=table[key].combine_chunks())
    if places.null_count:
        missing = [name for name, place in zip(ids, places.to_pylist(), strict=True) if place is None]
        raise InputError(f"The release has no {key} {missing[0]!r}, which its manifest names.\nPull another revision.")
    return table.take(places)


def _worded(table: pa.Table) -> pa.Table:
    """Write class labels as words."""
    for name in ("label", "judge_label"):
        if name in table.column_names:
            words = _LABELS.take(table[name].combine_chunks().cast(pa.int64()))
            table = table.set_column(table.column_names.index(name), name, words)
    return table.replace_schema_metadata(None)


def _sections(documents: pa.Table) -> pa.Table:
    nested = documents["sections"].combine_chunks()
    rows = pc.list_parent_indices(nested)
    structs = nested.flatten()
    columns = {field.name: structs.field(place) for place, field in enumerate(structs.type)}
    columns["document_id"] = documents["document_id"].combine_chunks().take(rows)
    return _shaped(pa.table(columns), t.SECTIONS.schema)


def _shaped(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return the columns of a schema; what a release doesn't have is filled as ``UNPUBLISHED`` says."""
    absent = [name for name in schema.names if name not in table.column_names and name not in UNPUBLISHED]
    if absent:
        raise InputError(f"The release has no column {', '.join(absent)}.\nIt was made by another version.")
    columns = []
    for field in schema:
        if field.name not in table.column_names:
            column = pa.array([UNPUBLISHED[field.name]] * table.num_rows, field.type)
        else:
            column = _conformed(table[field.name], field)
        columns.append(column)
    return pa.Table.from_arrays(columns, schema=schema)


def _conformed(column: pa.ChunkedArray, field: pa.Field) -> pa.ChunkedArray:
    if field.name in UNPUBLISHED and not field.nullable:
        column = pc.fill_null(column, UNPUBLISHED[field.name])
    if not field.nullable and column.null_count:
        raise InputError(f"The release has rows without {field.name}.\nPull another revision.")
    return _cast(column, field.type)


def _cast(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    if pa.types.is_list(kind) and pa.types.is_struct(kind.value_type):
        array = column.combine_chunks()
        structs = array.flatten()
        names = [structs.type.field(place).name for place in range(structs.type.num_fields)]
        kept = [_cast(pa.chunked_array([structs.field(names.index(f.name))]), f.type) for f in kind.value_type]
        parts = [part.combine_chunks() if isinstance(part, pa.ChunkedArray) else part for part in kept]
        lengths = pc.fill_null(pc.list_value_length(array), 0)
        offsets = pa.concat_arrays([pa.array([0], pa.int32()), pc.cumulative_sum(lengths).cast(pa.int32())])
        inner = pa.StructArray.from_arrays(parts, fields=list(kind.value_type))
        return pa.chunked_array([pa.ListArray.from_arrays(offsets, inner)])
    return column.cast(kind)
