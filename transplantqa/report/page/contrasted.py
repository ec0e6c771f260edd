"""The contrasts that a run is a side of, as the page shows them."""

from collections.abc import Mapping
from typing import Any

from transplantqa.analysis.contrast import TERMS
from transplantqa.contrasts.folder import CONTRAST_FILE, ContrastFolder
from transplantqa.errors import InputError
from transplantqa.report.summary import HEADLINES
from transplantqa.store.run_folder import RunFolder


def contrasts_of(run: RunFolder) -> list[dict[str, Any]]:
    """Return the contrasts under the same artifacts folder that this run is a side of, by id."""
    found = []
    for file in sorted(run.path.parent.parent.glob(f"contrasts/*/{CONTRAST_FILE}")):
        contrast = ContrastFolder(file.parent)
        try:
            record = contrast.record
        except InputError:  # another folder's damage is no reason to leave a run without its page
            continue
        if run.run_id not in {record["baseline"]["run_id"], record["candidate"]["run_id"]}:
            continue
        terms = {name: contrast.metrics.get(f"term/any_divergence_rate/{name}") for name in ("change", *TERMS)}
        found.append(
            {
                "id": contrast.path.name,
                "term_rows": contrast.rows("terms"),
                "baseline": record["baseline"]["system"],
                "candidate": record["candidate"]["system"],
                "statement": record["components"]["statement"],
                "judged": _judged(record),
                "path": str(contrast.path),
                "deltas": [figure for name in HEADLINES if (figure := _delta(contrast.metrics, *name)) is not None],
                "terms": {name.replace("_", " "): value for name, value in terms.items() if value is not None},
                "growth": contrast.metrics.get("growth_alone_points"),
                "beyond": contrast.metrics.get("beyond_growth_points"),
                "groups": _groups(contrast),
                **_changed(record.get("facts") or {}),
            }
        )
    return found


def _judged(record: Mapping[str, Any]) -> list[str]:
    """Return what each side's judge is worth, as known when they were contrasted."""
    lines = []
    for side in (record["baseline"], record["candidate"]):
        lines += [f"{side['system']}: {side['judge']}."] if "judge" in side else []
        lines += [f"{side['system']} is not an instrument: {why}" for why in side.get("not_an_instrument", ())]
    return lines


def _delta(metrics: Mapping[str, float], name: str, title: str) -> dict[str, Any] | None:
    """Return one measure in both systems and its difference in points."""
    if f"delta/{name}" not in metrics:
        return None
    parts = {part: metrics.get(f"delta/{name}_{part}") for part in ("lo", "hi")}
    sides = {side: metrics[f"{side}/{name}"] for side in ("baseline", "candidate")}
    return {"title": title, "points": metrics[f"delta/{name}"], **parts, **sides}


def _groups(contrast: ContrastFolder) -> list[Mapping[str, Any]]:
    """Return the differences of each group: silence, divergence, questions with divergence."""
    titles = dict(HEADLINES)
    shown = ("absence_rate", "divergence_rate", "any_divergence_rate")
    rows = [row for row in contrast.rows("deltas") if row["facet"] == "group" and row["measure"] in shown]
    return [{**row, "title": titles[row["measure"]]} for row in rows]


def _changed(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return in words which cells changed their state, and what the newly answered revealed."""
    moved = [
        f"{count:,} {before.replace('_', ' ')} to {after.replace('_', ' ')}"
        for before, row in (facts.get("cell_changes") or {}).items()
        for after, count in row.items()
        if before != after and count
    ]
    gained = facts.get("newly_answered")
    if not gained:
        return {"moved": moved, "revealed": ""}
    pairs = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in gained["pairs"].items() if count)
    return {"moved": moved, "revealed": f"Pairs of the {gained['cells']:,} newly answered cells: {pairs or 'none'}."}
