"""MLflow as a projection of run folders: written from files, any number of times, with the same result."""

import math
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

from pydantic import Field

from transplantqa.contrasts.folder import ContrastFolder
from transplantqa.errors import StoreError
from transplantqa.redaction import redact
from transplantqa.store.run_folder import RunFolder
from transplantqa.store.runs import RUN_FILE
from transplantqa.tracking import mlflow_store
from transplantqa.tracking.projection import Projection, identity, project, project_contrast
from transplantqa.tracking.protocols import TrackedRun

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run

_CONTENT_TAG = "transplantqa.content_sha256"
_CHANGED_TAG = "transplantqa.changed_parameters"
_IDENTITY_TAG = "transplantqa.identity"
_BATCH = 50  # parameters of 6,000 characters stay below MLflow's 1 MB a request
_METRIC_BATCH = 500

T = TypeVar("T")


class MLflow:
    """Projects a run folder into one MLflow run, identified by sweep and run id; runs of a sweep share a parent.

    Tracking again updates what changed in the files. MLflow's parameters can't be rewritten: a changed one keeps its
    first value there and is named in the tag ``transplantqa.changed_parameters``; the artifact ``config.yaml`` is
    always the run's own.

    Args:
        experiment: name of the MLflow experiment; made when it isn't there.
        tracking_uri: where to track when the environment has no ``MLFLOW_TRACKING_URI``.
        artifact_location: root of the artifacts of a new experiment; null puts them beside a database and leaves the
            choice to a server.
        skip_tables: tables that aren't copied; by default those with the documents' own text.
        artifact_limit_mib: larger tables aren't copied either; the run lists where they are.
    """

    def __init__(
        self,
        *,
        experiment: str = "transplantqa",
        tracking_uri: str = "sqlite:///mlruns/mlflow.db",
        artifact_location: str | None = None,
        skip_tables: Sequence[str] = ("sections", "chunks"),
        artifact_limit_mib: Annotated[int, Field(ge=1)] = 200,
    ) -> None:
        self.experiment = experiment
        self.tracking_uri = tracking_uri
        self.artifact_location = artifact_location
        self.skip_tables = frozenset(skip_tables)
        self.artifact_limit_mib = artifact_limit_mib

    def track(self, run: RunFolder) -> TrackedRun:
        """Project one finished run; a store that can't be used is a warning, since nothing is lost.

        Raises:
            InputError: if the run isn't finished.
        """
        content = project(run, self.skip_tables, self.artifact_limit_mib)
        uri = mlflow_store.resolve_uri(self.tracking_uri)
        failures: tuple[type[Exception], ...] = (StoreError, *mlflow_store.load(uri))
        try:
            return self._write(_subject(run), content, uri)
        except failures as error:
            return TrackedRun(run_id=run.run_id, location=str(redact(uri)), warning=_warning(run, uri, error))

    def track_contrast(self, contrast: ContrastFolder, runs: tuple[RunFolder, RunFolder]) -> TrackedRun:
        """Project a contrast as a run of its own, tagged with the tracked runs of its two systems.

        The two are tracked first, where they aren't yet. A store that can't be used is a warning.

        Raises:
            InputError: if a run isn't finished.
        """
        tracked = [self.track(run) for run in runs]
        links = {side: run.tracked_id or "" for side, run in zip(("baseline", "candidate"), tracked, strict=True)}
        content = project_contrast(contrast, links)
        uri = mlflow_store.resolve_uri(self.tracking_uri)
        failures: tuple[type[Exception], ...] = (StoreError, *mlflow_store.load(uri))
        subject = _Subject(contrast.contrast_id, f"{runs[0].system} to {runs[1].system}", None, 0.0, time.time())
        try:
            return self._write(subject, content, uri)
        except failures as error:
            warning = _reason(error)
            return TrackedRun(
                run_id=contrast.contrast_id,
                location=str(redact(uri)),
                warning=str(
                    redact(f"MLflow at {uri} could not be used: {warning}\nThe contrast is in {contrast.path}.")
                ),
            )

    def _write(self, run: "_Subject", content: Projection, uri: str) -> TrackedRun:
        with mlflow_store.exclusive(uri):
            store = mlflow_store.client(uri)
            location = self.artifact_location or _beside_database(uri)
            experiment_id = mlflow_store.ensure_experiment(store, self.experiment, location)
            tracked = _find_or_create(store, experiment_id, run, content)
        tracked_id = str(tracked.info.run_id)
        content_sha256 = content.content_sha256()
        if tracked.data.tags.get(_CONTENT_TAG) != content_sha256:
            _update(store, tracked, content)
            store.set_tag(tracked_id, _CONTENT_TAG, content_sha256)
        return TrackedRun(
            run_id=run.run_id,
            tracked_id=tracked_id,
            location=str(redact(uri)),
            command=mlflow_store.view_command(uri, experiment_id, tracked_id),
        )


