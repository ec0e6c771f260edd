"""What a check found."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class State(StrEnum):
    """How a check ended; only ``FAILS`` keeps the system from running."""

    OK = "ok"
    WARNS = "warning"
    FAILS = "FAILS"
    SKIPPED = "-"


@dataclass(frozen=True, slots=True)
class Finding:
    """One check: where, what of it, how it ended, what was seen, and what to do about it."""

    area: str
    name: str
    state: State
    seen: str
    remedy: str = ""


def target(component: object) -> str:
    """Return the class that a component's configuration names, without its package; empty where it is none."""
    if not isinstance(component, Mapping):
        return ""
    return str(component.get("_target_", "")).rpartition(".")[2]


def components(config: Any) -> dict[str, Mapping[str, Any]]:
    """Return the models that a system uses by role: of generator and judge, embedder, reranker."""
    found = {
        "generator's model": config.generator.get("model"),
        "judge's model": config.judge.get("model"),
        "embedder": config.embedder if _mentions(config, config.embedder) else None,
        "reranker": config.reranker,
    }
    if found["judge's model"] == found["generator's model"]:
        found = {"model": found["generator's model"], "embedder": found["embedder"], "reranker": found["reranker"]}
    return {role: component for role, component in found.items() if isinstance(component, Mapping)}


def _mentions(config: Any, component: object) -> bool:
    """Say whether retriever or generator really uses a component that is configured for all."""
    return any(component in part.values() for part in (config.retriever, config.generator, config.judge))
