"""Writing rows as they come. A thread of its own flushes them, so that no signal falls into the middle of a flush."""

import logging
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from transplantqa.errors import StoreError
from transplantqa.records import FAILED_OUTCOMES
from transplantqa.store.journal import Journal
from transplantqa.store.locks import HEARTBEAT_SECONDS, WriterLock
from transplantqa.store.parts import journal_path, next_stem
from transplantqa.store.rows import UNCONVERTIBLE, RowCheck, converts, described, to_batch
from transplantqa.store.sealing import seal_journal
from transplantqa.store.tables import TableSpec

FLUSH_ROWS = 64
FLUSH_SECONDS = 30.0
SEAL_ROWS = 50_000
SEAL_BYTES = 256 * 2**20  # ours: a part is built in memory
_BUFFERED_FLUSHES = 4  # ours: a stage is slowed to the disk's pace when this many flushes wait

Attempts = dict[tuple[tuple[Any, ...], str], int]

_log = logging.getLogger(__name__)


class ShardFiles:
    """The journal of one shard, made at its first row, and the parts it is sealed into. For the holder of ``lock``."""

    def __init__(self, folder: Path, label: str, spec: TableSpec, lock: WriterLock) -> None:
        self._folder = folder
        self._label = label
        self._spec = spec
        self._lock = lock
        self._stem = ""
        self._journal: Journal | None = None

    def write(self, items: Sequence[Mapping[str, Any] | pa.RecordBatch]) -> None:
        """Put rows, and batches of them, on disk in their order; seal the journal when it is full.

        Raises:
            StoreError: the disk refuses, or another machine has taken the shard over.
        """
        if not self._lock.still_held():
            raise StoreError(
                f"{self._lock.path} was taken over by another writer: this one showed no sign of life for too long.\n"
                "Let the other finish, or stop it and run this command again; what was flushed is kept."
            )
        for are_batches, group in groupby(items, key=lambda item: isinstance(item, pa.RecordBatch)):
            if are_batches:
                self._append(*group)
            else:
                self._write_rows(list(group))

    def _write_rows(self, rows: Sequence[Mapping[str, Any]]) -> None:
        try:
            batch = to_batch(rows, self._spec)
        except UNCONVERTIBLE:
            self._append(to_batch([row for row in rows if converts(row, self._spec)], self._spec))
            raise
        self._append(batch)

    def _append(self, *batches: pa.RecordBatch) -> None:
        if self._journal is None:
            self._stem = next_stem(self._folder, self._label)
            self._journal = Journal(journal_path(self._folder, self._stem))
        self._journal.append(*batches)
        if self._journal.rows >= SEAL_ROWS or self._journal.bytes >= SEAL_BYTES:
            self.seal()

    def seal(self) -> None:
        """Seal what was written so far into a part."""
        if self._journal is not None:
            self.close()
            seal_journal(self._folder, self._stem)

    def close(self) -> None:
        """Leave the journal as it is, for the next writer of the shard to seal."""
        if self._journal is not None:
            self._journal.close()
            self._journal = None


