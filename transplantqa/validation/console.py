"""A sample and a validation on the terminal."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow.parquet as pq
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from transplantqa.report.text import plain
from transplantqa.validation.record import Validation, describe
from transplantqa.validation.record_folder import DISPUTES_PAGE
from transplantqa.validation.sample_folder import PAGE_FILE, SHEET_FILE, SampleFolder

MEASURES: Mapping[str, str] = {
    "raw": "same label",
    "kappa": "Cohen's kappa",
    "kappa_linear": "linear kappa",
    "alpha": "Krippendorff's alpha",
    "alpha_ordinal": "ordinal alpha",
    "macro_f1": "macro F1",
}
REFERENCES: Mapping[str, str] = {
    "agreed": "agreed",
    "decided": "decided",
    "best": "best case",
    "worst": "worst case",
}
SUBSETS: Mapping[str, str] = {
    "all": "all pairs",
    "judged": "pairs the judge decided",
    "without_absent": "neither side says ABSENT",
}
UNDEFINED = "undefined"
Row = Mapping[str, Any]


def print_sample(sample: SampleFolder, console: Console | None = None) -> None:
    """Print what was drawn from what, where it is, and what to do next."""
    console = console or Console()
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name, justify in (("stratum", "left"), ("pairs", "right"), ("drawn", "right"), ("chance", "right")):
        table.add_column(name, justify=justify)  # type: ignore[arg-type]
    for name, facts in sample.record["strata"].items():
        chance = f"{facts['drawn'] / facts['population']:.3g}"
        table.add_row(Text(plain(name)), f"{facts['population']:,}", f"{facts['drawn']:,}", chance)
    console.print(table)
    left_out = sample.record["unlabelled_pairs"]
    remark = [f"{left_out:,} pairs of the run failed and have no label; they can't be drawn."] if left_out else []
    _print_lines(
        console,
        [
            *remark,
            f"For annotators: {sample.path / PAGE_FILE}",
            f"            or: {sample.path / SHEET_FILE}",
            f"Keep the rest of {sample.path} to yourself: it is the key.",
            "",
            "Next, with a file from each annotator, named after their code:",
            f"  transplantqa validate agreement run={sample.record['run_id']} sample={sample.sample_id} r1.json r2.csv",
        ],
    )


def print_validation(found: Validation, commands: Sequence[str] = (), console: Console | None = None) -> None:
    """Print a judge's agreement with people; ``commands`` are further ones to suggest."""
    console = console or Console()
    rows = pq.read_table(found.path / "agreement.parquet").to_pylist()
    labels = [row for row in rows if row["about"] == "label"]
    console.print(_against_people(labels))
    console.print(_per_label(labels))
    console.print(_everybody(labels))
    severity = [row for row in rows if row["about"] == "significance" and row["pairs"] == "all"]
    if any(row["n"] for row in severity):
        console.print(_everybody(severity, "Significance of conflicts"))
    console.print(_bias(pq.read_table(found.path / "bias.parquet").to_pylist()))
    _print_lines(console, [*_remarks(found), "", f"Every figure, with interval and n: {found.path}", *commands])


def value_text(row: Row) -> str:
    """Return a figure as ``0.61 [0.50,0.70] of 160``, or "undefined" with the reason."""
    if row["value"] is None:
        return f"{UNDEFINED} ({row['undefined']})"
    return f"{row['value']:.3f}{_interval(row)} of {row['n']:,}"


def _interval(row: Row) -> str:
    return "" if row["low"] is None or row["high"] is None else f" [{row['low']:.2f},{row['high']:.2f}]"


def _against_people(rows: Sequence[Row]) -> Table:
    """Return a row a subset of pairs, reference and weighting; kappa with its interval."""
    shown = [row for row in rows if row["between"] == "judge~people" and row["label"] is None]
    table = _table("Judge against people (guess: always the commonest label)", ["", "pairs", *_SHOWN.values()])
    for subset, words in SUBSETS.items():
        cells = {(row["reference"], row["weighting"], row["measure"]): row for row in shown if row["pairs"] == subset}
        if cells:
            table.add_section()
            table.add_row(Text(words, style="bold"))
        for reference, weighting in dict.fromkeys((reference, weighting) for reference, weighting, _ in cells):
            found = [cells[reference, weighting, name] for name in _SHOWN]
            values = (_number(row) + (_interval(row) if row["measure"] == "kappa" else "") for row in found)
            table.add_row(f"  {REFERENCES[reference]}, {_WEIGHTED[weighting]}", f"{found[0]['n']:,}", *values)
    return table


