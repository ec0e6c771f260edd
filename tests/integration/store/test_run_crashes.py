"""The real command, really killed: run again, it ends as if nothing had happened, and redoes nothing that was kept."""

import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from transplantqa.errors import EXIT_OK, Interrupted, StoreError
from transplantqa.store.parts import ledger_files, read_part
from transplantqa.store.tables import ANSWERS, JUDGEMENTS

SAMPLE = ("experiment=sample_full", "debug=scripted", "embedder=minilm", "retriever=bm25", "tracking=none")
SLOW = "model.latency_seconds=0.01"
STAGES = {"generate": ANSWERS, "compare": JUDGEMENTS}


def start(folder: Path, *overrides: str, **options: Any) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "transplantqa", "run", *SAMPLE, *overrides]
    pipes: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, cwd=folder, **pipes, **options)


def wait_for(happened: Callable[[], bool], process: "subprocess.Popen[str]") -> None:
    deadline = time.monotonic() + 120
    while not happened() and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.005)


def journalled(folder: Path, stage: str) -> bool:
    return any(path.stat().st_size for path in folder.glob(f"artifacts/{stage}/*/journal-*"))


def tables(folder: Path) -> Mapping[str, list[dict[str, Any]]]:
    (run,) = (folder / "artifacts" / "runs").iterdir()
    return {
        name: [
            {key: value for key, value in row.items() if key not in {"seconds", "cached_tokens"}}
            for row in pq.read_table(run / f"{name}.parquet").to_pylist()
        ]
        for name in ("evidence", "answers", "judgements", "comparisons")
    }


def stored(folder: Path, stage: str) -> pa.Table:
    """Return the key of every row that a stage's ledger holds."""
    (ledger,) = (folder / "artifacts" / stage).iterdir()
    key = list(STAGES[stage].key)
    return pa.concat_tables([read_part(file, key) for file in ledger_files(ledger) if file.kind == "part"])


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("uninterrupted")
    process = start(folder)
    _, told = process.communicate(timeout=200)
    assert process.returncode == EXIT_OK, told
    return folder


def test_kills_at_random_moments_change_no_table_and_redo_nothing_that_was_kept(
    uninterrupted: Path, tmp_path: Path
) -> None:
    chance = random.Random(11)
    for stage in ("generate", "compare"):
        process = start(tmp_path, SLOW)
        wait_for(lambda stage=stage: journalled(tmp_path, stage), process)  # type: ignore[misc]
        time.sleep(chance.random())
        process.kill()
        process.communicate()
    process = start(tmp_path)
    _, told = process.communicate(timeout=200)
    assert process.returncode == EXIT_OK, told
    assert tables(tmp_path) == tables(uninterrupted)
    for stage in STAGES:
        assert len(stored(tmp_path, stage)) == len(stored(uninterrupted, stage)), "a row that was kept was made again"


def test_a_warning_signal_keeps_every_finished_unit_and_says_how_to_go_on(tmp_path: Path) -> None:
    process = start(tmp_path, SLOW, "stages=[ingest,retrieve,generate]")
    wait_for(lambda: journalled(tmp_path, "generate"), process)
    process.send_signal(signal.SIGUSR1)
    _, told = process.communicate(timeout=100)
    assert process.returncode == Interrupted.exit_code
    assert "Stopped by SIGUSR1; finished work is kept. Run the same command again to go on." in told
    assert "Traceback" not in told
    (ledger,) = (tmp_path / "artifacts" / "generate").iterdir()
    assert not list(ledger.glob("lock-*"))


def test_a_full_disk_ends_in_one_message_and_loses_nothing_that_was_kept(uninterrupted: Path, tmp_path: Path) -> None:
    def allow_little() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))

    assert start(tmp_path, "stages=[ingest,retrieve]").wait(timeout=200) == EXIT_OK
    process = start(tmp_path, "stages=[generate]", preexec_fn=allow_little)
    _, told = process.communicate(timeout=200)
    assert process.returncode == StoreError.exit_code, told
    assert "above the allowed size" in told
    assert "Traceback" not in told
    assert start(tmp_path).wait(timeout=200) == EXIT_OK
    assert tables(tmp_path) == tables(uninterrupted)


def test_a_folder_that_refuses_ends_in_one_message(tmp_path: Path) -> None:
    refusing = "/sys/artifacts" if os.geteuid() == 0 else str(tmp_path / "artifacts")  # root may write almost anywhere
    tmp_path.chmod(0o500)
    process = start(tmp_path, f"artifacts={refusing}")
    _, told = process.communicate(timeout=200)
    assert process.returncode == StoreError.exit_code, told
    assert "Choose a folder" in told
    assert "Traceback" not in told


def test_a_file_where_the_artifacts_should_go_ends_in_one_message(tmp_path: Path) -> None:
    (tmp_path / "artifacts").write_text("in the way")
    process = start(tmp_path)
    _, told = process.communicate(timeout=200)
    assert process.returncode == StoreError.exit_code
    assert "a part of this path is a file" in told
    assert "Traceback" not in told


def test_a_part_that_vanished_is_made_again(uninterrupted: Path, tmp_path: Path) -> None:
    assert start(tmp_path).wait(timeout=200) == EXIT_OK
    (answers,) = (tmp_path / "artifacts" / "generate").glob("*/part-*")
    answers.unlink()
    assert start(tmp_path).wait(timeout=200) == EXIT_OK
    assert tables(tmp_path) == tables(uninterrupted)


def test_an_altered_part_is_set_aside_reported_and_made_again(uninterrupted: Path, tmp_path: Path) -> None:
    assert start(tmp_path).wait(timeout=200) == EXIT_OK
    (evidence,) = (tmp_path / "artifacts" / "retrieve").glob("*/part-*")
    content = bytearray(evidence.read_bytes())
    content[len(content) // 2] ^= 1
    evidence.write_bytes(content)
    told = ""
    for _ in range(2):  # a page that planning doesn't read is found to be damaged only when all is read
        process = start(tmp_path)
        told += process.communicate(timeout=200)[1]
    assert process.returncode == EXIT_OK, told
    assert "was damaged" in told
    assert evidence.with_name(f"{evidence.name}.damaged").exists()
    assert tables(tmp_path) == tables(uninterrupted)
