"""Where stages work: a stage's plan beside its ledger, this process's share of it, and who waits for whom.

Another process may be writing what this one is about to write. What happens then:

- **in a sweep**, a stage that another job is doing is waited for, as long as it takes, and then reused;
- **reading documents** is done once for all shards, so the other shards wait for it too;
- **otherwise** a second writer of a shard stops, and its message names the first. A holder on another machine is
  watched until its heartbeat shows that it is alive, or until its lock lapses and is taken over.
"""

import math
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from transplantqa.models.protocols import Identity
from transplantqa.records import Outcome
from transplantqa.remedies import incomplete
from transplantqa.report.console import StageProgress, stage_progress
from transplantqa.signals import StopRequest
from transplantqa.store import WHOLE, Ledger, Method, Shard, TableSpec, Unit, Waiting, shard_column

STAGE_VERSION = {"ingest": 1, "retrieve": 1, "generate": 1, "compare": 1}
"""Raised when a stage's own code starts to make other rows from the same inputs and components."""

Rows = Iterator[Mapping[str, Any] | pa.RecordBatch]
"""What a stage makes, a row or a batch of rows in columns at a time."""

Groups = Callable[[pa.Table], Sequence[str] | pa.Array]


@dataclass(frozen=True)
class StageSummary:
    """What a stage did: units planned for this process, reused from the ledger, made now; seconds of wall clock."""

    fingerprint: str
    planned: int
    reused: int
    made: int
    seconds: float


@dataclass(frozen=True)
class Stage:
    """A stage's ledger and its plan, of all shards.

    Attributes:
        name: the stage.
        ledger: where its rows are kept.
        planned: key columns and ``inputs_sha256`` of every unit.
        groups: gives the prefix group of each row of such a table.
    """

    name: str
    ledger: Ledger
    planned: pa.Table
    groups: Groups

    @cached_property
    def units(self) -> list[Unit]:
        """The planned units, in order."""
        return units_of(self.planned)

    def share(self, shard: Shard) -> pa.Table:
        """Return the units that are this shard's, in order."""
        if shard.count == 1:
            return self.planned
        return self.planned.filter(pa.array(self.shards(shard.count) == shard.index))

    def shards(self, count: int, units: pa.Table | None = None) -> Any:
        """Return the shard, of ``count``, of each planned unit, or of each of ``units``, as a numpy array."""
        groups = self.groups(self.planned if units is None else units)
        column = groups if isinstance(groups, pa.Array | pa.ChunkedArray) else pa.array(groups, pa.string())
        return shard_column(column, count).to_numpy()

    def found(self, columns: Sequence[str] | None = None) -> pa.Table:
        """Return the current rows that there are, of all shards, in the order of the units."""
        return self.ledger.current(self.planned, columns)

    def rows(self, columns: Sequence[str] | None = None) -> pa.Table:
        """Return the current rows of all shards, in the order of the units.

        Raises:
            StoreError: if a unit is missing, stale or there twice: naming some, their shards and the remedy.
        """
        report = self.ledger.report(self.planned)
        rows = self.ledger.current(self.planned, columns) if report.is_exact else None
        if rows is None or len(rows) != report.planned:  # fewer when a part turned out to be damaged while it was read
            report = self.ledger.report(self.planned)
            raise incomplete(self.name, self.ledger, report, self.shards)
        return rows


@dataclass(frozen=True)
class Workshop:
    """Where and how stages work: the ledger's folder, which stages and shard this process does, what may stop it.

    ``wait_seconds`` is how long another process that writes the same shard is waited for.
    """

    root: Path
    stages: frozenset[str]
    shard: Shard
    retry: Collection[Outcome]
    stop: StopRequest
    wait_seconds: float = 0.0
    summaries: dict[str, StageSummary] = field(default_factory=dict)

    def for_all_shards(self) -> "Workshop":
        """Return the workshop of a stage that is done whole by whichever shard comes first; the others wait for it."""
        return self if self.shard.count == 1 else replace(self, shard=WHOLE, wait_seconds=math.inf)

    def stage(self, name: str, table: TableSpec, identity: Identity, planned: pa.Table, groups: Groups) -> Stage:
        """Return a stage done by a component of this identity; ``groups`` names the units' prefix groups."""
        method = Method(name, {"stage_version": STAGE_VERSION[name], **identity})
        return Stage(name, Ledger(self.root, table, method), planned, groups)

    def work(self, stage: Stage, make: Callable[[Sequence[Unit]], Rows]) -> None:
        """Make the rows of this process's units that have none, if the stage is asked for, until a signal stops it."""
        if stage.name not in self.stages:
            return
        started = time.monotonic()
        mine = stage.share(self.shard)
        pending = len(stage.ledger.pending_table(mine, self.retry))
        made = 0
        with stage_progress(stage.name, len(mine), len(mine) - pending) as progress:
            if pending:
                made = self._write(stage, mine, make, progress)
        self.summaries[stage.name] = StageSummary(
            stage.ledger.method.fingerprint, len(mine), len(mine) - made, made, time.monotonic() - started
        )

    def _write(
        self, stage: Stage, mine: pa.Table, make: Callable[[Sequence[Unit]], Rows], progress: StageProgress
    ) -> int:
        """Hold the shard, ask again what is pending, append what is made; return how many units that were."""
        made = 0
        with stage.ledger.writer(self.shard, waiting=Waiting(self.wait_seconds, self.stop.check)) as writer:
            pending = units_of(stage.ledger.pending_table(mine, self.retry))
            progress.reuse(len(mine) - len(pending))
            inputs = {unit.key: unit.inputs_sha256 for unit in pending}
            for row in self.stop.guard(make(pending)) if pending else ():
                if isinstance(row, pa.RecordBatch):
                    writer.append_batch(_with_inputs(row, inputs, stage.ledger.table))
                    progress(len(row))
                    made += len(row)
                    continue
                key = tuple(row[name] for name in stage.ledger.table.key)
                writer.append({**row, "inputs_sha256": inputs[key]})
                progress(tokens=row.get("prompt_tokens", 0) + row.get("completion_tokens", 0))
                made += 1
        return made


def _with_inputs(rows: pa.RecordBatch, inputs: Mapping[tuple[Any, ...], str], table: TableSpec) -> pa.RecordBatch:
    keys = zip(*(rows[name].to_pylist() for name in table.key), strict=True)
    return rows.append_column("inputs_sha256", pa.array([inputs[key] for key in keys], pa.string()))


def units_of(table: pa.Table) -> list[Unit]:
    """Return the rows of a table of key columns and ``inputs_sha256`` as units."""
    *keys, inputs = (column.to_pylist() for column in table.columns)
    return [Unit(key, made_from) for key, made_from in zip(zip(*keys, strict=True), inputs, strict=True)]