@dataclass(frozen=True)
class _Subject:
    """What is tracked: its id and name, the sweep it is a job of, how long it took and when it ended (epoch)."""

    run_id: str
    name: str
    sweep_id: str | None
    seconds: float
    ended: float


def _subject(run: RunFolder) -> _Subject:
    seconds = sum(value for value in run.section("seconds").values() if isinstance(value, int | float))
    return _Subject(run.run_id, run.system, run.sweep_id, seconds, (run.path / RUN_FILE).stat().st_mtime)


def _beside_database(uri: str) -> str | None:
    database = mlflow_store.sqlite_path(uri)
    if database is not None:
        return (database.parent / "artifacts").as_uri()
    return None if uri.startswith(("http://", "https://")) else Path("mlruns/artifacts").absolute().as_uri()


def _find_or_create(store: "MlflowClient", experiment_id: str, run: _Subject, content: Projection) -> "Run":
    parent = {}
    if run.sweep_id is not None:
        sweep_tags = {_IDENTITY_TAG: identity(run.sweep_id, ""), "transplantqa.sweep_id": run.sweep_id}
        sweep = _find(store, experiment_id, sweep_tags[_IDENTITY_TAG])
        if sweep is None:
            sweep = store.create_run(experiment_id, tags=sweep_tags, run_name=f"sweep {run.sweep_id}")
            store.set_terminated(sweep.info.run_id)
        parent = {"mlflow.parentRunId": str(sweep.info.run_id)}
    found = _find(store, experiment_id, content.tags[_IDENTITY_TAG])
    if found is not None:
        return found
    created = store.create_run(
        experiment_id,
        start_time=round((run.ended - run.seconds) * 1000),
        tags={_IDENTITY_TAG: content.tags[_IDENTITY_TAG], **parent},
        run_name=run.name,
    )
    store.set_terminated(created.info.run_id, end_time=round(run.ended * 1000))
    return created


def _find(store: "MlflowClient", experiment_id: str, identity_sha256: str) -> "Run | None":
    filter_string = f"tags.`{_IDENTITY_TAG}` = '{identity_sha256}'"
    found = store.search_runs([experiment_id], filter_string, max_results=1, order_by=["attributes.start_time ASC"])
    return found[0] if found else None


def _update(store: "MlflowClient", tracked: "Run", content: Projection) -> None:
    from mlflow.entities import Metric, Param, RunTag  # noqa: PLC0415

    run_id = str(tracked.info.run_id)
    known = tracked.data.params
    changed = sorted(key for key, value in content.parameters.items() if known.get(key, value) != value)
    tags = {**content.tags, **({_CHANGED_TAG: ", ".join(changed)[:6000]} if changed else {})}
    for tag_batch in _batches([RunTag(key, value) for key, value in tags.items()], _BATCH):
        store.log_batch(run_id, tags=tag_batch)
    new = [Param(key, value) for key, value in content.parameters.items() if key not in known]
    for param_batch in _batches(new, _BATCH):
        store.log_batch(run_id, params=param_batch)
    now = round(time.time() * 1000)
    moved = [Metric(key, value, now, 0) for key, value in _moved(tracked.data.metrics, content.metrics).items()]
    for metric_batch in _batches(moved, _METRIC_BATCH):
        store.log_batch(run_id, metrics=metric_batch)
    _log_artifacts(store, run_id, content)


def _moved(known: Mapping[str, float], current: Mapping[str, float]) -> dict[str, float]:
    """Return the metrics to log; one that the run no longer has becomes NaN, since MLflow can't delete it."""
    moved = {name: value for name, value in current.items() if known.get(name) != value}
    return moved | {name: math.nan for name, value in known.items() if name not in current and not math.isnan(value)}


def _log_artifacts(store: "MlflowClient", run_id: str, content: Projection) -> None:
    with tempfile.TemporaryDirectory(prefix="transplantqa-") as folder:
        for name, text in content.texts.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode("utf-8", "replace"))
        store.log_artifacts(run_id, folder)
    for path, target in content.files.items():
        store.log_artifact(run_id, str(path), target or None)


def _batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _reason(error: Exception) -> str:
    reason = str(error).strip().partition("\n")[0] or type(error).__name__
    return "the server can't be reached" if "Max retries exceeded" in reason else reason


def _warning(run: RunFolder, uri: str, error: Exception) -> str:
    return str(
        redact(
            f"MLflow at {uri} could not be used: {_reason(error)}\n"
            f"Nothing is lost: the run is in {run.path}. To track it later: transplantqa track {run.path}"
        )
    )
