"""Whether the models of a system are there: files, what the Hub's cache holds, what a server serves."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from transplantqa.doctor.findings import Finding, State, target
from transplantqa.errors import ModelError
from transplantqa.models.weights import is_cached, locate

HUB_MODELS = frozenset({"VLLM", "FlagEmbedder", "FlagReranker"})


def model(role: str, config: Mapping[str, Any], component: Any) -> Finding:
    """Check one model without loading it and without downloading anything.

    Args:
        role: what the system uses it for.
        config: its configuration.
        component: the same, built.
    """
    if target(config) in HUB_MODELS:
        return _hub_model(role, str(config["model"]), config.get("revision"))
    weights = config.get("weights")
    if isinstance(weights, str) and not is_cached(weights):
        remedy = f"It is downloaded at the first use; now: hf download {_repo(weights)}"
        return Finding("models", role, State.WARNS, f"{weights} is not on this machine yet", remedy)
    try:
        identity = component.identity()
    except ModelError as error:
        what, _, remedy = str(error).partition("\n")
        return Finding("models", role, State.FAILS, what, remedy)
    return Finding("models", role, State.OK, _words(config, identity))


def _hub_model(role: str, name: str, revision: str | None) -> Finding:
    folder = Path(name).expanduser()
    if folder.is_dir():
        return Finding("models", role, State.OK, f"folder {name}, {sum(1 for _ in folder.iterdir())} files")
    if name.startswith(("/", "./", "../", "~")):
        return Finding("models", role, State.FAILS, f"no folder {name}", "Give a folder that is there, or OWNER/REPO")
    if not is_cached(f"hub:{name}/config.json" + (f"@{revision}" if revision else "")):
        at = f" --revision {revision}" if revision else ""
        remedy = f"It is downloaded at the first use; now: hf download {name}{at}"
        return Finding("models", role, State.WARNS, f"{name} is not in the Hub's cache", remedy)
    if revision is None:
        remedy = "Pin it: with revision=COMMIT runs are exactly repeatable"
        return Finding("models", role, State.OK, f"{name}, cached, the newest revision", remedy)
    return Finding("models", role, State.OK, f"{name} at {revision}, cached")


def _words(config: Mapping[str, Any], identity: Mapping[str, Any]) -> str:
    weights = config.get("weights")
    if isinstance(weights, str):
        size = locate(weights).stat().st_size / 1e6
        return f"{weights}, {size:,.0f} MB, sha256 {str(identity.get('weights_sha256', '?'))[:12]}…"
    if "base_url" in config:
        return f"{config.get('model')} served at {config['base_url']}"
    return target(config)


def _repo(weights: str) -> str:
    owner, repo, file = weights.removeprefix("hub:").split("/", 2)
    file, _, revision = file.partition("@")
    return f"{owner}/{repo} {file}" + (f" --revision {revision}" if revision else "")
