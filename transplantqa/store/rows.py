"""Rows as mappings into Arrow batches, checked against their table's schema."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from transplantqa.errors import StoreError
from transplantqa.records import Outcome
from transplantqa.store.tables import TableSpec

_OUTCOMES = frozenset(outcome.value for outcome in Outcome)

_log = logging.getLogger(__name__)


def check_row(row: Mapping[str, Any], spec: TableSpec) -> None:
    """Refuse a row that its table does not describe: a bug of the stage that made it, named here and not later.

    Raises:
        ValueError: a column is unknown, a required one is missing or null, or the outcome is not one of ``Outcome``.
    """
    unknown = sorted(row.keys() - set(spec.schema.names))
    if unknown:
        raise ValueError(f"table {spec.name} has no column {', '.join(unknown)}")
    empty = [field.name for field in spec.schema if not field.nullable and row.get(field.name) is None]
    if empty:
        raise ValueError(f"table {spec.name} requires a value for {', '.join(empty)}")
    if row.get("outcome", "ok") not in _OUTCOMES:
        raise ValueError(f"table {spec.name}: {row['outcome']!r} is not an outcome")


def to_batch(rows: Sequence[Mapping[str, Any]], spec: TableSpec) -> pa.RecordBatch:
    """Convert rows to one batch of the table's schema.

    Lone surrogates, which UTF-8 can't hold and a model's escaped JSON can produce, become U+FFFD, with a warning.
    """
    try:
        return pa.RecordBatch.from_pylist(list(rows), schema=spec.schema)
    except UnicodeEncodeError:
        _log.warning("Characters that UTF-8 can't hold were replaced by U+FFFD in %s", spec.name)
        return pa.RecordBatch.from_pylist([_encodable(row) for row in rows], schema=spec.schema)


def converts(row: Mapping[str, Any], spec: TableSpec) -> bool:
    """Say whether a row's values have the types of its table."""
    try:
        to_batch([row], spec)
    except (pa.ArrowException, TypeError, OverflowError):
        return False
    return True


def _encodable(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, Mapping):
        return {key: _encodable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_encodable(item) for item in value]
    return value


def conform(table: pa.Table, columns: Sequence[str], spec: TableSpec, origin: object) -> pa.Table:
    """Bring a stored table to today's schema: columns added since then are null.

    Raises:
        StoreError: a column that may not be null is missing from ``origin``, or has another type.
    """
    arrays = []
    for name in columns:
        field = spec.schema.field(name)
        if name in table.schema.names:
            arrays.append(table.column(name))
        elif field.nullable:
            arrays.append(pa.chunked_array([pa.nulls(len(table), field.type)]))
        else:
            raise StoreError(
                f"{origin} has no column {name}, which table {spec.name} requires: another version wrote it.\n"
                "Use that version, or move the folder away to redo its work."
            )
    return pa.table(arrays, names=list(columns))
