"""Rows as mappings into Arrow batches, checked against their table's schema."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from transplantqa.errors import StoreError
from transplantqa.records import Outcome
from transplantqa.store.tables import TableSpec

_OUTCOMES = frozenset(outcome.value for outcome in Outcome)

UNCONVERTIBLE = (pa.ArrowException, TypeError, OverflowError)
"""What ``to_batch`` raises when a value hasn't its column's type."""

_log = logging.getLogger(__name__)


class RowCheck:
    """Refuses rows that a table does not describe: a bug of the stage that made them, named here and not later."""

    def __init__(self, spec: TableSpec) -> None:
        self._table = spec.name
        self._names = frozenset(spec.schema.names)
        self._required = tuple(field.name for field in spec.schema if not field.nullable)
        self._sound: set[tuple[str, ...]] = set()

    def __call__(self, row: Mapping[str, Any]) -> None:
        """Check one row.

        Raises:
            ValueError: a column is unknown, a required one is missing or null, or the outcome is not an ``Outcome``.
        """
        columns = tuple(row)
        if columns not in self._sound:
            self._check_columns(columns)
        for name in self._required:
            if row[name] is None:
                raise ValueError(f"table {self._table} requires a value for {name}")
        if row["outcome"] not in _OUTCOMES:
            raise ValueError(f"table {self._table}: {row['outcome']!r} is not an outcome")

    def _check_columns(self, columns: tuple[str, ...]) -> None:
        """Check a set of columns once: rows of one stage all have the same."""
        if unknown := sorted({*columns} - self._names):
            raise ValueError(f"table {self._table} has no column {', '.join(unknown)}")
        if absent := [name for name in self._required if name not in columns]:
            raise ValueError(f"table {self._table} requires a value for {', '.join(absent)}")
        self._sound.add(columns)


def to_batch(rows: Sequence[Mapping[str, Any]], spec: TableSpec) -> pa.RecordBatch:
    """Convert rows to one batch of the table's schema.

    Lone surrogates, which UTF-8 can't hold and a model's escaped JSON can produce, become U+FFFD, with a warning.
    """
    try:
        return pa.RecordBatch.from_pylist(list(rows), schema=spec.schema)
    except UnicodeEncodeError:
        _log.warning("Characters that UTF-8 can't hold were replaced by U+FFFD in %s", spec.name)
        return pa.RecordBatch.from_pylist([_encodable(row) for row in rows], schema=spec.schema)


def described(batch: pa.RecordBatch, spec: TableSpec) -> pa.RecordBatch:
    """Return rows in columns in the table's own order of columns.

    Raises:
        ValueError: a column is unknown, missing or of another type, a required one has a null, or an outcome isn't one.
    """
    if sorted(batch.schema.names) != sorted(spec.schema.names):
        raise ValueError(f"table {spec.name} has columns {spec.schema.names}, not {batch.schema.names}")
    for field in spec.schema:
        column = batch[field.name]
        if column.type != field.type or (column.null_count and not field.nullable):
            raise ValueError(f"table {spec.name}: column {field.name} is not what it is described as")
    if not pc.all(pc.is_in(batch["outcome"], pa.array(sorted(_OUTCOMES)))).as_py() and len(batch):
        raise ValueError(f"table {spec.name}: an outcome is none")
    return pa.RecordBatch.from_arrays([batch[name] for name in spec.schema.names], schema=spec.schema)


def converts(row: Mapping[str, Any], spec: TableSpec) -> bool:
    """Say whether a row's values have the types of its table."""
    try:
        to_batch([row], spec)
    except UNCONVERTIBLE:
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
