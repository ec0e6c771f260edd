"""Runs: what was asked, which methods answered, and how it went: one ``run.json`` a run."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from transplantqa.errors import InputError
from transplantqa.store.atomic import json_bytes, read_bytes, write_atomically
from transplantqa.store.hashing import digest

RUN_FILE = "run.json"
_ID_CHARACTERS = 16
_LISTED = 10


def run_id_of(identity: Mapping[str, Any]) -> str:
    """Return the id of a run: the first 16 hex characters of the digest of everything that can change its result.

    Args:
        identity: JSON-safe facts; neither the sweep it is part of nor log level, shard count, batch size or paths.
    """
    return digest(identity)[:_ID_CHARACTERS]


@dataclass(frozen=True)
class Run:
    """One run, as ``run.json`` records it.

    Args:
        run_id: see ``run_id_of``.
        system: name of the system that ran.
        created: when, ISO 8601 with time zone.
        config: the resolved configuration.
        fingerprints: stage to method fingerprint.
        plan_sha256: hash of the planned (question, document) units.
        sweep_id: the sweep it is a job of, if any.
        versions: package to version.
        outcomes: stage to outcome to count.
        reused: stage to number of units that earlier runs had done.
        seconds: stage to wall-clock seconds.
        extra: whatever else a command records, by name.
    """

    run_id: str
    system: str
    created: str
    config: Mapping[str, Any]
    fingerprints: Mapping[str, str]
    plan_sha256: str
    sweep_id: str | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    outcomes: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    reused: Mapping[str, int] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)

    def save(self, root: Path) -> Path:
        """Write ``<root>/runs/<run_id>/run.json`` atomically, over an earlier one of the same run; return its path."""
        path = run_folder(root, self.run_id) / RUN_FILE
        write_atomically(path, json_bytes(asdict(self)))
        return path

    @classmethod
    def load(cls, path: Path) -> "Run":
        """Read a ``run.json``; fields that this version doesn't know are left out.

        Raises:
            InputError: the file is not one.
        """
        try:
            facts = json.loads(read_bytes(path))
            known = {entry.name for entry in fields(cls)}
            return cls(**{name: value for name, value in facts.items() if name in known})
        except (FileNotFoundError, ValueError, TypeError, AttributeError) as error:
            raise InputError(f"{path} is not the record of a run ({error}).\nRun again to make it anew.") from error


def run_folder(root: Path, run_id: str) -> Path:
    """Return where a run's record and reports lie, given the artifacts folder."""
    return root / "runs" / run_id


def list_runs(root: Path) -> list[Run]:
    """Return every readable run under the artifacts folder, newest first."""
    runs = []
    for path in root.glob(f"runs/*/{RUN_FILE}"):
        try:
            runs.append(Run.load(path))
        except InputError:
            continue
    return sorted(runs, key=lambda run: (run.created, run.run_id), reverse=True)


def find_run(root: Path, reference: str) -> Run:
    """Find the run that a user means.

    Args:
        root: the artifacts folder.
        reference: a path (``run.json`` or its folder), a run id or its unambiguous beginning (4 characters at least),
            or the name of a system, which means its newest run.

    Raises:
        InputError: no run, or more than one, is meant; the message lists what there is.
    """
    path = Path(reference)
    if (path / RUN_FILE).is_file():
        return Run.load(path / RUN_FILE)
    if path.suffix == ".json" and path.is_file():
        return Run.load(path)
    by_id = run_folder(root, reference) / RUN_FILE
    if path.name == reference and by_id.is_file():  # a damaged record is told as such, not as no run
        return Run.load(by_id)
    runs = list_runs(root)
    exact = [run for run in runs if run.run_id == reference] or [run for run in runs if run.system == reference]
    begun = [run for run in runs if run.run_id.startswith(reference)] if len(reference) >= 4 else []
    if exact or len(begun) == 1:
        return (exact or begun)[0]
    problem = f"{len(begun)} runs begin with" if begun else "no run is called"
    raise InputError(f"{root}: {problem} {reference!r}.\n{_listing(begun or runs)}")


def _listing(runs: list[Run]) -> str:
    if not runs:
        return "There are no runs here yet: make one with `transplantqa run`, or name another artifacts folder."
    lines = [f"  {run.run_id}  {run.system}  {run.created}" for run in runs[:_LISTED]]
    more = [f"  and {len(runs) - _LISTED} older ones"] if len(runs) > _LISTED else []
    return "\n".join(["Give a run id, a path or a system name. There are:", *lines, *more])
