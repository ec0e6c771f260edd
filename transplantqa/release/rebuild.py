"""A release made into run folders again, so that every command that reads a run reads it: same rows, same figures.

Nothing a release says is executed or imported: its configuration is kept as data, and of the analysis it names only
the numbers are taken, checked as any configuration is.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from pydantic import ValidationError

from transplantqa.analysis import Analysis, AuditTables, audit, with_further_findings
from transplantqa.config import component_schema
from transplantqa.errors import InputError
from transplantqa.release.gates import manifest_of, numbers
from transplantqa.release.manifests import LOCAL_KEYS
from transplantqa.release.record import ReleaseRecord, changed_files, read_record
from transplantqa.release.unpublish import run_tables
from transplantqa.store import Run, run_id_of, write_atomically
from transplantqa.store.atomic import json_bytes, refusals
from transplantqa.store.run_folder import RunFolder
from transplantqa.store.runs import run_folder

TOLERANCE = 1e-9
"""Difference of a figure computed again to the published one that is only rounding."""

_NOT_FROM_A_RELEASE = frozenset({"embedder"})
_FINGERPRINT = re.compile(r"[0-9a-f]{16,64}")


@dataclass(frozen=True)
class Origin:
    """Where a release comes from: OWNER/NAME, and the commit it was pulled at."""

    repo: str
    commit: str


@dataclass(frozen=True)
class Rebuilt:
    """One system's run folder, how many figures were computed again, and those that differ from the published ones."""

    run: RunFolder
    verified: int
    differing: Sequence[str]


def rebuild(folder: Path, root: Path, origin: Origin) -> list[Rebuilt]:
    """Write a run folder for each system of a release, by system.

    Every figure that follows from the tables is computed again and compared with the published one; where they differ,
    the computed one is kept and the run's notes say so. Figures that don't follow from what is published (against gold,
    of support, of time) are kept as they are published.

    Args:
        folder: the release, complete.
        root: the artifacts folder.
        origin: where it was pulled from.

    Raises:
        InputError: files differ from the release's record, or a manifest or table is not as it should be.
        StoreError: the disk refuses.
    """
    record = read_record(folder)
    changes = changed_files(folder, record)
    if changes:
        raise InputError("\n".join([f"{origin.repo}: isn't what its record says:", *changes, "Pull it again."]))
    return [_rebuild(folder, record, split, root, origin) for split in sorted(record.systems)]


def _rebuild(folder: Path, record: ReleaseRecord, split: str, root: Path, origin: Origin) -> Rebuilt:
    manifest = manifest_of(folder, split)
    tables = run_tables(folder, record, split, _ids(manifest, "question_ids"), _ids(manifest, "document_ids"))
    settings = analysis_settings(manifest)
    audited = AuditTables(**{name: tables[name] for name in AuditTables.__dataclass_fields__})
    found = with_further_findings(audited, audit(audited, settings), settings)
    published = numbers(manifest.get("metrics"))
    differing = list(_differences(published, found.metrics))
    run = _record(manifest, split, record, origin)
    path = run_folder(root, run.run_id)
    with refusals("write", path):
        path.mkdir(parents=True, exist_ok=True)
        for name, table in {**tables, **found.run_tables()}.items():
            pq.write_table(table, path / f"{name}.parquet", compression="zstd")
    measured = {
        "metrics": {**published, **found.metrics},
        "gold": numbers(manifest.get("gold")),
        "not_an_instrument": _sentences(manifest, "not_an_instrument"),
        "notes": [*_sentences(manifest, "notes"), *differing],
    }
    write_atomically(path / "metrics.json", json_bytes(measured))
    run.save(root)
    return Rebuilt(RunFolder(path), len(found.metrics.keys() & published.keys()), differing)


def analysis_settings(manifest: Mapping[str, Any]) -> Analysis:
    """Return the settings that a manifest says its figures were computed with; no component is made from it.

    Raises:
        InputError: a setting isn't one.
    """
    config = manifest.get("config")
    given = config.get("analysis") if isinstance(config, Mapping) else None
    schema = component_schema(Analysis)
    known = schema.model_fields.keys() - _NOT_FROM_A_RELEASE
    plain = {name: value for name, value in given.items() if name in known} if isinstance(given, Mapping) else {}
    try:
        checked = schema.model_validate(plain)
    except ValidationError as error:
        where = ", ".join(sorted({str(detail["loc"][0]) for detail in error.errors()}))
        raise InputError(f"The manifest's analysis settings can't be used: {where}.\nPull another revision.") from error
    return Analysis(**{name: getattr(checked, name) for name in plain})


def _differences(published: Mapping[str, float], found: Mapping[str, float | int]) -> Iterator[str]:
    for name in sorted(published.keys() & found.keys()):
        if abs(published[name] - found[name]) > TOLERANCE * max(1.0, abs(published[name])):
            yield f"{name} was published as {published[name]:.6g} and is {found[name]:.6g} from the published rows"


def _record(manifest: Mapping[str, Any], split: str, record: ReleaseRecord, origin: Origin) -> Run:
    config = manifest.get("config") if isinstance(manifest.get("config"), Mapping) else {}
    published = str(manifest.get("run_id") or "")
    source = {"repo": origin.repo, "commit": origin.commit, "split": split, "run_id": published}
    return Run(
        run_id=run_id_of({"pulled": source}),
        system=str(record.systems[split]),
        created=str(manifest.get("created") or ""),
        config={str(key): value for key, value in dict(config or {}).items() if key not in LOCAL_KEYS},
        fingerprints=_fingerprints(manifest),
        plan_sha256=str(manifest.get("plan_sha256") or ""),
        versions=_texts(manifest.get("versions")),
        outcomes=_outcomes(manifest.get("outcomes")),
        seconds=numbers(manifest.get("seconds")),
        extra={"pulled": source},
    )


def _fingerprints(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Return stage to fingerprint; they become parts of paths, so nothing else may stand there."""
    found = _texts(manifest.get("fingerprints"))
    wrong = sorted(stage for stage, value in found.items() if not _FINGERPRINT.fullmatch(value))
    if wrong:
        raise InputError(f"The manifest's fingerprints of {', '.join(wrong)} aren't any.\nPull another revision.")
    return found


def _texts(value: object) -> dict[str, str]:
    return {str(name): str(text) for name, text in value.items()} if isinstance(value, Mapping) else {}


def _outcomes(value: object) -> dict[str, dict[str, int]]:
    found = value if isinstance(value, Mapping) else {}
    return {
        str(stage): {name: int(count) for name, count in numbers(counts).items()} for stage, counts in found.items()
    }


def _ids(manifest: Mapping[str, Any], name: str) -> list[str]:
    value = manifest.get(name)
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        raise InputError(f"The manifest has no {name}.\nIt was made by another version: pull another revision.")
    return value


def _sentences(manifest: Mapping[str, Any], name: str) -> list[str]:
    value = manifest.get(name)
    return [str(entry) for entry in value] if isinstance(value, list) else []
