"""A run of many shards, as its jobs do it: the workers never touch MLflow, the last step makes one run of them all."""

from pathlib import Path
from typing import Any

import pytest

from transplantqa.cli import main
from transplantqa.errors import EXIT_OK

SLICE = ["experiment=baseline", "limit.documents=2", "limit.questions=2"]


def _tracked(folder: Path) -> list[Any]:
    from mlflow import MlflowClient

    client = MlflowClient(f"sqlite:///{folder / 'mlruns' / 'mlflow.db'}")
    return list(client.search_runs([experiment.experiment_id for experiment in client.search_experiments()]))


def test_a_run_of_many_shards_is_one_run_in_mlflow_however_often_it_is_tracked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.chdir(tmp_path)
    for stages in ("ingest,retrieve,generate", "compare"):
        for index in range(3):
            assert main(["run", *SLICE, f"shard.index={index}", "shard.count=3", f"stages=[{stages}]"]) == EXIT_OK
    assert not (tmp_path / "mlruns").exists()

    assert main(["run", *SLICE, "stages=[analyse]"]) == EXIT_OK
    (run,) = _tracked(tmp_path)
    assert run.info.status == "FINISHED"
    assert "mlflow.parentRunId" not in run.data.tags

    (folder,) = (tmp_path / "artifacts" / "runs").iterdir()
    assert main(["track", str(folder)]) == EXIT_OK
    (again,) = _tracked(tmp_path)
    assert again.info.run_id == run.info.run_id
    assert again.data.metrics == run.data.metrics
