"""The findings of one or several runs as plain data: what the closing table shows and ``--json`` prints."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow.compute as pc

from transplantqa.controls.folder import control_sentences
from transplantqa.records import FAILED_OUTCOMES, Label
from transplantqa.store.run_folder import RunFolder
from transplantqa.validation import NOT_VALIDATED, describe_run, measured

HEADLINES: tuple[tuple[str, str], ...] = (
    ("absence_rate", "silent answers"),
    ("pair_absence_rate", "pairs with a silent side"),
    ("divergence_rate", "divergent pairs, pooled"),
    ("divergence_rate_question_mean", "divergent, per question"),
    ("any_divergence_rate", "questions with divergence"),
    ("any_divergence_rarefied", "divergent questions, rarefied"),
    ("source_dependence_index", "source dependence index"),
    ("severity_weighted_divergence", "severity-weighted"),
)
"""Headline measures with the words they go by, in the order shown."""

LABEL_SHARES: tuple[tuple[str, str], ...] = tuple((f"label/{label}", label) for label in Label)
CHECKS: tuple[tuple[str, str], ...] = (
    ("support_rate", "answers supported by evidence"),
    ("parse_success_rate", "judgements parsed"),
    ("judge_order_consistency", "labels kept in the other order"),
    ("judge_noise_floor", "labels changed when judged again"),
    ("failure_rate", "failed units"),
    ("judge_kappa", "judge against people (kappa)"),
)
GOLD: tuple[tuple[str, str], ...] = (
    ("absence_accuracy", "silence or answer, right"),
    ("absence_balanced_accuracy", "the same, balanced"),
    ("false_silence_rate", "silent where it is answered"),
    ("invented_answer_rate", "answered where it is silent"),
    ("section_recall", "sections retrieved"),
    ("pair_label_accuracy", "pair labels right"),
    ("pair_label_kappa", "the same, kappa"),
    ("judge_gold_accuracy", "judge right, both answered"),
    ("judge_gold_kappa", "the same, kappa"),
)
"""Figures against gold that the closing table shows; the others are in the summary's ``gold_details``."""

_SUFFIXES = ("_n", "_lo", "_hi", "_best", "_worst")
_STAGE_WORDS = {"ingest": "documents", "retrieve": "evidence", "generate": "answers", "compare": "judgements"}
_COUNTED_TABLES = ("evidence", "answers", "judgements")


def closing_summary(runs: Sequence[RunFolder], commands: Sequence[str] = ()) -> dict[str, Any]:
    """Return the findings of finished runs, JSON-safe, with the commands that lead further: ``commands`` and our own.

    Each figure is a mapping of ``name``, ``title``, ``value`` and, where there are, ``n`` (its denominator), the
    interval ``lo``, ``hi``, and ``best``, ``worst`` over all ways the failed units could have ended.

    Raises:
        InputError: if a run isn't finished.
    """
    return {"runs": [_run_summary(run) for run in runs], "next": [*commands, *next_commands(runs)]}


def next_commands(runs: Sequence[RunFolder]) -> list[str]:
    """Return the commands a person types next, each complete."""
    if not runs:
        return []
    first = runs[0]
    question = _first_question(first)
    commands = [] if question is None else [f"transplantqa show {_argument('question', question)} run={first.path}"]
    if len(runs) > 1:
        sides = zip(("baseline", "candidate"), runs, strict=False)
        commands.append(f"transplantqa contrast {' '.join(_argument(side, str(run.path)) for side, run in sides)}")
    paths = ",".join(str(run.path) for run in runs)
    return [*commands, f"transplantqa release {_argument('runs', f'[{paths}]')}"]


def figure(figures: Mapping[str, float], name: str, title: str) -> dict[str, Any] | None:
    """Return one figure with its parts (see ``closing_summary``); null where it has neither value nor denominator."""
    if name not in figures and f"{name}_n" not in figures:
        return None
    found: dict[str, Any] = {"name": name, "title": title, "value": figures.get(name)}
    for part in ("n", "lo", "hi", "best", "worst"):
        if f"{name}_{part}" in figures:
            found[part] = figures[f"{name}_{part}"]
    if "n" in found and float(found["n"]).is_integer():
        found["n"] = int(found["n"])
    return found


