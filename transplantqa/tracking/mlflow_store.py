"""Opening an MLflow store safely: quiet, one process at a time on a cold database, one experiment for all."""

import contextlib
import fcntl
import logging
import os
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from transplantqa.errors import StoreError
from transplantqa.redaction import redact
from transplantqa.store.hashing import text_sha256

if TYPE_CHECKING:
    from mlflow import MlflowClient

_SQLITE = "sqlite:///"

_ENVIRONMENT = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2",  # a server that is down is told in seconds and not in minutes
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "30",
}


def resolve_uri(configured: str) -> str:
    """Return the tracking URI in force: ``MLFLOW_TRACKING_URI`` wins; a SQLite path is made absolute."""
    uri = os.environ.get("MLFLOW_TRACKING_URI") or configured
    path = sqlite_path(uri)
    return uri if path is None else f"{_SQLITE}{path}"


def sqlite_path(uri: str) -> Path | None:
    """Return the database file of a SQLite URI, absolute; null for any other store."""
    if not uri.startswith(_SQLITE):
        return None
    return Path(uri.removeprefix(_SQLITE)).absolute()


def view_command(uri: str, experiment_id: str, tracked_id: str) -> str:
    """Return what a person types or opens to see the run."""
    if sqlite_path(uri) is not None:
        return f"mlflow ui --backend-store-uri {shlex.quote(uri)}"
    if uri.startswith(("http://", "https://")):
        return str(redact(f"{uri.rstrip('/')}/#/experiments/{experiment_id}/runs/{tracked_id}"))
    return f"mlflow ui --backend-store-uri {shlex.quote(redact(uri))}"


def load(uri: str) -> tuple[type[Exception], ...]:
    """Import MLflow, telemetry off and progress unspoken, and return what it raises when a store can't be used.

    Importing takes seconds, so all that the store needs is imported here, before its lock is taken.
    """
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    from mlflow.exceptions import MlflowException  # noqa: PLC0415
    from sqlalchemy.exc import SQLAlchemyError  # noqa: PLC0415

    if sqlite_path(uri) is not None:
        import mlflow.store.tracking.sqlalchemy_store  # noqa: F401, PLC0415

    for name in ("mlflow", "alembic"):
        logging.getLogger(name).setLevel(logging.WARNING)
    return (MlflowException, SQLAlchemyError, OSError)


def client(uri: str) -> "MlflowClient":
    """Return a client of the store; a database that isn't there is made, so call it under the store's lock."""
    from mlflow import MlflowClient  # noqa: PLC0415

    return MlflowClient(tracking_uri=uri)


@contextlib.contextmanager
def exclusive(uri: str) -> Iterator[None]:
    """Hold a store's lock: creating the database, the experiment and a run is done by one process at a time.

    The lock lies beside a SQLite database, so it also holds across machines that share its folder; for any other store
    it holds on this machine. It is released by the system when the process ends, however it ends.
    """
    database = sqlite_path(uri)
    if database is None:
        path = Path(tempfile.gettempdir()) / f"transplantqa-tracking-{os.getuid()}-{text_sha256(uri)[:16]}.lock"
    else:
        database.parent.mkdir(parents=True, exist_ok=True)
        path = database.with_name(f"{database.name}.lock")
    with path.open("a") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def ensure_experiment(store: "MlflowClient", name: str, artifact_location: str | None) -> str:
    """Return the id of the experiment, made if it isn't there; to be called under the store's lock.

    Raises:
        StoreError: if an experiment of that name was deleted.
    """
    from mlflow.exceptions import MlflowException  # noqa: PLC0415

    found = store.get_experiment_by_name(name)
    if found is None:
        try:
            return str(store.create_experiment(name, artifact_location=artifact_location))
        except MlflowException:
            # A process of another machine was faster; anything else leaves nothing to find.
            found = store.get_experiment_by_name(name)
            if found is None:
                raise
    if found.lifecycle_stage != "active":
        raise StoreError(
            f"MLflow's experiment {name!r} was deleted.\n"
            f"Restore it (mlflow experiments restore --experiment-id {found.experiment_id}), or choose another name "
            "(tracking.experiment=…)."
        )
    return str(found.experiment_id)
