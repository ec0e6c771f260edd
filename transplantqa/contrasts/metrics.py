"""A contrast's findings as flat figures, for tracking stores and JSON."""

from collections.abc import Mapping
from typing import Any

from transplantqa.analysis.deltas import Delta
from transplantqa.analysis.paired import ContrastFindings


def flat_metrics(findings: ContrastFindings) -> dict[str, float | int]:
    """Return flat figures.

    ``delta/<measure>`` in points, the whole's; ``delta/group/<group>/<measure>`` of a stratum; ``baseline/…`` and
    ``candidate/…`` the rates themselves; ``term/<rate>/<term>`` in points. Each with ``_lo`` and ``_hi`` where there is
    an interval.
    """
    metrics: dict[str, float | int] = {}
    for row in findings.deltas:
        metrics |= _delta(row)
    for row in findings.tables["terms"].to_pylist():
        metrics |= _bounded(f"term/{row['rate']}/{row['term']}", row["points"], row["low"], row["high"])
    return metrics | _counts(findings.facts)


def _delta(row: Delta) -> dict[str, float | int]:
    name = row.measure if row.facet == "all" else f"{row.facet}/{row.member}/{row.measure}"
    return {
        f"baseline/{name}": row.baseline,
        f"candidate/{name}": row.candidate,
        f"baseline/{name}_n": row.baseline_denominator,
        f"candidate/{name}_n": row.candidate_denominator,
        **_bounded(f"delta/{name}", row.delta_points, row.low, row.high),
    }


def _bounded(name: str, value: float, low: float | None, high: float | None) -> dict[str, float | int]:
    parts = {name: value, f"{name}_lo": low, f"{name}_hi": high}
    return {key: part for key, part in parts.items() if part is not None}


def _counts(facts: Mapping[str, Any]) -> dict[str, float | int]:
    metrics = {name: value for name, value in facts.items() if isinstance(value, int | float)}
    gained = facts["newly_answered"]
    metrics["newly_answered_cells"] = gained["cells"]
    metrics |= {f"newly_answered_pairs/{name}": value for name, value in gained["pairs"].items()}
    return metrics