_WEIGHTED = {"drawn": "as drawn", "population": "re-weighted"}
_SHOWN = {
    "raw": "same",
    "kappa": "kappa",
    "kappa_linear": "linear",
    "alpha": "alpha",
    "macro_f1": "F1",
    "weighted_f1": "wtd F1",
    "constant_raw": "guess",
}


def _number(row: Row) -> str:
    return UNDEFINED if row["value"] is None else f"{row['value']:.3f}"


def _per_label(rows: Sequence[Row]) -> Table:
    facts = ("judge~people", "decided", "all", "drawn")
    shown = [row for row in rows if (row["between"], row["reference"], row["pairs"], row["weighting"]) == facts]
    cells = {(row["measure"], row["label"]): row for row in shown if row["label"] is not None}
    table = _table("By label, decided by people, as drawn", ["", "precision", "recall", "F1"])
    for label in dict.fromkeys(label for _, label in cells):
        table.add_row(label, *(value_text(cells[name, label]) for name in ("precision", "recall", "f1")))
    return table


def _everybody(
    rows: Sequence[Row], title: str = "Between each two, and all people at once, all pairs as drawn"
) -> Table:
    names = ("raw", "kappa", "alpha", "alpha_ordinal")
    shown = [row for row in rows if row["pairs"] == "all" and row["weighting"] == "drawn" and row["label"] is None]
    shown = [row for row in shown if row["reference"] in {"", "decided"}]
    table = _table(title, ["", *(MEASURES[name] for name in names)])
    for between in dict.fromkeys(row["between"] for row in shown):
        cells = {row["measure"]: row for row in shown if row["between"] == between}
        table.add_row(Text(plain(between)), *(value_text(cells[name]) if name in cells else "" for name in names))
    return table


def _bias(rows: Sequence[Row]) -> Table:
    table = _table("Where the judge differs", ["", "", "pairs", "same label", "conflicts beyond people's"])
    facet = ""
    for row in rows:
        name = "" if row["facet"] == facet else row["facet"].replace("_", " ")
        facet = row["facet"]
        shares = [_share(row, "agreement", ".3f"), _share(row, "conflict_excess", "+.3f")]
        table.add_row(name, Text(plain(row["member"])), f"{row['n']:,}", *shares)
    return table


def _share(row: Row, name: str, form: str) -> str:
    if row[name] is None:
        return UNDEFINED
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    return f"{row[name]:{form}}" + ("" if low is None or high is None else f" [{low:{form}},{high:{form}}]")


def _table(title: str, columns: Sequence[str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=title, title_justify="left")
    for place, name in enumerate(columns):
        table.add_column(name, justify="left" if place == 0 else "right", overflow="fold")
    return table


def _remarks(found: Validation) -> list[str]:
    content = found.content
    counts = content["counts"]
    lines = [describe(found)]
    lines += [f"  labels of {name}: {count:,} of {counts['pairs']:,}" for name, count in content["labelled"].items()]
    if counts["answers_changed"]:
        lines.append(f"{counts['answers_changed']:,} sampled pairs left out: the run has other answers, or none")
    if counts["without_judge_label"]:
        lines.append(f"{counts['without_judge_label']:,} pairs have no label of the judge")
    if counts["missing"]:
        lines.append(f"{counts['missing']:,} pairs have no label of anybody; they are missing, not guessed")
    lines += _spellings(content)
    for reason in content["not_an_instrument"]:
        lines.append(f"Not an instrument: {reason}")
    if counts["disputed"]:
        lines += [
            f"{counts['disputed']:,} disputed pairs are not settled; best and worst case: all for, all against it.",
            f"For a third annotator: {found.path / DISPUTES_PAGE}; then give their file too, with adjudicator=CODE.",
        ]
    return lines


def _spellings(content: Row) -> list[str]:
    lines = []
    for part in ("labels", "significances"):
        unknown = content[f"unknown_{part}"]
        if unknown:
            listed = ", ".join(f"{spelling!r} {count} times" for spelling, count in unknown.items())
            lines.append(f"Not understood as {part}, so missing: {listed}")
    if content["unknown_labels"]:
        lines.append("  To say what a spelling means: '+spellings={partial: COMPLEMENTARY}'")
    if content["significances_without_conflict"]:
        lines.append(
            f"{content['significances_without_conflict']} significances of pairs without conflict are left out"
        )
    return lines


def _print_lines(console: Console, lines: Iterable[str]) -> None:
    for line in lines:
        console.print(Text(plain(line)), soft_wrap=True)
