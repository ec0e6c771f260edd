"""A contrast in MLflow: a run of its own, linked to the two that it compares."""

from pathlib import Path
from typing import Any

import pytest

from transplantqa.contrasts.folder import ContrastFolder, write_contrast
from transplantqa.tracking import MLflow, NoTracking

RECORD = {
    "contrast_id": "c" * 16,
    "baseline": {"run_id": "run-old", "system": "old"},
    "candidate": {"run_id": "run-new", "system": "new"},
    "settings": {"scope": "cross_institution", "margin_points": 2.0},
    "components": {"statement": "The retriever alone differs."},
    "facts": {},
    "metrics": {"delta/absence_rate": -3.0, "delta/group/kidney & liver/absence_rate": 1.0},
}


@pytest.fixture
def contrast(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ContrastFolder:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.chdir(tmp_path)
    return write_contrast(tmp_path / "artifacts", RECORD, {})


def _runs() -> dict[str, Any]:
    from mlflow import MlflowClient

    client = MlflowClient(f"sqlite:///{Path('mlruns/mlflow.db').absolute()}")
    experiment = client.get_experiment_by_name("transplantqa")
    return {run.info.run_name: run for run in client.search_runs([experiment.experiment_id])}


def test_a_contrast_is_tracked_once_and_names_the_tracked_runs_of_both(
    contrast: ContrastFolder, write_run: Any
) -> None:
    runs = (write_run("old"), write_run("new"))
    tracked = MLflow().track_contrast(contrast, runs)
    assert tracked.warning is None
    assert MLflow().track_contrast(contrast, runs).tracked_id == tracked.tracked_id
    found = _runs()
    assert set(found) == {"old", "new", "old to new"}
    tags = found["old to new"].data.tags
    assert tags["transplantqa.baseline_tracked_run"] == found["old"].info.run_id
    assert tags["transplantqa.candidate_tracked_run"] == found["new"].info.run_id
    assert found["old to new"].data.metrics["delta/absence_rate"] == -3.0


def test_a_store_that_cant_be_used_is_a_warning(contrast: ContrastFolder, write_run: Any) -> None:
    tracked = MLflow(tracking_uri="gopher://x").track_contrast(contrast, (write_run("old"), write_run("new")))
    assert tracked.warning is not None
    assert str(contrast.path) in tracked.warning


def test_without_tracking_nothing_is_written(contrast: ContrastFolder, write_run: Any) -> None:
    assert NoTracking().track_contrast(contrast, (write_run("old"), write_run("new"))).warning is None
    assert not Path("mlruns").exists()
