"""The ledger: a stage's rows by method and inputs, made once, kept through crashes, found again."""

import logging
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from transplantqa.errors import StoreError
from transplantqa.records import Outcome
from transplantqa.store.atomic import json_bytes, read_bytes, refusals, write_atomically
from transplantqa.store.locks import NO_WAITING, Waiting, WriterLock, holder, is_live
from transplantqa.store.matching import Unit, best, distinct, identifying_columns, mask, match, units_table
from transplantqa.store.merge import MergeReport, census
from transplantqa.store.method import Method
from transplantqa.store.parts import ledger_files
from transplantqa.store.repair import RepairReport, drop_repetitions
from transplantqa.store.sealing import seal_leftovers
from transplantqa.store.shards import WHOLE, Shard
from transplantqa.store.stored import MovedError, Stored, read_index, verify_parts
from transplantqa.store.tables import TableSpec
from transplantqa.store.writer import FLUSH_ROWS, FLUSH_SECONDS, Attempts, ShardFiles, Writer

MAX_ATTEMPTS = 3
_READ_TRIES = 5  # ours: a reader is overtaken by a writer's sealing once in 50,000 rows

_log = logging.getLogger(__name__)


class Ledger:
    """The rows that one method has made, in ``<root>/<stage>/<fingerprint>/``.

    Args:
        root: the artifacts folder. Nothing is made there before the first ``writer``.
        table: the stage's table; its schema has ``inputs_sha256``, ``attempt`` and ``outcome``.
        method: what the rows are made by.
    """

    def __init__(self, root: Path, table: TableSpec, method: Method) -> None:
        self.table = table
        self.method = method
        self.folder = root / method.stage / method.fingerprint
        self._attempts: Attempts = {}

    def pending(self, units: Sequence[Unit], retry: Collection[Outcome] = ()) -> list[Unit]:
        """Return the units still to be done, in the order given, each once.

        A unit is done when a row has its key and its inputs. ``engine_error`` is tried again up to three attempts;
        other outcomes only when asked for.

        Args:
            units: the plan.
            retry: outcomes to do again, whatever the number of attempts.
        """
        done = self._positions_pending(units_table(units, self.table), retry)
        return list(dict.fromkeys(units[position] for position in done.tolist()))

    def pending_table(self, units: pa.Table, retry: Collection[Outcome] = ()) -> pa.Table:
        """Do what ``pending`` does for millions of units: a table of the key columns and ``inputs_sha256``.

        Other columns, such as a prefix group, are kept.
        """
        return distinct(units.take(pa.array(self._positions_pending(units, retry))), self.table)

    @contextmanager
    def writer(
        self,
        shard: Shard = WHOLE,
        flush_rows: int = FLUSH_ROWS,
        flush_seconds: float = FLUSH_SECONDS,
        waiting: Waiting = NO_WAITING,
    ) -> Iterator[Writer]:
        """Open the shard for writing: a context manager that gives the ``Writer`` and seals what was written.

        The attempt of a row is one more than that of the rows its unit had when ``pending`` was last called.

        Args:
            shard: the share of the units that this process does; the caller keeps to it.
            flush_rows: rows between flushes.
            flush_seconds: the longest a row waits for its flush.
            waiting: how long another writer of the shard is waited for. Ask ``pending`` again afterwards: its work is
                done now.

        Raises:
            StoreError: another writer is at work, or the disk refuses.
        """
        with refusals("create", self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
        self._write_method()
        with self._locked(shard.label, waiting) as lock:
            self._refuse_other_counts(shard)
            seal_leftovers(self.folder, shard.label)
            files = ShardFiles(self.folder, shard.label, self.table, lock)
            with Writer(files, lock, self.table, self._attempts, flush_rows, flush_seconds) as writer:
                yield writer

    def current(self, units: Sequence[Unit] | pa.Table, columns: Sequence[str] | None = None) -> pa.Table:
        """Return the rows of these units, in the order of the units: inputs match, highest attempt.

        Units without a row are left out.

        Args:
            units: the plan, as units or as a table of the key columns and ``inputs_sha256``.
            columns: columns to return, all by default; text that isn't needed costs memory.
        """
        planned = self._planned(units)
        wanted = list(columns or self.table.schema.names)
        for _ in range(_READ_TRIES):
            stored = self._stored()
            rows = best(match(planned, stored.index, self.table))["row"].to_numpy()
            try:
                return stored.take(rows, wanted, self.table)
            except MovedError as moved:
                _log.info("%s has moved; reading %s again", moved, self.folder)
        raise StoreError(f"{self.folder} keeps changing while it is read.\nRun again when its writers have finished.")

    def writers(self) -> dict[str, str]:
        """Return who is writing now: label of a shard to the holder of its lock, in words."""
        locks = sorted(self.folder.glob("lock-*.json"))
        return {path.stem.removeprefix("lock-"): holder(path) for path in locks if is_live(path)}

    def last_shard_count(self) -> int:
        """Return how many shards shared the work out when a file here was last written; 1 where there is none."""
        files = ledger_files(self.folder)
        with refusals("list", self.folder):
            newest = max(files, key=lambda file: (file.path.stat().st_mtime_ns, file.stem), default=None)
        return 1 if newest is None else int(newest.shard_label.rpartition("-of-")[2])

    def set_aside(self) -> list[Path]:
        """Return the files that were set aside because their bytes had changed; nobody reads them any more."""
        return sorted(self.folder.glob("*.damaged"))

    def report(self, units: Sequence[Unit] | pa.Table) -> MergeReport:
        """Count what the folder holds of a plan, changing nothing."""
        return census(self._planned(units), self._stored().index, self.table)

    def merge(self, units: Sequence[Unit] | pa.Table) -> MergeReport:
        """Seal what no live writer holds, check every byte of every part, and prove that each unit is there once."""
        self.seal()
        damaged = tuple(verify_parts(self.folder))
        return census(self._planned(units), self._stored().index, self.table, damaged)

    def repair(self) -> RepairReport:
        """Seal what killed writers left, set damaged parts aside, and keep one of the rows that are there twice.

        Rows are there twice (same unit, inputs and attempt) when two writers did one shard; locks prevent it, but a
        file system may not keep its promises. The first, in order of file name, is kept.

        Raises:
            StoreError: somebody is writing here, or the disk refuses.
        """
        writing = self.writers()
        if writing:
            raise StoreError(f"{self.folder} is being written by {', '.join(writing.values())}.\nWait for that.")
        left = sum(file.kind == "journal" for file in ledger_files(self.folder))
        self.seal()
        damaged = tuple(verify_parts(self.folder))
        return RepairReport(left, damaged, drop_repetitions(self.folder, self.table))

    def seal(self) -> None:
        """Seal the journals that killed writers left, of whatever shard; those of live writers are theirs to seal."""
        leftovers = {file.shard_label for file in ledger_files(self.folder) if file.kind == "journal"}
        for label in sorted(leftovers):
            if is_live(self._lock_path(label)):
                _log.info("%s is being written by %s", self.folder, holder(self._lock_path(label)))
                continue
            with self._locked(label):
                seal_leftovers(self.folder, label)

    def _positions_pending(self, units: pa.Table, retry: Collection[Outcome]) -> np.ndarray:
        """Return the positions of the units to do, and remember the attempts of those done before."""
        chosen = best(match(units, self._stored().index, self.table))
        outcome, attempt = chosen["outcome"], chosen["attempt"]
        unfinished = pc.and_(pc.equal(outcome, Outcome.ENGINE_ERROR.value), pc.less(attempt, MAX_ATTEMPTS))
        asked = pc.is_in(outcome, pa.array([Outcome(name).value for name in retry], pa.string()))
        again = chosen.filter(pc.or_(unfinished, asked))
        earlier = units.select(identifying_columns(self.table)).take(again["unit"])
        for row, tried in zip(earlier.to_pylist(), again["attempt"].to_pylist(), strict=True):
            *key, inputs = row.values()
            self._attempts[(tuple(key), inputs)] = tried
        done = mask(chosen["unit"].to_numpy(), len(units))
        done[again["unit"].to_numpy()] = False
        return np.flatnonzero(~done)

    def _planned(self, units: Sequence[Unit] | pa.Table) -> pa.Table:
        return units if isinstance(units, pa.Table) else units_table(units, self.table)

    def _stored(self) -> Stored:
        return read_index(self.folder, self.table)

    @contextmanager
    def _locked(self, shard_label: str, waiting: Waiting = NO_WAITING) -> Iterator[WriterLock]:
        lock = WriterLock(self._lock_path(shard_label))
        lock.acquire(waiting)
        try:
            yield lock
        finally:
            lock.release()

    def _lock_path(self, shard_label: str) -> Path:
        return self.folder / f"lock-{shard_label}.json"

    def _refuse_other_counts(self, shard: Shard) -> None:
        """Two ways of sharing out the work at once would do units twice."""
        for path in sorted(self.folder.glob("lock-*-of-*.json")):
            if not path.stem.endswith(f"-of-{shard.count:03d}") and is_live(path):
                raise StoreError(
                    f"{path} is held by {holder(path)}, and {shard.count} is another number of shards: units would be "
                    "done twice.\nWait for it to finish, stop it, or use its shard.count."
                )

    def _write_method(self) -> None:
        path, content = self.folder / "method.json", json_bytes(self.method.facts())
        if not path.exists() or read_bytes(path) != content:
            write_atomically(path, content)
