"""MLflow itself: SQLite stores and a server on loopback."""

import math
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from transplantqa.store.run_folder import RunFolder
from transplantqa.tracking import MLflow, TrackedRun
from transplantqa.tracking.command import main, tracker_of

TRACK = """
import sys
from transplantqa.store.run_folder import RunFolder
from transplantqa.tracking import MLflow
tracked = MLflow(tracking_uri=sys.argv[1]).track(RunFolder(sys.argv[2]))
sys.exit(tracked.warning)
"""


@pytest.fixture(autouse=True)
def _no_tracking_server_of_the_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def prepared_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database that MLflow has already made; making one takes seconds."""
    from mlflow import MlflowClient

    path = tmp_path_factory.mktemp("prepared") / "mlflow.db"
    MlflowClient(f"sqlite:///{path}").search_experiments()
    return path


@pytest.fixture
def uri(prepared_database: Path, tmp_path: Path) -> str:
    (tmp_path / "mlruns").mkdir()
    path = tmp_path / "mlruns" / "mlflow.db"
    path.write_bytes(prepared_database.read_bytes())
    return f"sqlite:///{path}"


def _client(uri: str) -> Any:
    from mlflow import MlflowClient

    return MlflowClient(uri)


def _runs(uri: str, experiment: str = "transplantqa") -> list[Any]:
    client = _client(uri)
    return list(client.search_runs([client.get_experiment_by_name(experiment).experiment_id]))


def _tracked(uri: str, run: RunFolder) -> TrackedRun:
    tracked = MLflow(tracking_uri=uri).track(run)
    assert tracked.warning is None
    return tracked


def test_a_run_is_tracked_with_its_parameters_metrics_and_tables(uri: str, write_run: Any) -> None:
    tracked = _tracked(uri, write_run())
    (found,) = _runs(uri)
    assert found.data.params["model.max_tokens"] == "64"
    assert found.data.metrics["absence_rate"] == 0.25
    assert found.info.status == "FINISHED"
    artifacts = {file.path for file in _client(uri).list_artifacts(tracked.tracked_id, "tables")}
    assert "tables/answers.parquet" in artifacts


def test_tracking_again_adds_nothing(uri: str, write_run: Any) -> None:
    run = write_run()
    first = _tracked(uri, run)
    assert _tracked(uri, run) == first
    assert len(_runs(uri)) == 1


def test_a_changed_parameter_is_named_and_stops_nothing(uri: str, write_run: Any) -> None:
    _tracked(uri, write_run(config={"level": "info"}))
    _tracked(uri, write_run(config={"level": "debug", "new": 1}))
    (found,) = _runs(uri)
    assert found.data.params["level"] == "info"
    assert found.data.params["new"] == "1"
    assert found.data.tags["transplantqa.changed_parameters"] == "level"


def test_a_metric_that_a_resumed_run_changes_is_updated(uri: str, write_run: Any) -> None:
    _tracked(uri, write_run(metrics={"absence_rate": 0.25}))
    _tracked(uri, write_run(metrics={"absence_rate": 0.5}))
    assert _runs(uri)[0].data.metrics["absence_rate"] == 0.5


def test_a_metric_that_a_resumed_run_no_longer_has_loses_its_value(uri: str, write_run: Any) -> None:
    _tracked(uri, write_run(metrics={"judge_kappa": 0.8}))
    _tracked(uri, write_run(metrics={"absence_rate": 0.5}))
    assert math.isnan(_runs(uri)[0].data.metrics["judge_kappa"])


def test_runs_of_a_sweep_are_nested_under_one_parent(uri: str, write_run: Any) -> None:
    for system in ("a", "b"):
        _tracked(uri, write_run(system, sweep_id="monday's sweep"))
    runs = _runs(uri)
    parents = {run.data.tags.get("mlflow.parentRunId") for run in runs} - {None}
    assert len(runs) == 3
    assert parents == {run.info.run_id for run in runs if run.info.run_name == "sweep monday's sweep"}


def test_the_environment_wins_over_the_configured_store(
    uri: str, write_run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
    assert MLflow(tracking_uri="sqlite:///elsewhere.db").track(write_run()).location == uri
    assert not Path("elsewhere.db").exists()


def test_a_server_that_is_down_is_a_warning_that_says_how_to_track_later(write_run: Any) -> None:
    run = write_run()
    tracked = MLflow(tracking_uri="http://me:hunter22@127.0.0.1:9").track(run)
    assert tracked.warning is not None
    assert f"transplantqa track {run.path}" in tracked.warning
    assert "hunter22" not in tracked.warning


def test_a_store_that_mlflow_does_not_take_is_a_warning(write_run: Any) -> None:
    assert MLflow(tracking_uri="gopher://x").track(write_run()).warning is not None


def test_a_deleted_experiment_is_a_warning_with_the_remedy(uri: str, write_run: Any) -> None:
    client = _client(uri)
    client.delete_experiment(client.create_experiment("transplantqa"))
    warning = MLflow(tracking_uri=uri).track(write_run()).warning
    assert warning is not None
    assert "was deleted" in warning


def test_processes_on_a_fresh_store_give_one_run_a_run_in_one_experiment(tmp_path: Path, write_run: Any) -> None:
    uri = f"sqlite:///{tmp_path / 'fresh' / 'mlflow.db'}"
    runs = [write_run(f"system-{number}") for number in range(2)]
    _in_parallel(uri, [run.path for run in (*runs, runs[0])])
    assert sorted(run.info.run_name for run in _runs(uri)) == ["system-0", "system-1"]


def _in_parallel(uri: str, paths: list[Path]) -> None:
    def track(path: Path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", TRACK, uri, str(path)]
        return subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)

    with ThreadPoolExecutor(len(paths)) as pool:
        results = list(pool.map(track, paths))
    # Quiet as well as done: MLflow's own progress would drown the run's.
    assert [(result.returncode, result.stdout, result.stderr) for result in results] == [(0, "", "")] * len(paths)


def test_the_command_tracks_a_run_by_its_path(uri: str, write_run: Any, capsys: pytest.CaptureFixture[str]) -> None:
    config = {"tracking": {"_target_": "transplantqa.tracking.MLflow", "tracking_uri": uri}}
    assert main([str(write_run(config=config).path)]) == 0
    assert "mlflow ui --backend-store-uri" in capsys.readouterr().out
    assert len(_runs(uri)) == 1


def test_a_class_named_by_a_foreign_run_is_not_made(write_run: Any) -> None:
    run = write_run(config={"tracking": {"_target_": "subprocess.Popen", "args": ["true"]}})
    assert type(tracker_of(run)) is MLflow


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    command += ["--backend-store-uri", f"sqlite:///{tmp_path / 'server.db'}"]
    command += ["--artifacts-destination", str(tmp_path / "served")]
    quiet = {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false", "MLFLOW_DISABLE_TELEMETRY": "true"}
    log = (tmp_path / "server.log").open("wb")
    process = subprocess.Popen(
        command, env={**os.environ, **quiet}, stdout=log, stderr=log, start_new_session=True, cwd=tmp_path
    )
    url = f"http://127.0.0.1:{port}"
    try:
        _wait_for(url, process)
        yield url
    finally:
        os.killpg(process.pid, 15)
        process.wait(30)
        log.close()


def _wait_for(url: str, process: subprocess.Popen[bytes], seconds: float = 150) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=2):
                return
        except OSError:
            time.sleep(0.5)
    pytest.fail("the MLflow server did not start")


def test_a_real_server_gets_the_run_and_its_artifacts(server: str, write_run: Any) -> None:
    run = write_run()
    tracked = _tracked(server, run)
    assert _tracked(server, run) == tracked
    (found,) = _runs(server)
    artifacts = {file.path for file in _client(server).list_artifacts(found.info.run_id)}
    assert {"config.yaml", "summary.json", "tables"} <= artifacts
    assert tracked.command == f"{server}/#/experiments/{found.info.experiment_id}/runs/{found.info.run_id}"