def _run_summary(run: RunFolder) -> dict[str, Any]:
    measures, validation = measured(run), describe_run(run)
    return {
        "system": run.system,
        "run_id": run.run_id,
        "sweep_id": run.sweep_id,
        "path": str(run.path),
        "page": str(page) if (page := run.path / "report.html").is_file() else None,
        "findings": _figures(measures.metrics, HEADLINES),
        "labels": _figures(measures.metrics, LABEL_SHARES),
        "checks": _figures(measures.metrics, CHECKS),
        "gold": _figures(measures.gold, GOLD),
        "gold_details": _figures(measures.gold, _details(measures.gold)),
        "not_an_instrument": list(measures.not_an_instrument),
        "judge_validated": validation != NOT_VALIDATED,
        "judge_validation": validation,
        "notes": [*measures.notes, *control_sentences(run)],
        "failures": _failures(run),
        "undecided_pairs": sum(_failed(run, "comparisons").values()),
        "unreadable_documents": _unreadable(run),
        "reuse": _reuse(run),
        "tokens": {
            kind: int(measures.metrics[f"tokens_{kind}"])
            for kind in ("prompt", "completion")
            if f"tokens_{kind}" in measures.metrics
        },
        "usage": _usage(measures.metrics),
        "seconds": dict(run.section("seconds")),
    }


def _usage(metrics: Mapping[str, float]) -> list[dict[str, Any]]:
    """Return what the calls of each stage used, of stages that made any: tokens, engine seconds, cost by currency."""
    return [
        {
            "stage": stage,
            "title": _STAGE_WORDS[stage],
            **{f"{kind}_tokens": int(metrics.get(f"tokens_{kind}_{stage}", 0)) for kind in _TOKENS},
            "seconds": metrics.get(f"seconds_{stage}", 0.0),
            "cost": {
                name.removeprefix("cost_").removesuffix(f"_{stage}").upper(): amount
                for name, amount in metrics.items()
                if name.startswith("cost_") and name.endswith(f"_{stage}")
            },
        }
        for stage in ("generate", "compare")
        if metrics.get(f"tokens_prompt_{stage}")
    ]


_TOKENS = ("prompt", "cached", "completion")


def _figures(figures: Mapping[str, float], wanted: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    found = (figure(figures, name, title) for name, title in wanted)
    return [item for item in found if item is not None]


def _details(figures: Mapping[str, float]) -> list[tuple[str, str]]:
    """Return the other figures with titles made of their names; denominators are parts of their figure."""
    bases = dict.fromkeys(_base(name, figures) for name in figures)
    shown = {name for name, _ in GOLD}
    return [(name, name.replace("_", " ")) for name in bases if name not in shown]


def _base(name: str, figures: Mapping[str, float]) -> str:
    for suffix in _SUFFIXES:
        base = name.removesuffix(suffix)
        if base != name and (base in figures or suffix == "_n"):
            return base
    return name


def _failures(run: RunFolder) -> dict[str, dict[str, int]]:
    """Return table to failed outcome to units, only where there are any."""
    counted = {name: _failed(run, name) for name in _COUNTED_TABLES}
    return {name: outcomes for name, outcomes in counted.items() if outcomes}


def _failed(run: RunFolder, table: str) -> dict[str, int]:
    if not run.has_table(table):
        return {}
    counts = pc.value_counts(run.table(table, ["outcome"])["outcome"]).to_pylist()
    failed = {row["values"]: row["counts"] for row in counts if row["values"] in set(FAILED_OUTCOMES)}
    return dict(sorted(failed.items()))


def _unreadable(run: RunFolder) -> list[dict[str, Any]]:
    if not run.has_table("documents"):
        return []
    rows = run.table("documents", ["document_id", "verdict", "reasons"]).to_pylist()
    rejected = [row for row in rows if row["verdict"] == "reject"]
    return [{"document_id": row["document_id"], "reasons": row["reasons"]} for row in rejected]


def _reuse(run: RunFolder) -> list[dict[str, Any]]:
    """Return stages with the units that earlier runs had done, of all units that have an outcome."""
    outcomes = run.section("outcomes")
    return [
        {
            "stage": stage,
            "title": _STAGE_WORDS.get(stage, stage),
            "reused": int(reused),
            "planned": sum(outcomes[stage].values()),
        }
        for stage, reused in sorted(run.section("reused").items(), key=_stage_order)
        if isinstance(outcomes.get(stage), Mapping)
    ]


def _stage_order(entry: tuple[str, Any]) -> tuple[int, str]:
    stages = list(_STAGE_WORDS)
    return (stages.index(entry[0]) if entry[0] in stages else len(stages), entry[0])


def _argument(key: str, value: str) -> str:
    return shlex.quote(f"{key}={value}")


def _first_question(run: RunFolder) -> str | None:
    if not run.has_table("questions"):
        return None
    ids = run.table("questions", ["question_id"])["question_id"].to_pylist()
    return ids[0] if ids else None
