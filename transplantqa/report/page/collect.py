"""What the page shows of a run, gathered from its folder as plain data."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow.compute as pc
import yaml

from transplantqa.redaction import redact
from transplantqa.report.corrected import corrected_rows
from transplantqa.report.page.contrasted import contrasts_of
from transplantqa.report.page.coverage import Coverage, coverage
from transplantqa.report.page.detail import Bounds, Detail, detail
from transplantqa.report.summary import closing_summary, figure
from transplantqa.report.text import plain
from transplantqa.store.run_folder import RunFolder

Row = Mapping[str, Any]
STRATA = {"group": "By group", "topic": "By topic", "scope": "By scope"}
SCOPE_WORDS = {
    "cross_institution": "different institutions, compatible phases",
    "cross_phase": "different institutions, other phases",
    "same_institution": "same institution",
    "all": "all of these",
}
UNITS = {
    "absence_rate": "answers",
    "pair_absence_rate": "pairs",
    "divergence_rate": "visible pairs",
    "divergence_rate_question_mean": "questions",
    "any_divergence_rate": "questions",
    "any_divergence_rarefied": "questions",
    "source_dependence_index": "pairs with an answer",
    "severity_weighted_divergence": "visible pairs",
}
"""What each headline measure is over, in a word or two; see ``docs/measures.md``."""
MOST_STRATA = 60
MOST_INSTITUTIONS = 60
MOST_LISTED_QUESTIONS = 2_000
MOST_THEMES = 60
MOST_FEATURES = 15
"""Bounds of what the page lists; all are ours, and the page says what they left out."""


def page_content(run: RunFolder, bounds: Bounds) -> dict[str, Any]:
    """Return everything a page shows, JSON-safe but for ``coverage`` and ``detail``, which are records.

    Raises:
        InputError: if the run isn't finished.
    """
    documents = _documents(run)
    grid = coverage(run, documents)
    questions = _questions(run, grid)
    place = {row["document_id"]: number for number, row in enumerate(documents)}
    details: Detail = detail(run, [row["question_id"] for row in questions], place, bounds)
    summary = closing_summary([run])["runs"][0]
    detailed = {row["q"] for row in details.questions}
    return {
        "run": summary,
        "domain": {name: str(value) for name, value in _mapping(run.config.get("domain")).items()},
        "documents": documents,
        "questions": [{**row, "detailed": row["question_id"] in detailed} for row in questions[:MOST_LISTED_QUESTIONS]],
        "questions_total": len(questions),
        "topics": sorted({topic for row in questions for topic in row["topics"]}),
        "groups": sorted({group for row in questions for group in row["groups"]}),
        "exploratory": _exploratory(run),
        "units": UNITS,
        "strata": [(title, *_strata(run, facet)) for facet, title in STRATA.items()],
        "institutions": _institutions(run),
        "label_rows": run.rows("labels") if run.has_table("labels") else [],
        "dependence_rows": _dependence(run),
        "themes": _themes(run),
        "prediction": _prediction(run),
        "sensitivity": _sensitivity(run),
        "corrected": corrected_rows(run),
        "contrasts": contrasts_of(run),
        "coverage": grid,
        "detail": details,
        "bounds": bounds,
        "made": _made(run),
    }


def _documents(run: RunFolder) -> list[dict[str, Any]]:
    """Return the readable documents by institution and id."""
    columns = ["document_id", "institution", "group", "phase", "title", "year", "verdict"]
    rows = [row for row in run.table("documents", columns).to_pylist() if row["verdict"] != "reject"]
    return sorted(rows, key=lambda row: (row["institution"], row["document_id"]))


def _questions(run: RunFolder, grid: Coverage) -> list[dict[str, Any]]:
    """Return the questions with their counts, those whose answer depends most on the source first."""
    asked = {row["question_id"]: row for row in run.rows("questions")}
    counted = run.rows("by_questions") if run.has_table("by_questions") else []
    ranked = [row["question_id"] for row in counted] or sorted(asked)
    counts = {row["question_id"]: row for row in counted}
    codes = dict(zip(grid.questions, grid.rows, strict=True))
    return [
        {
            "question_id": name,
            "text": plain(asked[name]["text"]),
            "topics": [plain(topic) for topic in asked[name]["topics"]],
            "groups": [plain(group) for group in asked[name]["groups"]] or ["general"],
            "answered": codes.get(name, "").count("a"),
            "asked": len(codes.get(name, "").replace(" ", "")),
            "visible": counts.get(name, {}).get("visible"),
            "conflicts": counts.get(name, {}).get("conflicts"),
            "dependence": counts.get(name, {}).get("source_dependence_index"),
        }
        for name in ranked
        if name in asked
    ]


def _strata(run: RunFolder, facet: str) -> tuple[list[dict[str, Any]], int]:
    """Return pooled divergence by member of a facet, those with most visible pairs first, and how many are left out."""
    if not run.has_table("measures"):
        return [], 0
    counts = ["value", "numerator", "denominator", "low", "high", "exploratory"]
    table = run.table("measures", ["facet", "member", "measure", *counts])
    chosen = pc.and_(pc.equal(table["facet"], facet), pc.equal(table["measure"], "divergence_rate"))
    rows = [row for row in table.filter(chosen).to_pylist() if row["value"] is not None]
    if facet == "scope":
        rows = [{**row, "member": SCOPE_WORDS[row["member"]]} for row in rows]
    rows.sort(key=lambda row: (-row["denominator"], row["member"]))
    return rows[:MOST_STRATA], max(0, len(rows) - MOST_STRATA)


def _exploratory(run: RunFolder) -> list[str]:
    """Return the headline measures whose interval is over too few questions to be more than exploratory."""
    if not run.has_table("measures"):
        return []
    table = run.table("measures", ["facet", "measure", "exploratory"])
    chosen = table.filter(pc.and_(pc.equal(table["facet"], "all"), table["exploratory"]))
    return [str(name) for name in chosen["measure"].to_pylist()]


def _institutions(run: RunFolder) -> dict[str, Any]:
    """Return institutions by name and, of each pair of them, conflicts and visible pairs."""
    rows = run.rows("institution_pairs") if run.has_table("institution_pairs") else []
    names = sorted({name for row in rows for name in (row["a"], row["b"])})
    shown = names[:MOST_INSTITUTIONS]
    cells = {(row["a"], row["b"]): row for row in rows}
    matrix = [[_cell(cells.get((min(a, b), max(a, b)))) for b in shown] for a in shown]
    return {"names": shown, "matrix": matrix, "left_out": len(names) - len(shown)}


def _cell(row: Row | None) -> dict[str, Any] | None:
    if row is None or not row["visible"]:
        return None
    return {"rate": row["divergence_rate"], "conflicts": row["conflicts"], "visible": row["visible"]}


def _dependence(run: RunFolder) -> list[Row]:
    """Return every question's source-dependence and its parts, the highest first."""
    if not run.has_table("by_questions"):
        return []
    parts = ["source_dependence_index", "source_dependence_silence", "source_dependence_conflict"]
    return list(run.table("by_questions", parts).to_pylist())


