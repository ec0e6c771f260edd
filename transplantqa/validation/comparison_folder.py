"""A comparison of judges written down and shown."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from transplantqa.report.text import plain, told_apart
from transplantqa.store import digest
from transplantqa.store.atomic import json_bytes, refusals, write_atomically
from transplantqa.store.run_folder import RunFolder
from transplantqa.validation.compare import Comparison
from transplantqa.validation.console import MEASURES, value_text
from transplantqa.validation.record_folder import figure_table
from transplantqa.validation.resampling import Bootstrap

COMPARISON_FILE, FIGURES_FILE = "comparison.json", "agreement.parquet"
_ID_CHARACTERS = 16
_SHOWN = ("raw", "kappa", "kappa_linear", "macro_f1")


def write_comparison(
    artifacts: Path, runs: Sequence[RunFolder], sample_id: str | None, found: Comparison, bootstrap: Bootstrap
) -> Path:
    """Write a comparison and return its folder; ``comparison.json`` comes last.

    Raises:
        StoreError: the disk refuses.
    """
    settings = {"sample_id": sample_id, "bootstrap": bootstrap.identity()}
    comparison_id = digest([[run.run_id for run in runs], settings])[:_ID_CHARACTERS]
    folder = artifacts / "validation" / "comparisons" / comparison_id
    with refusals("write", folder):
        folder.mkdir(parents=True, exist_ok=True)
        pq.write_table(figure_table([asdict(one) for one in found.figures]), folder / FIGURES_FILE, compression="zstd")
    record = {
        "comparison_id": comparison_id,
        "settings": settings,
        "pairs": found.pairs,
        "judges": [
            {
                "system": run.system,
                "run_id": run.run_id,
                "judge": str(run.section("fingerprints").get("compare")),
                **cost,
            }
            for run, cost in zip(runs, found.costs, strict=True)
        ],
    }
    write_atomically(folder / COMPARISON_FILE, json_bytes(record))
    return folder


def print_comparison(found: Comparison, folder: Path, console: Console | None = None) -> None:
    """Print time and tokens a pair of each judge, and agreement."""
    console = console or Console()
    shown = dict(zip(found.names, told_apart(found.names), strict=True))
    console.print(_costs(found, shown))
    console.print(_agreement(found, shown))
    named = [f"  {short}: {name}" for name, short in shown.items() if short != name]
    lines = [f"Over {found.pairs:,} pairs that every judge decided from the same answers", *named, "", str(folder)]
    for line in lines:
        console.print(Text(plain(line)), soft_wrap=True)


def _costs(found: Comparison, shown: Mapping[str, str]) -> Table:
    table = _table(
        "Cost", ["", "no label", "judgements", "seconds a pair", "prompt tokens a pair", "of them cached", "completion"]
    )
    for name, cost in zip(found.names, found.costs, strict=True):
        shares = [
            f"{cost['seconds_per_pair']:.4g}",
            *(f"{cost[f'{kind}_tokens_per_pair']:,.1f}" for kind in ("prompt", "cached", "completion")),
        ]
        counts = (f"{cost[kind]:,.0f}" for kind in ("without_label", "judgements"))
        table.add_row(Text(plain(shown[name])), *counts, *shares)
    return table


def _agreement(found: Comparison, shown: Mapping[str, str]) -> Table:
    table = _table("Agreement (the second is the reference)", ["", *(MEASURES[name] for name in _SHOWN)])
    cells = {
        (one.between, one.measure): asdict(one) for one in found.figures if one.label is None and one.pairs == "all"
    }
    references = {**shown, "people": "people"}
    words = {f"{a}~{b}": f"{shown[a]}~{references[b]}" for a in shown for b in references}
    for between in dict.fromkeys(between for between, _ in cells):
        table.add_row(Text(plain(words[between])), *(value_text(cells[between, name]) for name in _SHOWN))
    return table


def _table(title: str, columns: Sequence[str]) -> Table:
    table: Any = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=title, title_justify="left")
    for place, name in enumerate(columns):
        table.add_column(name, justify="left" if place == 0 else "right", overflow="fold")
    made: Table = table
    return made
