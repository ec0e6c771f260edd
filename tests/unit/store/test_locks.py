"""One writer a shard."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from transplantqa.errors import Interrupted, StoreError
from transplantqa.store import locks
from transplantqa.store.locks import STALE_SECONDS, Waiting, WriterLock, is_live


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lock-000-of-001.json"


def hold_on_another_machine(path: Path, age_seconds: float) -> None:
    path.write_text(json.dumps({"host": "node7", "machine": "node7 boot", "pid": 1, "started": "1", "since": "then"}))
    moment = time.time() - age_seconds
    os.utime(path, (moment, moment))


def test_a_second_writer_is_told_who_holds_the_shard(path: Path) -> None:
    WriterLock(path).acquire()
    with pytest.raises(StoreError, match=f"held by process {os.getpid()} on"):
        WriterLock(path).acquire()


def test_a_released_lock_can_be_taken(path: Path) -> None:
    lock = WriterLock(path)
    lock.acquire()
    lock.release()
    WriterLock(path).acquire()
    assert is_live(path)


def test_a_lock_leaves_no_other_file_behind(path: Path) -> None:
    lock = WriterLock(path)
    lock.acquire()
    lock.release()
    assert list(path.parent.iterdir()) == []


def test_the_lock_of_a_dead_process_of_this_machine_is_taken_over_at_once(path: Path) -> None:
    code = "import sys, pathlib as p, transplantqa.store.locks as k; k.WriterLock(p.Path(sys.argv[1])).acquire()"
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)
    assert path.exists()
    WriterLock(path).acquire()


def test_a_process_number_used_again_does_not_keep_a_lock_alive(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    WriterLock(path).acquire()
    facts = json.loads(path.read_text())
    path.write_text(json.dumps({**facts, "started": "1"}))
    assert not is_live(path)


def test_a_silent_lock_of_another_machine_lapses(path: Path) -> None:
    hold_on_another_machine(path, STALE_SECONDS + 5)
    WriterLock(path).acquire()


def test_a_lock_of_another_machine_is_respected_once_its_heartbeat_is_seen(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold_on_another_machine(path, STALE_SECONDS - 60)
    monkeypatch.setattr(time, "sleep", lambda _seconds: os.utime(path))
    with pytest.raises(StoreError, match="process 1 on node7 since then"):
        WriterLock(path).acquire()


def test_a_lock_of_another_machine_without_a_heartbeat_is_watched_until_it_lapses(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold_on_another_machine(path, STALE_SECONDS - 60)
    monkeypatch.setattr(time, "sleep", lambda _seconds: monkeypatch.setattr(locks, "STALE_SECONDS", 1.0))
    lock = WriterLock(path)
    lock.acquire()
    assert lock.still_held()


def test_who_waits_can_be_told_to_stop(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop() -> None:
        raise Interrupted("stopped")

    WriterLock(path).acquire()
    monkeypatch.setattr(time, "sleep", lambda _seconds: None)
    with pytest.raises(Interrupted):
        WriterLock(path).acquire(Waiting(60.0, stop))


def test_a_heartbeat_keeps_a_lock_fresh(path: Path) -> None:
    lock = WriterLock(path)
    lock.acquire()
    os.utime(path, (0, 0))
    lock.beat()
    assert time.time() - path.stat().st_mtime < 60


def test_a_holder_notices_that_its_lock_was_taken_over(path: Path) -> None:
    lock = WriterLock(path)
    lock.acquire()
    hold_on_another_machine(path, 0)
    assert not lock.still_held()


def test_releasing_leaves_the_lock_of_whoever_took_over(path: Path) -> None:
    lock = WriterLock(path)
    lock.acquire()
    hold_on_another_machine(path, 0)
    lock.release()
    assert path.exists()


def test_a_lock_is_waited_for(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = WriterLock(path)
    first.acquire()
    monkeypatch.setattr(time, "sleep", lambda _seconds: first.release())
    WriterLock(path).acquire(Waiting(5.0))
    assert not first.still_held()


def test_an_unreadable_lock_is_respected_while_it_is_kept_fresh(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.write_bytes(b"\x00\xff")
    monkeypatch.setattr(time, "sleep", lambda _seconds: os.utime(path))
    with pytest.raises(StoreError, match="an unknown writer"):
        WriterLock(path).acquire()