def _themes(run: RunFolder) -> dict[str, Any]:
    """Return the largest themes, how many are left out, and how they agree with those at other distances."""
    rows = run.rows("themes") if run.has_table("themes") else []
    prefix = "theme_agreement_at/"
    agreement = {
        name.removeprefix(prefix): value for name, value in run.measures.metrics.items() if name.startswith(prefix)
    }
    return {"rows": rows[:MOST_THEMES], "left_out": max(0, len(rows) - MOST_THEMES), "agreement": agreement}


def _prediction(run: RunFolder) -> dict[str, Any]:
    """Return how well divergence is foreseen, or how many questions it would take; empty for an older run."""
    metrics = run.measures.metrics
    if "prediction_n" not in metrics:
        return {}
    scores = [
        found
        for model in ("logistic_regression", "gradient_boosting")
        for score, words in (("auc", "area under the ROC curve"), ("ap", "average precision"))
        if (found := figure(metrics, f"prediction/{model}/{score}", f"{model.replace('_', ' ')}, {words}")) is not None
    ]
    features = run.rows("prediction")[:MOST_FEATURES] if run.has_table("prediction") else []
    counts = {name: metrics.get(f"prediction_{name}") for name in ("n", "positives", "needed", "base_rate")}
    return {"scores": scores, "features": features, **counts}


def _sensitivity(run: RunFolder) -> dict[str, Any]:
    """Return any-divergence by chance of a false conflict (rows) and of a hidden one (columns)."""
    rows = run.rows("any_divergence_sensitivity") if run.has_table("any_divergence_sensitivity") else []
    false = sorted({row["false_conflict_rate"] for row in rows})
    hidden = sorted({row["hidden_conflict_rate"] for row in rows})
    rate = {(row["false_conflict_rate"], row["hidden_conflict_rate"]): row["any_divergence_rate"] for row in rows}
    return {"hidden": hidden, "rows": [(chance, [rate[chance, other] for other in hidden]) for chance in false]}


def _made(run: RunFolder) -> dict[str, Any]:
    """Return how the run was made, without secrets."""
    record: Mapping[str, Any] = redact(run.record)
    return {
        "created": str(record.get("created") or "at an unknown time"),
        "fingerprints": dict(_mapping(record.get("fingerprints"))),
        "versions": dict(_mapping(record.get("versions"))),
        "outcomes": {name: dict(_mapping(found)) for name, found in _mapping(record.get("outcomes")).items()},
        "config": yaml.safe_dump(_plain(record.get("config") or {}), sort_keys=False, allow_unicode=True),
    }


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item) for item in value]
    return value
