"""Which components of two runs differ, and what a change may be put down to."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from transplantqa.errors import ConfigError
from transplantqa.redaction import redact
from transplantqa.store import explain
from transplantqa.store.run_folder import RunFolder

STAGE_COMPONENTS: Mapping[str, str] = {
    "ingest": "document reading",
    "retrieve": "retriever",
    "generate": "generator",
    "compare": "judge",
}
"""Stage to the component whose method its fingerprint is."""

RETRIEVER, JUDGE = STAGE_COMPONENTS["retrieve"], STAGE_COMPONENTS["compare"]
PRESCREEN = "pre-screen"
"""Decides pairs before the judge; no stage's fingerprint has it, since it costs no call to apply another."""

LONGEST_VALUE = 120
"""Characters of a value that a difference shows."""


@dataclass(frozen=True)
class Components:
    """What differs between two systems.

    Attributes:
        differing: the components that differ, in the order of the stages, the pre-screen before the judge.
        details: component to what differs in it, in lines of ``path: baseline / candidate``.
    """

    differing: tuple[str, ...]
    details: Mapping[str, tuple[str, ...]]

    def attribution(self) -> str:
        """Return in a sentence what the change may be put down to."""
        if not self.differing:
            return "No component differs: what changed is chance in the models, or units that failed."
        if self.differing == (RETRIEVER,):
            return "The retriever alone differs: what changed is the retriever's, on these questions and documents."
        if len(self.differing) == 1:
            return f"The {self.differing[0]} alone differs: what changed is not retrieval's."
        named = " and ".join([", ".join(self.differing[:-1]), self.differing[-1]])
        return f"{named[0].upper()}{named[1:]} differ: what changed can't be put down to one of them."

    def facts(self) -> dict[str, Any]:
        """Return all of it as JSON-safe data."""
        details = {name: list(lines) for name, lines in self.details.items()}
        return {**asdict(self), "differing": list(self.differing), "details": details, "statement": self.attribution()}


def components(baseline: RunFolder, candidate: RunFolder) -> Components:
    """Tell which components differ: by the fingerprints of their methods, and by how pairs came to be decided.

    What differs in a method is read from the ledgers' ``method.json``; where one is gone, from the configurations.
    """
    first, second = (run.section("fingerprints") for run in (baseline, candidate))
    found = {
        name: _details(stage, baseline, candidate)
        for stage, name in STAGE_COMPONENTS.items()
        if first.get(stage) != second.get(stage)
    }
    prescreen, policy = _decided_otherwise(baseline, candidate)
    if prescreen:
        found[PRESCREEN] = prescreen
    if policy:
        found[JUDGE] = [*found.get(JUDGE, ()), *policy]
    ordered = [name for name in (*STAGE_COMPONENTS.values(), PRESCREEN) if name in found]
    ordered.sort(key=lambda name: name == JUDGE)
    return Components(tuple(ordered), {name: tuple(found[name]) for name in ordered})


def _decided_otherwise(*runs: RunFolder) -> tuple[list[str], list[str]]:
    """Return what differs in the pre-screens, and in what is done where a pair's two orders disagree."""
    recorded = [run.section("extra").get("judging") or {} for run in runs]
    facts = recorded if all(recorded) else [_configured_judging(run) for run in runs]
    prescreen, policy = (
        [_cut(str(difference)) for difference in explain(*({name: one.get(name)} for one in facts))]
        for name in ("prescreen", "disagreement")
    )
    return prescreen, policy


def _configured_judging(run: RunFolder) -> dict[str, Any]:
    """Return the same facts from the configuration, which is all that a pulled run has."""
    judge = run.config.get("judge") or {}
    return redact({"prescreen": run.config.get("prescreen"), "disagreement": judge.get("disagreement")})


def require_same_judge(found: Components) -> None:
    """Refuse systems judged by different judges.

    Raises:
        ConfigError: with what differs between the judges, and the way to go on.
    """
    judging = [name for name in (PRESCREEN, JUDGE) if name in found.differing]
    if judging:
        lines = [f"  {line}" for name in judging for line in found.details[name]]
        raise ConfigError(
            "\n".join(
                [
                    "The two runs were judged differently, so a change may be the judges':",
                    *lines,
                    (
                        "Run one of them again with the other's judge, or say judges=may_differ and read it as a "
                        "change of system and judge together."
                    ),
                ]
            )
        )


def _details(stage: str, baseline: RunFolder, candidate: RunFolder) -> list[str]:
    methods = [_identity(run, stage) for run in (baseline, candidate)]
    if all(method is not None for method in methods):
        found = explain(methods[0] or {}, methods[1] or {})
    else:
        found = explain(*(_configured(run, stage) for run in (baseline, candidate)))
    return [_cut(str(difference)) for difference in found] or ["its method, by fingerprint"]


def _identity(run: RunFolder, stage: str) -> Mapping[str, Any] | None:
    """Return the identity in ``method.json`` of the ledger beside the run; none where it isn't there."""
    file = run.path.parent.parent / stage / str(run.section("fingerprints").get(stage)) / "method.json"
    try:
        identity: Mapping[str, Any] = json.loads(file.read_text(encoding="utf-8"))["identity"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return identity


_CONFIGURED = {
    "ingest": ("corpus",),
    "retrieve": ("retriever", "embedder", "reranker"),
    "generate": ("generator", "model", "prompt"),
    "compare": ("judge", "judge_model", "judge_prompt"),
}


def _configured(run: RunFolder, stage: str) -> dict[str, Any]:
    return redact({key: run.config.get(key) for key in _CONFIGURED[stage]})


def _cut(line: str) -> str:
    path, _, values = line.partition(": ")
    parts = [part if len(part) <= LONGEST_VALUE else f"{part[: LONGEST_VALUE - 1]}…" for part in values.split(" / ")]
    return f"{path}: {' / '.join(parts)}"
