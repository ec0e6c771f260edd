"""Real processes, really killed, on a real file system."""

import importlib.util
import os
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).with_name("long_stage.py")
UNITS = 120


@pytest.fixture(scope="module")
def stage() -> ModuleType:
    specification = importlib.util.spec_from_file_location("long_stage", SCRIPT)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def start(root: Path, log: Path, pause_seconds: float = 0.002, **options: object) -> "subprocess.Popen[str]":
    arguments = [sys.executable, str(SCRIPT), str(root), str(UNITS), str(pause_seconds), str(log)]
    return subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True, **options)  # type: ignore[call-overload, no-any-return]


def wait_for_lines(log: Path, lines: int) -> None:
    deadline = time.monotonic() + 60
    while not log.exists() or log.read_text().count("\n") < lines:
        assert time.monotonic() < deadline
        time.sleep(0.001)


def lines(log: Path) -> int:
    return log.read_text().count("\n") if log.exists() else 0


def test_kills_at_random_moments_lose_and_redo_only_unflushed_work(stage: ModuleType, tmp_path: Path) -> None:
    chance, root, log, kills = random.Random(7), tmp_path / "artifacts", tmp_path / "log", 3
    for _ in range(kills):
        process = start(root, log)
        wait_for_lines(log, min(lines(log) + chance.randint(5, 25), UNITS))
        time.sleep(chance.random() * 0.01)
        process.kill()
        process.communicate()
    assert start(root, log).wait(timeout=60) == 0
    report = stage.ledger_in(root).merge(stage.plan(UNITS))
    assert report.is_exact, report.problems()
    waiting = 5 * stage.FLUSH_ROWS  # four flushes may wait for the disk while one is on its way
    assert UNITS <= lines(log) <= UNITS + kills * waiting


def test_what_was_durable_when_a_process_was_killed_is_not_done_again(stage: ModuleType, tmp_path: Path) -> None:
    root, log = tmp_path / "artifacts", tmp_path / "log"
    process = start(root, log, pause_seconds=0.005)
    wait_for_lines(log, 60)
    process.kill()
    process.communicate()
    durable = stage.ledger_in(root).report(stage.plan(UNITS)).present
    done_before = lines(log)
    assert durable > 0
    assert start(root, log, pause_seconds=0).wait(timeout=60) == 0
    assert lines(log) - done_before == UNITS - durable


def test_an_interrupt_keeps_every_unit_that_was_made(stage: ModuleType, tmp_path: Path) -> None:
    root, log = tmp_path / "artifacts", tmp_path / "log"
    process = start(root, log, pause_seconds=0.005)
    wait_for_lines(log, 30)
    process.send_signal(signal.SIGINT)
    process.communicate()
    made = lines(log)
    assert stage.ledger_in(root).report(stage.plan(UNITS)).present in {made, made - 1}  # the last may not be appended


def test_a_second_process_is_told_who_holds_the_shard(tmp_path: Path) -> None:
    root, log = tmp_path / "artifacts", tmp_path / "log"
    first = start(root, log, pause_seconds=0.05)
    wait_for_lines(log, 1)
    second = start(root, log)
    _, message = second.communicate(timeout=60)
    first.kill()
    first.communicate()
    assert f"is held by process {first.pid} on" in message


def test_a_file_size_limit_keeps_what_was_flushed(stage: ModuleType, tmp_path: Path) -> None:
    root, log = tmp_path / "artifacts", tmp_path / "log"

    def allow_little() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (8000, resource.RLIM_INFINITY))

    _, message = start(root, log, preexec_fn=allow_little).communicate(timeout=60)
    present = stage.ledger_in(root).report(stage.plan(UNITS)).present
    assert "above the allowed size" in message
    assert 0 < present < UNITS
    assert start(root, log).wait(timeout=60) == 0
    assert stage.ledger_in(root).merge(stage.plan(UNITS)).is_exact


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write to a read-only folder")
def test_a_read_only_folder_is_named_with_its_remedy(tmp_path: Path) -> None:
    root = tmp_path / "artifacts"
    root.mkdir()
    root.chmod(0o500)
    _, message = start(root, tmp_path / "log").communicate(timeout=60)
    assert "permission denied. Choose a folder you may write to" in message
