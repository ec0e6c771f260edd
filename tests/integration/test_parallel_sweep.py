"""A sweep whose jobs run at the same time, each in a process of its own."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from transplantqa.cli import main
from transplantqa.errors import EXIT_FAILURES, EXIT_OK, ConfigError

SLICE = (
    *("experiment=tiny", "debug=scripted", "embedder=minilm", "retriever=bm25", "tracking=none"),
    *("analysis.bootstrap_replicates=0", "analysis.permutations=1"),
)
pytestmark = pytest.mark.timeout(900)  # five processes start and import a sweep; a busy machine takes minutes for it


def sweep(folder: Path, *overrides: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "transplantqa", "run", "-m", "hydra/launcher=local", *SLICE, *overrides]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def runs(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted(folder.glob("artifacts/runs/*/run.json"))]


def test_jobs_at_the_same_time_share_a_stage_that_one_of_them_does(tmp_path: Path) -> None:
    pytest.importorskip("hydra_plugins.hydra_submitit_launcher")
    done = sweep(tmp_path, "judge.order=fixed,random", "model.latency_seconds=0.1")
    assert done.returncode == EXIT_OK, done.stderr
    found = runs(tmp_path)
    planned = sum(found[0]["outcomes"]["generate"].values())
    assert sorted(run["reused"]["generate"] for run in found) == [0, planned]
    assert "source dependence" in done.stdout


def test_a_job_that_fails_in_its_process_is_told_with_its_own_log(tmp_path: Path) -> None:
    pytest.importorskip("hydra_plugins.hydra_submitit_launcher")
    done = sweep(tmp_path, "questions.path=nowhere.csv,package:transplantqa/samples/transplant/questions.csv")
    assert done.returncode == EXIT_FAILURES
    assert "job 0" in done.stderr
    (log,) = tmp_path.glob("artifacts/sweeps/*/job-0.log")
    assert "Traceback" in log.read_text(encoding="utf-8")
    assert len(runs(tmp_path)) == 1


def test_a_launcher_that_is_not_installed_is_said_with_its_remedy(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    assert main(["run", "-m", "hydra/launcher=slurm", "retriever=bm25,dense"]) == ConfigError.exit_code
    assert "pip install 'transplantqa[slurm]'" in capsys.readouterr().err
