"""The table of retrievers: a row a measure, a column a retriever, with its difference from the first."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from transplantqa.report.text import number, plain
from transplantqa.store.atomic import json_bytes

TITLES: tuple[tuple[str, str], ...] = (
    ("section_recall_at_1", "sections recalled, first"),
    ("section_recall_at_3", "first 3"),
    ("section_recall_at_5", "first 5"),
    ("section_recall_at_10", "first 10"),
    ("section_ndcg_at_10", "nDCG, first 10"),
    ("section_mrr", "mean reciprocal rank"),
    ("evidence_recall", "quotes shown"),
    ("evidence_tokens", "tokens shown"),
    ("silence_auc", "silence told apart (AUC)"),
    ("silence_accuracy", "silence decided right"),
    ("false_silence_rate", "silent where addressed"),
    ("missed_silence_rate", "not silent where silent"),
    ("routed_share", "given whole"),
    ("fallback_share", "fallback"),
    ("quotes_located", "gold quotes found in text"),
)
"""Measures with the words they go by, in the order shown."""

_PIPED_WIDTH = 240


def print_evaluation(record: Mapping[str, Any], output: Literal["table", "json"], commands: Sequence[str]) -> None:
    """Print an evaluation's record as a table with what belongs under it, or as JSON; ``commands`` lead further."""
    if output == "json":
        sys.stdout.write(json_bytes({**record, "next": list(commands)}).decode("utf-8"))
        return
    console = Console()
    if not console.is_terminal:
        console = Console(width=_PIPED_WIDTH)
    console.print(evaluation_table(record))
    for line in evaluation_lines(record, commands):
        console.print(line, soft_wrap=True)


def evaluation_table(record: Mapping[str, Any]) -> Table:
    """Return a row for each measure; under a value its difference from the first retriever's.

    The denominator stands once, in the column "of", and beside the values that have another.
    """
    retrievers = record["retrievers"]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("")
    table.add_column("of", justify="right")
    for retriever in retrievers:
        table.add_column(Text(plain(retriever["name"])), justify="right", overflow="fold")
    for name, title in TITLES:
        figures = [retriever["measures"][name] for retriever in retrievers]
        usual = next((figure["n"] for figure in figures if figure["value"] is not None), 0)
        table.add_row(title, f"{usual:,}", *(Text(_cell(figure, usual)) for figure in figures))
    return table


def evaluation_lines(record: Mapping[str, Any], commands: Sequence[str]) -> list[Text]:
    """Return what belongs under the table: denominators, failures, how to read it, where it is."""
    first = record["compared_with"]
    lines = [
        Text(f"{record['questions']} questions, {record['documents']} documents. Intervals resample questions;"),
        Text(f"second lines are differences from {plain(first)} on cells that the measure is over for both."),
        Text("A dash: over no cell, as ranks are where whole documents are given without a search."),
    ]
    for retriever in record["retrievers"]:
        failed = retriever["outcomes"].get("engine_error", 0)
        if failed:
            lines.append(Text(f"{plain(retriever['name'])}: {failed:,} units failed and are in no figure"))
    lines += [Text(), Text(plain(record["path"]))]
    return [*lines, *(Text(f"  {plain(command)}") for command in commands)]


def _cell(figure: Mapping[str, Any], usual: int) -> str:
    if figure["value"] is None:
        return "-"
    value = _short(figure["value"]) + ("" if figure["n"] == usual else f" of {figure['n']:,}")
    if figure["difference"] is None:
        return value
    low, high = figure["difference_low"], figure["difference_high"]
    interval = "" if low is None else f" [{_signed(low)},{_signed(high)}]"
    return f"{value}\n{_signed(figure['difference'])}{interval}"


def _short(value: float) -> str:
    return f"{value:,.0f}" if value > 1 else number(value)


def _signed(value: float) -> str:
    return f"{value:+,.0f}" if abs(value) > 1 else f"{value:+.3f}"
