"""What keeps a stage from being complete: which units, in which shards, why, and the command that mends each."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from transplantqa.errors import StoreError
from transplantqa.store import Ledger, MergeReport, Shard

ShardsOf = Callable[[int, pa.Table], Any]
"""Gives the shard, of so many, of each unit of a table."""

_LISTED = 8


def incomplete(stage: str, ledger: Ledger, report: MergeReport, shards_of: ShardsOf) -> StoreError:
    """Return what to tell a user whose stage is not there exactly once."""
    lines = [f"Stage {stage} is not complete in {ledger.folder}:", *(f"  {problem}" for problem in report.problems())]
    if len(report.missing) or len(report.stale):
        lines += _to_make(stage, ledger, report, shards_of)
    if len(report.duplicate):
        lines.append(f"Two writers were at work. Keep one row of each: transplantqa repair {ledger.folder}")
    return StoreError("\n".join(lines))


def _to_make(stage: str, ledger: Ledger, report: MergeReport, shards_of: ShardsOf) -> list[str]:
    """Say shard by shard what is to be made, and how; shards are counted as they were when it was last written."""
    count = ledger.last_shard_count()
    missing, stale = (Counter(shards_of(count, units).tolist()) for units in (report.missing, report.stale))
    writers = ledger.writers()
    waits, commands = [], []
    for index in sorted(missing | stale):
        shard = Shard(index, count)
        found = f"{missing[index]} missing, {stale[index]} stale"
        if shard.label in writers:
            waits.append(f"  shard {index} of {count} ({found}) is being written by {writers[shard.label]}")
        else:
            options = f" shard.index={index} shard.count={count}" if count > 1 else ""
            commands.append(f"  transplantqa run <the same arguments> stages=[{stage}]{options}    # {found}")
    lines = [f"  set aside as damaged, to be made again: {path.name}" for path in ledger.set_aside()]
    if waits:
        lines += ["Wait for what is being written:", *waits]
    if commands:
        lines += ["Make what is missing or stale:", *commands[:_LISTED]]
        if len(commands) > _LISTED:
            lines.append(f"  and {len(commands) - _LISTED} other shards; transplantqa status ... shard.count={count}")
    return lines
