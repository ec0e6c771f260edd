"""Whatever the shards, their counts, interruptions and kills: the merged table is that of one uninterrupted run."""

import json
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from transplantqa.store import Ledger, Method, Shard, Unit
from transplantqa.store.locks import WriterLock
from transplantqa.store.tables import ANSWERS

MakeRow = Callable[..., dict[str, Any]]
MakePlan = Callable[..., list[Unit]]


@dataclass(frozen=True)
class Session:
    """One process: its shard, how many units it gets done, how it ends, and how much of its last batch a kill tears."""

    shard: Shard
    units: int
    ending: Literal["completes", "is interrupted", "is killed"]
    torn_bytes: int


def shards() -> st.SearchStrategy[Shard]:
    return st.integers(1, 4).flatmap(lambda count: st.builds(Shard, st.integers(0, count - 1), st.just(count)))


SESSIONS = st.lists(
    st.builds(
        Session,
        shards(),
        st.integers(0, 8),
        st.sampled_from(["completes", "is interrupted", "is killed"]),
        st.integers(0, 4000),
    ),
    max_size=6,
)


def ledger_in(folder: Path) -> Ledger:
    return Ledger(folder, ANSWERS, Method("answers", {"version": 1}))


def make_rows(ledger: Ledger, units: list[Unit], row: MakeRow) -> list[dict[str, Any]]:
    """Answer units; those of question q01 fail at their first attempt."""
    tried = set(ledger.current(units, columns=["inputs_sha256"])["inputs_sha256"].to_pylist())
    fails = [unit.key[0] == "q01" and unit.inputs_sha256 not in tried for unit in units]
    return [row(unit, "engine_error" if fail else "ok") for unit, fail in zip(units, fails, strict=True)]


def take_place(session: Session, folder: Path, plan: list[Unit], row: MakeRow) -> None:
    ledger = ledger_in(folder)
    todo = [unit for unit in ledger.pending(plan) if session.shard.owns(str(unit.key[0]))][: session.units]
    rows = make_rows(ledger, todo, row)
    with suppress(KeyboardInterrupt), ledger.writer(session.shard) as writer:
        for made in rows:
            writer.append(made)
            writer.flush()
        if session.ending != "completes":
            raise KeyboardInterrupt
    if session.ending == "is killed":
        leave_like_a_killed_process(ledger, session)


def leave_like_a_killed_process(ledger: Ledger, session: Session) -> None:
    for journal in sorted(ledger.folder.glob(f"journal-{session.shard.label}-*"))[-1:]:
        content = journal.read_bytes()
        journal.write_bytes(content[: max(len(content) - session.torn_bytes, 0)])
    lock = ledger.folder / f"lock-{session.shard.label}.json"
    WriterLock(lock).acquire()
    lock.write_text(json.dumps({**json.loads(lock.read_text()), "started": "a process that is gone"}))


def finish(folder: Path, plan: list[Unit], row: MakeRow, shard_count: int) -> None:
    ledger = ledger_in(folder)
    while pending := ledger.pending(plan):
        for index in range(shard_count):
            shard = Shard(index, shard_count)
            with ledger.writer(shard) as writer:
                mine = [unit for unit in pending if shard.owns(str(unit.key[0]))]
                for made in make_rows(ledger, mine, row):
                    writer.append(made)


@settings(max_examples=12, deadline=None)
@given(sessions=SESSIONS, last_count=st.integers(1, 3))
def test_any_history_gives_the_same_merged_table(
    sessions: list[Session], last_count: int, plan: MakePlan, row: MakeRow
) -> None:
    units = plan(5)
    with tempfile.TemporaryDirectory() as interrupted, tempfile.TemporaryDirectory() as undisturbed:
        for session in sessions:
            take_place(session, Path(interrupted), units, row)
        finish(Path(interrupted), units, row, last_count)
        finish(Path(undisturbed), units, row, 1)
        report = ledger_in(Path(interrupted)).merge(units)
        assert report.problems() == []
        assert ledger_in(Path(interrupted)).current(units).equals(ledger_in(Path(undisturbed)).current(units))


@pytest.mark.parametrize(("questions", "count"), [(10, 3), (2, 4)])
def test_uneven_and_empty_shards_do_everything_once(
    questions: int, count: int, plan: MakePlan, row: MakeRow, tmp_path: Path
) -> None:
    finish(tmp_path, plan(questions), row, count)
    assert ledger_in(tmp_path).merge(plan(questions)).is_exact
