"""The real launcher on a real SLURM: a run in shards with tasks killed and interrupted equals an unsharded one."""

import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from transplantqa.cli import main
from transplantqa.errors import EXIT_OK

LAUNCHERS = Path(__file__).parents[3] / "slurm_launchers"
SLICE = (
    *("experiment=tiny", "debug=scripted", "embedder=minilm", "retriever=bm25", "tracking=none"),
    *("analysis.bootstrap_replicates=0", "analysis.permutations=1"),
)
SETTINGS = """
TQA_COMMAND="{python} -m transplantqa"
TQA_GENERATE_SHARDS=3
TQA_COMPARE_SHARDS=2
TQA_CPU_TIME=00:10:00
TQA_GENERATE_TIME=00:10:00
TQA_COMPARE_TIME=00:10:00
"""
CLOCKED = {"seconds", "cached_tokens", "attempt"}


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("settings") / "test.env"
    path.write_text(SETTINGS.format(python=sys.executable), encoding="utf-8")
    return path


def submit(cluster: Any, settings: Path, folder: Path, *overrides: str) -> dict[str, str]:
    """Submit a run from ``folder`` and return its jobs' ids by name."""
    done = subprocess.run(
        [str(LAUNCHERS / "submit.sh"), str(settings), *SLICE, *overrides],
        env=dict(cluster.environment),
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(line.split(" ") for line in done.stdout.strip().split("\n"))


def lock_holder(folder: Path, stage: str) -> tuple[int, int] | None:
    """Return shard and process number of a task that is writing a stage, if there is one."""
    for path in folder.glob(f"artifacts/{stage}/*/lock-*-of-*.json"):
        match = re.fullmatch(r"lock-(\d+)-of-(\d+)", path.stem)
        if match is not None and int(match[2]) > 1:
            try:
                return int(match[1]), int(json.loads(path.read_text())["pid"])
            except (FileNotFoundError, ValueError):
                continue
    return None


def logs(folder: Path) -> str:
    return "\n".join(f"== {path.name}\n{path.read_text()}" for path in sorted(folder.glob("slurm-logs/*.log")))


def tables(folder: Path) -> Mapping[str, list[dict[str, Any]]]:
    (run,) = (folder / "artifacts" / "runs").iterdir()
    return {
        name: [
            {key: value for key, value in row.items() if key not in CLOCKED}
            for row in pq.read_table(run / f"{name}.parquet").to_pylist()
        ]
        for name in ("evidence", "answers", "judgements", "comparisons")
    }


@pytest.fixture
def wait_until() -> Any:
    specification = importlib.util.spec_from_file_location("slurm_conftest", Path(__file__).with_name("conftest.py"))
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module.wait_until


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sharded").mkdir()
    (tmp_path / "whole").mkdir()
    return tmp_path


@pytest.mark.timeout(1800)
def test_a_run_in_shards_with_a_task_killed_and_one_interrupted_equals_an_unsharded_run(
    cluster: Any, settings: Path, folder: Path, wait_until: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sharded = folder / "sharded"
    jobs = submit(cluster, settings, sharded, "model.latency_seconds=0.5")

    def told() -> str:
        return f"{logs(sharded)}\n{cluster.states()}"

    wait_until(lambda: lock_holder(sharded, "generate") is not None, 400, told)
    killed = lock_holder(sharded, "generate")
    assert killed is not None
    os.kill(killed[1], signal.SIGKILL)
    wait_until(lambda: cluster.start_now(jobs["generate"], killed[0]), 400, told)

    wait_until(lambda: lock_holder(sharded, "compare") is not None, 400, told)
    interrupted = lock_holder(sharded, "compare")
    assert interrupted is not None
    cluster.call("scancel", "--batch", "--signal=USR1", f"{jobs['compare']}_{interrupted[0]}")
    wait_until(lambda: cluster.start_now(jobs["compare"], interrupted[0]), 400, told)

    def analysed() -> bool:
        states = {task["JobState"] for task in cluster.tasks(jobs["analyse"])}
        assert not states & {"FAILED", "CANCELLED", "TIMEOUT"}, told()
        return states == {"COMPLETED"}

    wait_until(analysed, 600, told)
    shown = logs(sharded)
    assert "exit code 137: back into the queue" in shown
    assert "exit code 75: back into the queue" in shown
    monkeypatch.chdir(folder / "whole")
    assert main(["run", *SLICE]) == EXIT_OK
    assert tables(sharded) == tables(folder / "whole")


def test_a_dry_run_shows_the_chain_and_submits_nothing(settings: Path, folder: Path) -> None:
    done = subprocess.run(
        [str(LAUNCHERS / "submit.sh"), str(LAUNCHERS / "h100.env"), "experiment=tiny"],
        env={**os.environ, "TQA_DRY_RUN": "1", "TQA_ACCOUNT": "ours", "TQA_GENERATE_PARTITION": "gpu"},
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    prepare, generate, compare, analyse, _ = done.stderr.strip().split("\n")
    assert "--gres" not in prepare
    assert "--array=0-19%8" in generate
    assert "--partition=gpu" in generate
    assert "--gres=gpu:h100:1" in generate
    assert "--dependency=afterok:prepare" in generate
    assert "--signal=B:USR1@300" in compare
    assert "--requeue" in compare
    assert "--open-mode=append" in compare
    assert "--dependency=afterok:compare" in analyse
    assert all("--account=ours" in line for line in (prepare, generate, compare, analyse))


@pytest.mark.parametrize("argument", ["stages=[compare]", "shard.count=3", "-m"])
def test_what_the_launcher_sets_itself_is_refused(settings: Path, folder: Path, argument: str) -> None:
    done = subprocess.run(
        [str(LAUNCHERS / "submit.sh"), str(settings), argument], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert argument in done.stderr
