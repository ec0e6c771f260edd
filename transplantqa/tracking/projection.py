"""What a run folder becomes in a tracking store, as plain data: tags, parameters, metrics, artifacts."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from transplantqa.contrasts.folder import ContrastFolder
from transplantqa.redaction import redact
from transplantqa.report.summary import closing_summary
from transplantqa.store.hashing import digest, file_sha256, text_sha256
from transplantqa.store.run_folder import RunFolder
from transplantqa.tracking.names import LONGEST_PARAMETER, clean_name, clean_names, flat_parameters
from transplantqa.validation import describe_run, measured


@dataclass(frozen=True)
class Projection:
    """One run, ready to be written anywhere: nothing in it holds a secret.

    ``texts`` are artifacts to write by path; ``files`` are artifacts that exist, by the folder they go to.
    """

    tags: Mapping[str, str]
    parameters: Mapping[str, str]
    metrics: Mapping[str, float]
    texts: Mapping[str, str]
    files: Mapping[Path, str]

    def content_sha256(self) -> str:
        """Return a hash of everything that would be written, so that an unchanged run is left alone."""
        files = {f"{folder}/{path.name}": file_sha256(path) for path, folder in self.files.items()}
        metrics = {name: repr(value) for name, value in self.metrics.items()}
        return digest([dict(self.tags), dict(self.parameters), metrics, dict(self.texts), files])


def project_contrast(contrast: ContrastFolder, links: Mapping[str, str]) -> Projection:
    """Turn a contrast's folder into what is tracked.

    Args:
        contrast: the finished contrast.
        links: ``baseline`` and ``candidate`` to the tracked run of each.
    """
    record = redact(contrast.record)
    parameters = flat_parameters({name: record[name] for name in ("baseline", "candidate", "settings")})
    names = clean_names(contrast.metrics)
    tags = {
        "transplantqa.identity": digest(["contrast", contrast.contrast_id]),
        "transplantqa.kind": "contrast",
        "transplantqa.contrast_id": contrast.contrast_id,
        "mlflow.source.name": "transplantqa",
        "mlflow.note.content": str(record["components"]["statement"]),
        **{f"transplantqa.{side}_tracked_run": tracked for side, tracked in links.items()},
    }
    return Projection(
        tags={name: value[:LONGEST_PARAMETER] for name, value in tags.items()},
        parameters={clean_name(key): value[:LONGEST_PARAMETER] for key, value in parameters.items()},
        metrics={names[name]: value for name, value in contrast.metrics.items()},
        texts={"contrast.json": _json(record)},
        files=dict.fromkeys(contrast.tables(), "tables"),
    )


def identity(sweep_id: str | None, run_id: str) -> str:
    """Return the hash that identifies a tracked run: a run of two sweeps is tracked in each."""
    return digest([sweep_id, run_id])


def project(run: RunFolder, skip_tables: Collection[str], limit_mib: int) -> Projection:
    """Turn a run folder into what is tracked.

    Args:
        run: the finished run.
        skip_tables: tables that stay in the run folder.
        limit_mib: larger tables stay too; their paths are listed in ``tables_kept.json``.

    Raises:
        InputError: if the run isn't finished.
    """
    record = redact(run.record)
    parameters, long_parameters = _parameters(record)
    measures = measured(run)
    names = clean_names(measures.metrics)
    gold_names = clean_names(f"gold/{name}" for name in measures.gold)
    metrics = {names[name]: value for name, value in measures.metrics.items()}
    metrics |= {gold_names[f"gold/{name}"]: value for name, value in measures.gold.items()}
    kept = _large_tables(run, skip_tables, limit_mib)
    texts = {
        "config.yaml": yaml.safe_dump(_plain(record.get("config") or {}), sort_keys=False, allow_unicode=True),
        "run.json": _json(record),
        "summary.json": _json(redact(closing_summary([run]))),
        **long_parameters,
    }
    changed = {clean: name for name, clean in {**names, **gold_names}.items() if clean != name}
    if changed:
        texts["metric_names.json"] = _json(changed)
    if kept:
        texts["tables_kept.json"] = _json(kept)
    return Projection(
        tags=_tags(run),
        parameters=parameters,
        metrics=metrics,
        texts=texts,
        files=_files(run, {*skip_tables, *kept}),
    )


def _tags(run: RunFolder) -> dict[str, str]:
    tags = {
        "transplantqa.identity": identity(run.sweep_id, run.run_id),
        "transplantqa.run_id": run.run_id,
        "transplantqa.system": run.system,
        "transplantqa.judge_validation": describe_run(run),
        "mlflow.source.name": "transplantqa",
        "mlflow.note.content": _note(run),
    }
    if run.sweep_id is not None:
        tags["transplantqa.sweep_id"] = run.sweep_id
    return {name: value[:LONGEST_PARAMETER] for name, value in tags.items()}


def _note(run: RunFolder) -> str:
    measures, validation = measured(run), describe_run(run)
    lines = [f"**Not an instrument:** {reason}" for reason in measures.not_an_instrument]
    return "\n\n".join([*lines, f"{validation[0].upper()}{validation[1:]}", *measures.notes])


def _parameters(record: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    flat = flat_parameters(record.get("config") or {})
    for part in ("fingerprints", "versions"):
        if isinstance(record.get(part), Mapping):
            flat |= flat_parameters({part: record[part]})
    short: dict[str, str] = {}
    long: dict[str, str] = {}
    for key, value in flat.items():
        name = clean_name(key)
        if len(value) <= LONGEST_PARAMETER:
            short[name] = value
        else:
            artifact = f"long_parameters/{name.replace('/', '.')}.txt"
            long[artifact] = value
            short[name] = f"sha256:{text_sha256(value)} (artifact {artifact})"
    return short, long


def _large_tables(run: RunFolder, skip: Collection[str], limit_mib: int) -> dict[str, str]:
    paths = {name: run.table_path(name) for name in run.tables() if name not in skip}
    return {name: str(path) for name, path in paths.items() if path.stat().st_size > limit_mib * 2**20}


def _files(run: RunFolder, skip: Collection[str]) -> dict[Path, str]:
    tables = {run.table_path(name): "tables" for name in run.tables() if name not in skip}
    pages = {page: "" for page in [run.path / "report.html"] if page.is_file()}
    figures = dict.fromkeys(sorted((run.path / "figures").glob("*.png")), "figures")
    return {run.path / "metrics.json": "", **pages, **figures, **tables}


def _plain(value: object) -> object:
    return json.loads(json.dumps(value))


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True) + "\n"
