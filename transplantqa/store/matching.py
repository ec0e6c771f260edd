"""Which stored rows answer which planned units: one hash join, for millions of either."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from transplantqa.store.tables import TableSpec

if TYPE_CHECKING:
    import duckdb


Hashed = tuple[Sequence[str], np.ndarray]
"""Distinct SHA-256s (hex), and for each row the position of its own."""

_SHA256_CHARACTERS = 64
_JOINED_ROWS = 1_000_000
"""Rows a chunk: 64 MB, far from what an Arrow array can hold."""


@dataclass(frozen=True, slots=True)
class Unit:
    """The smallest piece of work that is ever redone.

    Args:
        key: values of the table's key columns, in their order.
        inputs_sha256: hash of exactly what the unit's row is made from.
    """

    key: tuple[str | int, ...]
    inputs_sha256: str


def identifying_columns(spec: TableSpec) -> list[str]:
    """Return the columns that say which unit, made from what, a row is: the key and ``inputs_sha256``."""
    return [*spec.key, "inputs_sha256"]


def units_table(units: Sequence[Unit], spec: TableSpec) -> pa.Table:
    """Return units as a table of the key columns and ``inputs_sha256``, in their order."""
    values = [*zip(*(unit.key for unit in units), strict=True)] if units else [()] * len(spec.key)
    columns = [*values, [unit.inputs_sha256 for unit in units]]
    names = identifying_columns(spec)
    return pa.table(
        [pa.array(column, spec.schema.field(name).type) for name, column in zip(names, columns, strict=True)],
        names=names,
    )


def match(units: pa.Table, rows: pa.Table, spec: TableSpec) -> pa.Table:
    """Find each unit's rows: those with its key and its inputs.

    Args:
        units: key columns and ``inputs_sha256``.
        rows: the same, with ``attempt`` and ``outcome``.
        spec: the table both are of.

    Returns:
        ``unit`` and ``row`` (positions from 0), ``attempt`` and ``outcome``, in order of unit, highest attempt first,
        then row. A unit without rows is absent.
    """
    with _connection() as connection:
        left = connection.from_arrow(_numbered(units.select(identifying_columns(spec)), "unit"))
        right = connection.from_arrow(_numbered(rows, "row"))
        found = (
            left.join(right, _listed(identifying_columns(spec)))
            .select("unit", "row", "attempt", "outcome")
            .to_arrow_table()
        )
    order = np.lexsort([found["row"].to_numpy(), -found["attempt"].to_numpy(), found["unit"].to_numpy()])
    return found.take(pa.array(order))


def joined_sha256(texts: Sequence[Hashed]) -> pa.ChunkedArray:
    """Return for each row, of millions, 64 characters that tell its texts: the beginnings of their SHA-256s, joined.

    Of three texts 22, 21 and 21 hex characters are kept, 84 bits at least: among a million texts two share them by
    chance less than once in 10^13 corpora. Hashing the joined digests again would cost a second a million rows.

    Args:
        texts: for each text of a row the distinct SHA-256s (hex), and the position of the row's in them.
    """
    rows = len(texts[0][1])
    widths = [_SHA256_CHARACTERS // len(texts)] * len(texts)
    widths[0] += _SHA256_CHARACTERS - sum(widths)
    tables = [np.array(hashes, dtype=f"S{width}") for (hashes, _), width in zip(texts, widths, strict=True)]
    chunks = []
    for start in range(0, rows, _JOINED_ROWS):
        parts = [table[where[start : start + _JOINED_ROWS]] for table, (_, where) in zip(tables, texts, strict=True)]
        joined = np.concatenate([part.view(np.uint8).reshape(len(part), -1) for part in parts], axis=1)
        offsets = np.arange(len(joined) + 1, dtype=np.int32) * _SHA256_CHARACTERS
        chunks.append(pa.StringArray.from_buffers(len(joined), pa.py_buffer(offsets), pa.py_buffer(joined)))
    return pa.chunked_array(chunks, pa.string())


def best(matches: pa.Table) -> pa.Table:
    """Keep the first of each unit's matches: the highest attempt."""
    return matches.filter(pa.array(_first_of_run(matches["unit"].to_numpy())))


def repeated(matches: pa.Table) -> np.ndarray:
    """Return the units, each once, that more than one row answers with the same attempt."""
    units, attempts = matches["unit"].to_numpy(), matches["attempt"].to_numpy()
    same = (units[1:] == units[:-1]) & (attempts[1:] == attempts[:-1])
    return np.unique(units[1:][same])


def distinct(units: pa.Table, spec: TableSpec, *also: str) -> pa.Table:
    """Drop the repetitions of units, those alike in ``also`` too, keeping the first of each and the order."""
    with _connection() as connection:
        numbered = connection.from_arrow(_numbered(units, "unit"))
        kept = numbered.aggregate("min(unit) AS unit", _listed([*identifying_columns(spec), *also])).to_arrow_table()
    return _in_order(units, kept)


def have_key_in(units: pa.Table, rows: pa.Table, spec: TableSpec) -> np.ndarray:
    """Say for each unit whether some row has its key, made from whatever inputs."""
    with _connection() as connection:
        left, right = connection.from_arrow(_numbered(units, "unit")), connection.from_arrow(rows)
        found = left.join(right, _listed(spec.key), how="semi").select("unit").to_arrow_table()
    return mask(found["unit"].to_numpy(), len(units))


def mask(positions: np.ndarray, length: int) -> np.ndarray:
    """Return booleans of this length, true at ``positions``."""
    chosen = np.zeros(length, dtype=bool)
    chosen[positions] = True
    return chosen


def _in_order(units: pa.Table, kept: pa.Table) -> pa.Table:
    return units if len(kept) == len(units) else units.take(pa.array(np.sort(kept["unit"].to_numpy())))


def _first_of_run(values: np.ndarray) -> np.ndarray:
    first = np.ones(len(values), dtype=bool)
    first[1:] = values[1:] != values[:-1]
    return first


def _numbered(table: pa.Table, name: str) -> pa.Table:
    return table.append_column(name, pa.array(np.arange(len(table), dtype=np.int64)))


def _listed(columns: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in columns)


def _connection() -> "duckdb.DuckDBPyConnection":
    """Return a connection of this thread's own to the process's database in memory, which takes long to make."""
    return _database().cursor()


@cache
def _database() -> "duckdb.DuckDBPyConnection":
    import duckdb  # noqa: PLC0415 - 0.3 s to import, not needed by who only hashes or writes

    return duckdb.connect(":memory:")
