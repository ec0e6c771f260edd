"""The command ``reproduce``: a table of published claims beside what finished runs give."""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from transplantqa.corpus.paths import located
from transplantqa.errors import EXIT_OK, ConfigError
from transplantqa.release.claims import Checked, Claims, check, load_claims
from transplantqa.report.text import number, safe
from transplantqa.store.run_folder import RunFolder, open_named
from transplantqa.validation import measured

USAGE = "transplantqa reproduce [BASELINE] RUN [claims=FILE] [output=table|json] [artifacts=DIR]"
MOST_RUNS = 2


def main(arguments: Sequence[str]) -> int:
    """Print each claim with its measure, denominator, their value, ours and the verdict; return the exit code.

    A figure that differs is a finding and no error.

    Raises:
        ConfigError: no run is named, or more than two.
        InputError: a run or the claims can't be read.
    """
    own = {key: value for key, _, value in (text.partition("=") for text in arguments) if key in {"claims", "output"}}
    rest = [text for text in arguments if text.partition("=")[0] not in own]
    if own.get("output", "table") not in {"table", "json"}:
        raise ConfigError(f"output: {own['output']!r} is not one of table, json.\nUsage: {USAGE}")
    runs = open_named(rest, USAGE)
    if len(runs) > MOST_RUNS:
        raise ConfigError(f"{len(runs)} runs are named; a change is between two.\nUsage: {USAGE}")
    claims = load_claims(located(own["claims"]) if "claims" in own else packaged_claims())
    found = check(claims.claims, runs)
    if own.get("output") == "json":
        content = [{**entry.claim.model_dump(), **_verdict(entry)} for entry in found]
        sys.stdout.write(json.dumps(content, ensure_ascii=False, indent=2) + "\n")
    else:
        _print(Console(), claims, found, runs)
    return EXIT_OK


def packaged_claims() -> Path:
    """Return the table of claims that the package ships.

    Raises:
        ConfigError: it ships none or several.
    """
    found = sorted((Path(__file__).parent.parent / "samples").glob("*/claims.yaml"))
    if len(found) != 1:
        raise ConfigError(f"The package ships {len(found)} tables of claims.\nName one: claims=FILE.")
    return found[0]


def _verdict(entry: Checked) -> dict[str, object]:
    ours = None if entry.ours is None else asdict(entry.ours)
    return {"ours": ours, "verdict": entry.verdict, "because": entry.because}


def _print(console: Console, claims: Claims, found: Sequence[Checked], runs: Sequence[RunFolder]) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("claim", "measure", "denominator"):
        table.add_column(column, overflow="fold")
    table.add_column("theirs", justify="right")
    table.add_column("ours", justify="right")
    table.add_column("verdict", overflow="fold")
    for entry in found:
        claim = entry.claim
        says = f"{claim.says} ({claim.source})"
        verdict = entry.verdict if entry.because is None else f"{entry.verdict}, because {entry.because}"
        cells = (says, claim.measure or "-", claim.denominator, _theirs(entry), _ours(entry), verdict)
        table.add_row(*map(safe, cells))
    console.print(table)
    console.print(_sizes(claims, runs), markup=False)
    counts = [entry.verdict for entry in found]
    totals = ", ".join(f"{counts.count(name)} {name}" for name in ("agrees", "differs", "not computable"))
    console.print(f"{len(found)} claims: {totals}.", markup=False)


def _theirs(entry: Checked) -> str:
    mark = {"equal": "", "above": "> ", "below": "< "}[entry.claim.kind]
    return f"{mark}{entry.claim.value:,.{entry.claim.decimals}f}"


def _ours(entry: Checked) -> str:
    ours = entry.ours
    if ours is None:
        return "-"
    of = "" if ours.n is None else f" of {ours.n:,.0f}"
    interval = "" if ours.low is None or ours.high is None else f" [{number(ours.low)},{number(ours.high)}]"
    return f"{number(ours.value)}{of}{interval}"


def _sizes(claims: Claims, runs: Sequence[RunFolder]) -> str:
    """Return the size of both corpora: figures of another corpus differ for that alone."""
    metrics = measured(runs[-1]).metrics
    theirs = ", ".join(f"{count:,} {name}" for name, count in claims.corpus.items())
    own = ("documents", "institutions", "questions")
    ours = ", ".join(f"{metrics.get(name, 0):,.0f} {name}" for name in own)
    same = all(metrics.get(name) == claims.corpus.get(name) for name in own)
    warning = "" if same else " Another corpus: a figure may differ for that alone."
    return f"The claims are about {theirs}; {runs[-1].system} is over {ours}.{warning}"
