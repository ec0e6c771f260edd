"""Whether the services around a run can be used: MLflow, and the Hub's login, whose token is never shown."""

import os
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from transplantqa.doctor.findings import Finding, State, target
from transplantqa.redaction import redact

ANSWER_SECONDS = 5.0


def mlflow(tracking: Mapping[str, Any]) -> Finding:
    """Check the store that a run would be tracked in; nothing is created there."""
    if target(tracking) != "MLflow":
        return Finding("services", "MLflow", State.SKIPPED, "runs are not tracked (tracking=none)")
    from transplantqa.tracking.mlflow_store import resolve_uri, sqlite_path  # noqa: PLC0415

    uri = resolve_uri(str(tracking["tracking_uri"]))
    try:
        name = f"MLflow {version('mlflow')}"
    except PackageNotFoundError:
        return Finding("services", "MLflow", State.FAILS, "not installed", "pip install mlflow, or tracking=none")
    database = sqlite_path(uri)
    if database is not None:
        return _database(name, database)
    if uri.startswith(("http://", "https://")):
        return _server(name, uri)
    return Finding("services", "MLflow", State.OK, f"{name}, {redact(uri)}, not tried")


def _database(name: str, path: Path) -> Finding:
    there = path if path.exists() else next(place for place in path.parents if place.is_dir())
    if not os.access(there, os.W_OK):
        return Finding("services", "MLflow", State.FAILS, f"{there} can't be written", "Set tracking.tracking_uri")
    seen = "there" if path.exists() else "made at the first run"
    return Finding("services", "MLflow", State.OK, f"{name}, database {path} ({seen})")


def _server(name: str, uri: str) -> Finding:
    import httpx  # noqa: PLC0415

    remedy = "Start it or correct the address (MLFLOW_TRACKING_URI wins over tracking.tracking_uri)"
    try:
        status = httpx.get(f"{uri.rstrip('/')}/health", timeout=ANSWER_SECONDS).status_code
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        seen = f"{redact(uri)} doesn't answer ({type(error).__name__}); findings are kept, tracking can be repeated"
        return Finding("services", "MLflow", State.WARNS, seen, remedy)
    if status in {200, 401, 403}:
        return Finding("services", "MLflow", State.OK, f"{name}, server {redact(uri)} answers (HTTP {status})")
    return Finding("services", "MLflow", State.WARNS, f"{redact(uri)} answers HTTP {status}", remedy)


def hub() -> Finding:
    """Check the login to the Hugging Face Hub, which releases and gated models need."""
    import httpx  # noqa: PLC0415
    from huggingface_hub import constants, get_token  # noqa: PLC0415

    token = get_token()
    if token is None:
        remedy = "Only pushing and gated models need it: hf auth login"
        return Finding("services", "Hub login", State.SKIPPED, "not logged in", remedy)
    if constants.HF_HUB_OFFLINE:
        return Finding("services", "Hub login", State.SKIPPED, "a token is there; offline by HF_HUB_OFFLINE")
    try:
        answer = httpx.get(
            f"{constants.ENDPOINT}/api/whoami-v2",
            headers={"Authorization": f"Bearer {token}"},
            timeout=ANSWER_SECONDS,
        )
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        seen = f"a token is there; the Hub doesn't answer ({type(error).__name__})"
        return Finding("services", "Hub login", State.WARNS, seen, "Fine as long as nothing is downloaded or pushed")
    if answer.status_code != 200:
        seen = f"the Hub refuses the token (HTTP {answer.status_code})"
        return Finding("services", "Hub login", State.WARNS, seen, "Log in again: hf auth login")
    return Finding("services", "Hub login", State.OK, f"logged in as {answer.json().get('name', '?')}")
