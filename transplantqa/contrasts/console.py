"""A contrast on the terminal: system table, decomposition, cells that changed, what it may be put down to."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow.parquet as pq
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from transplantqa.contrasts.folder import ContrastFolder
from transplantqa.report.text import plain, told_apart

Row = Mapping[str, Any]
MEASURES: Mapping[str, str] = {
    "absence_rate": "silent answers",
    "divergence_rate": "divergent pairs, pooled",
    "any_divergence_rate": "questions with divergence",
    "any_divergence_rarefied": "divergent questions, rarefied",
    "source_dependence_index": "source dependence index",
    "pair_absence_rate": "pairs with a silent side",
}
"""The measures shown, with their words; strata show the first three."""

EXPLORATORY = " *"
STRATUM_MEASURES = tuple(MEASURES)[:3]
TERM_WORDS: Mapping[str, str] = {
    "change": "change",
    "newly_answered": "  newly answered",
    "judged_into_view": "  judged into view",
    "intensity": "  same pairs, judged otherwise",
    "judged_out_of_view": "  judged out of view",
    "no_longer_answered": "  no longer answered",
}


def print_contrast(contrast: ContrastFolder, commands: Sequence[str] = (), console: Console | None = None) -> None:
    """Print a finished contrast; ``commands`` are further ones to suggest."""
    console = console or Console()
    record = contrast.record
    deltas = pq.read_table(contrast.path / "deltas.parquet").to_pylist()
    console.print(_deltas(record, deltas))
    console.print(_terms(pq.read_table(contrast.path / "terms.parquet").to_pylist()))
    for line in [*_changes(record["facts"]), *_remarks(record, deltas), "", str(contrast.path), *commands]:
        console.print(Text(plain(line)), soft_wrap=True)


def _deltas(record: Row, rows: Sequence[Row]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("")
    for name in told_apart([record[side]["system"] for side in ("baseline", "candidate")]):
        table.add_column(Text(plain(name)), justify="right", overflow="fold")
    table.add_column("points", justify="right")
    table.add_column("")
    shown = [row for row in rows if row["facet"] == "all"]
    shown += [row for row in rows if row["facet"] == "group" and row["measure"] in STRATUM_MEASURES]
    stratum = ""
    for row in shown:
        if row["facet"] != "all" and row["member"] != stratum:
            stratum = row["member"]
            table.add_section()
            table.add_row(Text(plain(stratum), style="bold"))
        table.add_row(
            MEASURES[row["measure"]],
            f"{row['baseline']:.3f} of {row['baseline_denominator']:,.0f}",
            f"{row['candidate']:.3f} of {row['candidate_denominator']:,.0f}",
            _points(row["delta_points"], row),
            f"{row['verdict']}{EXPLORATORY if row['exploratory'] else ''}",
        )
    return table


def _terms(rows: Sequence[Row]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title="Where the change comes from", title_justify="left")
    table.add_column("")
    rates = list(dict.fromkeys(row["rate"] for row in rows))
    for rate in rates:
        table.add_column(f"{MEASURES[rate]}, points", justify="right")
    found = {(row["rate"], row["term"]): row for row in rows}
    for term, words in TERM_WORDS.items():
        table.add_row(words, *(_points(found[rate, term]["points"], found[rate, term]) for rate in rates))
    return table


def _points(value: float, row: Row) -> str:
    bounds = "" if row["low"] is None else f" [{row['low']:+.1f},{row['high']:+.1f}]"
    return f"{value:+.1f}{bounds}"


def _changes(facts: Row) -> list[str]:
    cells = facts["cell_changes"]
    moved = [
        f"{count:,} {before.replace('_', ' ')} to {after.replace('_', ' ')}"
        for before, row in cells.items()
        for after, count in row.items()
        if before != after and count
    ]
    gained = facts["newly_answered"]
    shown = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in gained["pairs"].items() if count)
    visible = facts["visible_pairs"]
    return [
        f"Cells that changed: {', '.join(moved) or 'none'}",
        (
            f"{gained['cells']:,} newly answered cells; their pairs are {shown or 'none'}; "
            f"{gained['questions_with_conflict']:,} questions with a conflict among them, "
            f"{gained['questions_by_it_alone']:,} by them alone"
        ),
        (
            f"Visible pairs: {visible['baseline']:,} to {visible['candidate']:,}; so many pairs drawn at random "
            f"would bring {facts['growth_alone_points']:+.1f} points of questions with divergence, the rest is "
            f"{facts['beyond_growth_points']:+.1f}"
        ),
        (
            f"Questions: {facts['questions_gained_conflict']:,} gained a conflict, "
            f"{facts['questions_lost_conflict']:,} lost theirs (McNemar p {facts['mcnemar_p']:.3g})"
        ),
        f"Over {facts['pairs_decided_in_both']:,} pairs decided in both; {facts['pairs_left_out']:,} left out",
    ]


def _remarks(record: Row, deltas: Sequence[Row]) -> list[str]:
    found = record["components"]
    lines = ["", found["statement"]]
    for name, differences in found["details"].items():
        lines += [f"  {name}: {difference}" for difference in differences]
    for side in ("baseline", "candidate"):
        lines.append(f"{record[side]['system']}: {record[side]['judge']}")
        for reason in record[side]["not_an_instrument"]:
            lines.append(f"{record[side]['system']} is not an instrument: {reason}")
    if any(row["exploratory"] for row in deltas):
        lines.append(f"{EXPLORATORY.strip()} over so few questions an interval is exploratory")
    return lines
