"""The closing table: findings of several systems side by side, what they are worth, where they are, what to do next."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from transplantqa.report.summary import closing_summary
from transplantqa.report.text import duration, figure_text, number, plain, shortened, told_apart
from transplantqa.store.run_folder import RunFolder

_BLOCKS = (
    ("findings", "Findings"),
    ("labels", "Labels, share of decided pairs"),
    ("checks", "Checks"),
    ("gold", "Gold"),
)
_SHOWN_DOCUMENTS = 10


def print_findings(runs: Sequence[RunFolder], commands: Sequence[str] = (), console: Console | None = None) -> None:
    """Print the closing table of finished runs; ``commands`` are further ones to suggest, such as a tracker's.

    Raises:
        InputError: if a run isn't finished.
    """
    summary = closing_summary(runs, commands)
    console = console or Console()
    console.print(findings_table(summary))
    for line in closing_lines(summary):
        console.print(line, soft_wrap=True)


def findings_table(summary: Mapping[str, Any]) -> Table:
    """Return the figures of a summary made by ``closing_summary``: a row for each measure, a column for each system."""
    runs = summary["runs"]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("")
    for name in told_apart([run["system"] for run in runs]):
        table.add_column(Text(plain(name)), justify="right")
    for key, title in _BLOCKS:
        _add_block(table, [run[key] for run in runs], title)
    _add_reuse(table, runs)
    _add_usage(table, runs)
    return table


def closing_lines(summary: Mapping[str, Any]) -> list[Text]:
    """Return what belongs under the figures: what they are worth, what failed, where they are, what to do next."""
    return [*_remarks(summary["runs"]), *_places(summary["runs"], summary["next"])]


def _add_block(table: Table, columns: Sequence[Sequence[Mapping[str, Any]]], title: str) -> None:
    names: dict[str, str] = {}
    for column in columns:
        names |= {figure["name"]: figure["title"] for figure in column}
    if not names:
        return
    table.add_section()
    table.add_row(Text(title, style="bold"))
    lookup = [{figure["name"]: figure for figure in column} for column in columns]
    for name, words in names.items():
        table.add_row(Text(f"  {plain(words)}"), *(Text(figure_text(figures.get(name))) for figures in lookup))


def _add_reuse(table: Table, runs: Sequence[Mapping[str, Any]]) -> None:
    stages = list(dict.fromkeys(entry["title"] for run in runs for entry in run["reuse"]))
    if not stages:
        return
    table.add_section()
    table.add_row(Text("Reused", style="bold"))
    for stage in stages:
        table.add_row(Text(f"  {plain(stage)}"), *(Text(_reused(run, stage)) for run in runs))


def _add_usage(table: Table, runs: Sequence[Mapping[str, Any]]) -> None:
    stages = list(dict.fromkeys(entry["title"] for run in runs for entry in run["usage"]))
    if not stages:
        return
    table.add_section()
    table.add_row(Text("Used, prompt + reply tokens", style="bold"))
    for stage in stages:
        entries = (next((entry for entry in run["usage"] if entry["title"] == stage), None) for run in runs)
        table.add_row(Text(f"  {plain(stage)}"), *(Text("-" if entry is None else _used(entry)) for entry in entries))


def _used(entry: Mapping[str, Any]) -> str:
    costs = "".join(f", {amount:,.2f} {currency}" for currency, amount in sorted(entry["cost"].items()))
    tokens = f"{entry['prompt_tokens']:,} + {entry['completion_tokens']:,}"
    return f"{tokens}, {duration(entry['seconds'])}{costs}"


def _reused(run: Mapping[str, Any], stage: str) -> str:
    for entry in run["reuse"]:
        if entry["title"] == stage:
            return f"{entry['reused']:,} of {entry['planned']:,}"
    return "-"


def _remarks(runs: Sequence[Mapping[str, Any]]) -> list[Text]:
    lines: list[Text] = []
    for run in runs:
        system = plain(run["system"])
        if run["not_an_instrument"]:
            lines.append(Text(f"{system}: not an instrument", style="bold"))
            lines += [Text(f"  {plain(reason)}") for reason in run["not_an_instrument"]]
        lines.append(Text(f"{system}: {plain(run['judge_validation'])}"))
        lines += [Text(f"{system}: {plain(note)}") for note in run["notes"]]
        lines += _failures(system, run)
        lines += _unreadable(system, run["unreadable_documents"])
    return lines


def _failures(system: str, run: Mapping[str, Any]) -> list[Text]:
    lines = []
    for table, outcomes in run["failures"].items():
        counted = ", ".join(f"{count:,} {outcome}" for outcome, count in outcomes.items())
        lines.append(Text(f"{system}: failed {table}: {counted}"))
    if undecided := run["undecided_pairs"]:
        lines.append(
            Text(f"{system}: {undecided:,} pairs have no label: an answer of theirs, or their judgement, failed")
        )
    ranges = [
        f"{figure['title']} {number(figure['best'])} to {number(figure['worst'])}"
        for figure in run["findings"]
        if "best" in figure and "worst" in figure
    ]
    if lines and ranges:
        lines.append(Text(f"{system}: whatever the failed units would have said: {'; '.join(ranges)}"))
    return lines


def _unreadable(system: str, documents: Sequence[Mapping[str, Any]]) -> list[Text]:
    if not documents:
        return []
    lines = [Text(f"{system}: {len(documents):,} unreadable documents, asked nothing and never counted as silent")]
    for document in documents[:_SHOWN_DOCUMENTS]:
        reasons = shortened("; ".join(document["reasons"]), 100)
        lines.append(Text(f"  {plain(document['document_id'])}: {reasons}"))
    if len(documents) > _SHOWN_DOCUMENTS:
        lines.append(Text(f"  and {len(documents) - _SHOWN_DOCUMENTS:,} more in documents.parquet"))
    return lines


def _places(runs: Sequence[Mapping[str, Any]], commands: Sequence[str]) -> list[Text]:
    lines = [Text()]
    for run in runs:
        seconds = sum(value for value in run["seconds"].values() if isinstance(value, int | float))
        took = f"  ({duration(seconds)})" if seconds else ""
        lines.append(Text(f"{plain(run['system'])}: {plain(run['path'])}{took}"))
        if run["page"] is not None:
            lines.append(Text(f"  to look at: {plain(run['page'])}"))
    if commands:
        lines += [Text(), Text("Next:")]
        lines += [Text(f"  {plain(command)}") for command in commands]
    return lines