class Writer:
    """Appends rows to one shard of a ledger; made by ``Ledger.writer`` and used as a context manager.

    Rows are durable after ``flush``, after every ``flush_rows`` rows, after ``flush_seconds``, and when the block ends,
    by an exception too. A block that ends well seals its rows; the next writer of the shard seals what any other left.
    Not to be shared between threads.
    """

    def __init__(
        self,
        files: ShardFiles,
        lock: WriterLock,
        spec: TableSpec,
        attempts: Attempts,
        flush_rows: int = FLUSH_ROWS,
        flush_seconds: float = FLUSH_SECONDS,
    ) -> None:
        self._files = files
        self._lock = lock
        self._spec = spec
        self._check = RowCheck(spec)
        self._attempts = attempts
        self._flush_rows = flush_rows
        self._flush_seconds = flush_seconds
        self._items: list[Any] = []  # rows and batches that the thread hasn't taken
        self._loose = 0  # rows at their end that aren't in a batch
        self._rows = 0  # of all that isn't durable
        self._oldest = self._beaten = time.monotonic()
        self._appended = self._durable = self._wanted = 0
        self._closing = False
        self._failure: Exception | None = None
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._work, name="ledger-writer", daemon=True)

    def append(self, row: Mapping[str, Any]) -> None:
        """Take a row, to be flushed with others. ``attempt`` is counted here unless the row brings it.

        Raises:
            ValueError: the table does not describe such a row.
            StoreError: the disk refused an earlier flush.
        """
        numbered = {**row, "attempt": row.get("attempt") or self._next_attempt(row)}
        self._check(numbered)
        if numbered["outcome"] in FAILED_OUTCOMES:
            self._attempts[self._unit(numbered)] = numbered["attempt"]
        self._take(numbered, 1)

    def append_batch(self, batch: pa.RecordBatch) -> None:
        """Take rows in columns, all of the table's but ``attempt``, which is counted here; for many rows at once.

        Raises:
            ValueError: the table does not describe such rows.
            StoreError: the disk refused an earlier flush.
        """
        keys = batch.select([*self._spec.key, "outcome", "inputs_sha256"])
        attempts = [self._next_attempt(row) for row in keys.to_pylist()] if self._attempts else [1] * len(batch)
        numbered = described(batch.append_column("attempt", pa.array(attempts, pa.int32())), self._spec)
        failed = np.flatnonzero(pc.is_in(batch["outcome"], pa.array([*FAILED_OUTCOMES], pa.string())))
        for at in failed.tolist():
            self._attempts[self._unit(keys.slice(at, 1).to_pylist()[0])] = attempts[at]
        self._take(numbered, len(batch))

    def _take(self, item: dict[str, Any] | pa.RecordBatch, rows: int) -> None:
        with self._changed:
            if self._rows >= self._flush_rows:
                self._changed.wait_for(self._has_room)
            self._raise_failure()
            if not self._items:
                self._oldest = time.monotonic()
            self._items.append(item)
            self._loose = self._loose + 1 if isinstance(item, dict) else 0
            self._rows += rows
            self._appended += rows
            if self._loose >= self._flush_rows:
                self._gather()
            if self._rows >= self._flush_rows:
                self._changed.notify_all()

    def _gather(self) -> None:
        """Make one batch of the rows that came last, here where they are still in the processor's cache."""
        if not self._loose:
            return
        rows, self._loose = self._items[-self._loose :], 0
        with suppress(*UNCONVERTIBLE):  # left to the flush, which keeps the others and tells
            self._items[-len(rows) :] = [to_batch(rows, self._spec)]

    def flush(self) -> None:
        """Wait until every row appended so far is on disk.

        Raises:
            StoreError: the disk refuses.
        """
        with self._changed:
            self._gather()
            self._wanted = self._appended
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._failure or self._durable >= self._wanted)
            self._raise_failure()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            with self._changed:
                self._closing = True
                self._changed.notify_all()
            self._thread.join()
            if self._failure is not None and error is not None and error is not self._failure:
                _log.error("%d rows could not be kept: %s", self._rows, self._failure)
            if error is None:
                self._raise_failure()
                self._files.seal()
        finally:
            self._files.close()

    def _unit(self, row: Mapping[str, Any]) -> tuple[tuple[Any, ...], str]:
        return tuple(row.get(name) for name in self._spec.key), str(row.get("inputs_sha256"))

    def _next_attempt(self, row: Mapping[str, Any]) -> int:
        return self._attempts.get(self._unit(row), 0) + 1 if self._attempts else 1

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _work(self) -> None:
        try:
            while self._turn():
                pass
        except Exception as failure:  # noqa: BLE001 - raised again in the caller's thread
            with self._changed:
                self._failure = failure
                self._changed.notify_all()

    def _turn(self) -> bool:
        """Wait for something to do and do it; false when the writer is closed and everything is on disk."""
        with self._changed:
            self._changed.wait_for(self._is_due, timeout=min(self._flush_seconds, HEARTBEAT_SECONDS))
            items, rows = [], self._rows
            if self._is_due():
                items, self._items, self._loose = self._items, [], 0
            if self._closing and not items:
                return False
        if items:
            self._files.write(items)
            self._mark_durable(rows)
        if time.monotonic() - self._beaten >= HEARTBEAT_SECONDS:
            self._lock.beat()
            self._beaten = time.monotonic()
        return True

    def _has_room(self) -> bool:
        return self._failure is not None or self._rows < _BUFFERED_FLUSHES * self._flush_rows

    def _is_due(self) -> bool:
        waited = bool(self._items) and time.monotonic() - self._oldest >= self._flush_seconds
        return self._closing or waited or self._rows >= self._flush_rows or self._wanted > self._durable

    def _mark_durable(self, rows: int) -> None:
        with self._changed:
            self._rows -= rows
            self._durable += rows
            self._changed.notify_all()
