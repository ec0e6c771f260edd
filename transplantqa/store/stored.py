"""Reading what a fingerprint's folder holds, while others may be writing to it."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from transplantqa.store.journal import JournalContent, read_journal
from transplantqa.store.parts import DamagedError, LedgerFile, is_intact, ledger_files, read_part, set_aside
from transplantqa.store.rows import conform
from transplantqa.store.tables import TableSpec

_SLICE_ROWS = 50_000

_log = logging.getLogger(__name__)


class MovedError(Exception):
    """A file was sealed or set aside between being listed and being read: list again."""


@dataclass(frozen=True)
class Stored:
    """The rows of a folder by their index columns.

    Args:
        files: journals and parts that hold the rows, in order of name.
        starts: position of each file's first row in ``index``, and after the last the number of rows.
        index: key columns, ``inputs_sha256``, ``attempt`` and ``outcome`` of every row, file after file.
    """

    files: list[LedgerFile]
    starts: np.ndarray
    index: pa.Table

    def take(self, rows: np.ndarray, columns: Sequence[str], spec: TableSpec) -> pa.Table:
        """Return columns of the rows at these positions of the index, in the order given.

        Raises:
            MovedError: a file has moved since the index was read.
            StoreError: a file can't be read.
        """
        order = np.argsort(rows, kind="stable")
        ascending = rows[order]
        bounds = np.searchsorted(ascending, self.starts)
        schema = pa.schema([spec.schema.field(name) for name in columns])
        pieces = [
            _read(file, columns, spec).take(pa.array(ascending[low:high] - start)).cast(schema)
            for file, low, high, start in zip(self.files, bounds[:-1], bounds[1:], self.starts[:-1], strict=True)
            if high > low
        ]
        return _gather(pieces, np.argsort(order, kind="stable"), schema)


def read_index(folder: Path, spec: TableSpec) -> Stored:
    """Read the index columns of every row in ``folder``; damaged parts are set aside and reported.

    Journals are read before the parts are listed: one that is sealed meanwhile is then found as its part, and its rows
    are counted once.
    """
    columns = [*spec.key, "inputs_sha256", "attempt", "outcome"]
    journals = {file: _journal_index(file, columns, spec) for file in ledger_files(folder) if file.kind == "journal"}
    parts = {file: _part_index(file, columns, spec) for file in ledger_files(folder) if file.kind == "part"}
    sealed = {file.stem for file, table in parts.items() if table is not None}
    tables = {file: table for file, table in parts.items() if table is not None}
    tables |= {file: table for file, table in journals.items() if table is not None and file.stem not in sealed}
    files = sorted(tables, key=lambda file: file.path.name)
    lengths = [len(tables[file]) for file in files]
    empty = pa.schema([spec.schema.field(name) for name in columns]).empty_table()
    index = pa.concat_tables([tables[file] for file in files]) if files else empty
    return Stored(files, np.cumsum([0, *lengths]), index)


def verify_parts(folder: Path) -> list[Path]:
    """Check every byte of every part; set the damaged ones aside and return where they were."""
    damaged = [file.path for file in ledger_files(folder) if file.kind == "part" and not is_intact(file)]
    for path in damaged:
        set_aside(path, "its digest is not the one in its name")
    return damaged


def _read(file: LedgerFile, columns: Sequence[str], spec: TableSpec) -> pa.Table:
    try:
        if file.kind == "journal":
            return conform(_journal_table(read_journal(file.path)), columns, spec, file.path)
        return conform(read_part(file, list(columns)), columns, spec, file.path)
    except FileNotFoundError as error:
        raise MovedError(str(file.path)) from error
    except DamagedError as error:
        set_aside(file.path, str(error))
        raise MovedError(str(file.path)) from error


def _journal_index(file: LedgerFile, columns: Sequence[str], spec: TableSpec) -> pa.Table | None:
    try:
        content = read_journal(file.path)
    except FileNotFoundError:
        return None
    if content.damaged_bytes and not content.torn_tail_only:
        _log.warning("%s: %d bytes failed their checksum; their rows are redone", file.path, content.damaged_bytes)
    if not content.batches:
        return None
    table = conform(_journal_table(content), columns, spec, file.path)
    encoded = [table[name].dictionary_encode() if name in _encoded(columns, spec) else table[name] for name in columns]
    copied = pa.array(np.arange(len(table)))  # so that the journal's other columns can be freed
    return pa.table(encoded, names=list(columns)).take(copied)


def _part_index(file: LedgerFile, columns: list[str], spec: TableSpec) -> pa.Table | None:
    try:
        return conform(read_part(file, columns, _encoded(columns, spec)), columns, spec, file.path)
    except FileNotFoundError:
        return None
    except DamagedError as error:
        set_aside(file.path, str(error))
        return None


def _encoded(columns: Sequence[str], spec: TableSpec) -> list[str]:
    """Return the columns worth reading as dictionaries: text whose values repeat."""
    return [name for name in columns if spec.schema.field(name).type == pa.string() and name != "inputs_sha256"]


def _journal_table(content: JournalContent) -> pa.Table:
    return pa.Table.from_batches(content.batches)


def _gather(pieces: list[pa.Table], order: np.ndarray, schema: pa.Schema) -> pa.Table:
    """Return the pieces' rows in this order of their positions.

    It goes slice by slice and piece by piece: Arrow's own ``take`` joins a column's chunks first, and text of more than
    2 GiB doesn't fit into one.
    """
    if not pieces or np.array_equal(order, np.arange(len(order))):
        return pa.concat_tables([schema.empty_table(), *pieces])
    ends = np.cumsum([len(piece) for piece in pieces])
    slices = [order[start : start + _SLICE_ROWS] for start in range(0, len(order), _SLICE_ROWS)]
    return pa.concat_tables([_gather_slice(pieces, ends, wanted) for wanted in slices])


def _gather_slice(pieces: list[pa.Table], ends: np.ndarray, wanted: np.ndarray) -> pa.Table:
    source = np.searchsorted(ends, wanted, side="right")
    by_source = np.argsort(source, kind="stable")
    parts = []
    for number in np.unique(source):
        start = ends[number] - len(pieces[number])
        parts.append(pieces[number].take(pa.array(wanted[by_source][source[by_source] == number] - start)))
    return pa.concat_tables(parts).take(pa.array(np.argsort(by_source, kind="stable")))
