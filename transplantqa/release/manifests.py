"""How each released system was made, as data that is read and never executed."""

import json
from collections.abc import Mapping
from typing import Any

from transplantqa.redaction import redact
from transplantqa.release.names import DocumentNames, Pseudonyms
from transplantqa.store.run_folder import RunFolder
from transplantqa.validation import measured

_PATH_KEYS = frozenset({"path", "folder", "file", "manifest", "cache_dir", "model_path", "gold"})
LOCAL_KEYS = frozenset({"artifacts", "tracking", "sweep_id", "shard"})
"""Parts of a configuration that say where and not how."""


def manifest(run: RunFolder, split: str, names: DocumentNames) -> dict[str, Any]:
    """Return fingerprints, configuration, versions, outcomes, findings of one system; no secret, no local path.

    Questions and documents are those of this system, in the order it had them: resampling depends on it.

    With pseudonyms, the figures of single documents are left out: their names would give the documents away.
    """
    config = redact(_portable({key: value for key, value in run.config.items() if key not in LOCAL_KEYS}))
    hidden = isinstance(names, Pseudonyms)
    measures = measured(run)
    return {
        "system": run.system,
        "split": split,
        "run_id": run.run_id,
        "fingerprints": dict(run.section("fingerprints")),
        "versions": dict(run.section("versions")),
        "created": run.record.get("created"),
        "plan_sha256": run.record.get("plan_sha256"),
        "outcomes": dict(run.section("outcomes")),
        "seconds": dict(run.section("seconds")),
        "config": config,
        "question_ids": run.table("questions", ["question_id"])["question_id"].to_pylist(),
        "document_ids": [names.document(name) for name in run.table("documents", ["document_id"])[0].to_pylist()],
        "metrics": {name: value for name, value in measures.metrics.items() if not (hidden and _of_document(name))},
        "gold": dict(measures.gold),
        "not_an_instrument": list(measures.not_an_instrument),
        "notes": list(measures.notes),
    }


def manifest_bytes(content: Mapping[str, Any]) -> bytes:
    """Return a manifest as the UTF-8 JSON that is published."""
    return (json.dumps(content, indent=2, ensure_ascii=False, sort_keys=True) + "\n").encode("utf-8", "replace")


def _of_document(metric: str) -> bool:
    return metric.startswith("document/")


def _portable(value: object) -> Any:
    """Return a configuration with local paths reduced to their last part."""
    if isinstance(value, Mapping):
        return {
            key: _last_part(item) if key in _PATH_KEYS and isinstance(item, str) else _portable(item)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [_portable(item) for item in value]
    if isinstance(value, str) and value.startswith(("/", "~/")) and "\n" not in value:
        return _last_part(value)
    return value


def _last_part(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]
