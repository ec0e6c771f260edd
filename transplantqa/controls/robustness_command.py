"""The command ``robustness``, and what a sweep over judges ends with: the report, on screen and in files."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from transplantqa.controls.robustness import FACTORS, JudgedRun, robustness
from transplantqa.errors import ConfigError, InputError
from transplantqa.report.text import number, plain
from transplantqa.store import digest, write_atomically
from transplantqa.store.atomic import json_bytes
from transplantqa.store.run_folder import RunFolder, open_named
from transplantqa.sweeps import read_jobs, sweep_folder

USAGE = "transplantqa robustness RUN RUN [RUN ...] | sweep=ID  [artifacts=DIR]"
FILE = "robustness.json"
PROSE = "robustness.md"
ID_CHARACTERS = 16
PIPED_WIDTH = 160
"""Columns of a table that goes into a file or another program."""


def main(arguments: Sequence[str]) -> int:
    """Report on the runs named, or on those of a sweep, and return 0.

    Raises:
        ConfigError: fewer than two runs are named.
        InputError: a run isn't found, or no two are over the same answers with different judges.
    """
    artifacts = next(
        (text.removeprefix("artifacts=") for text in arguments if text.startswith("artifacts=")), "artifacts"
    )
    sweep = next((text.removeprefix("sweep=") for text in arguments if text.startswith("sweep=")), None)
    if sweep is not None:
        jobs = read_jobs(sweep_folder(artifacts, sweep))
        runs = [RunFolder(job.folder) for job in jobs if job.folder is not None]
    else:
        runs = open_named(arguments, USAGE)
    if len(runs) < 2:
        raise ConfigError(f"Name at least two runs, or a sweep.\nUsage: {USAGE}")
    judged = [judged_run(run) for run in runs]
    if not comparable(judged):
        raise InputError(
            "No two of these runs have the same answers and different judges.\n"
            "Sweep over the judge alone, for example: transplantqa run -m experiment=robustness"
        )
    report_and_show(Path(artifacts), judged)
    return 0


def sweep_report(artifacts: Path, runs: Sequence[RunFolder]) -> None:
    """Report on a sweep's runs where some differ in the judge alone; else say nothing."""
    judged = [judged_run(run) for run in runs]
    if comparable(judged):
        report_and_show(artifacts, judged)


def comparable(runs: Sequence[JudgedRun]) -> bool:
    """Say whether two of the runs judged the same answers in different ways."""
    return any(
        one.answers == other.answers and one.factors != other.factors
        for place, one in enumerate(runs)
        for other in runs[place + 1 :]
    )


def judged_run(run: RunFolder) -> JudgedRun:
    """Read what of a run the report is made from."""
    answers = run.table("answers", ["question_id", "document_id", "outcome", "text"]).to_pylist()
    comparisons = run.table("comparisons")
    judged = comparisons.filter(
        pc.and_(pc.equal(comparisons["decided_by"], "judge"), pc.equal(comparisons["outcome"], "ok"))
    )
    extra = run.section("extra").get("judging", {})
    return JudgedRun(
        run_id=run.run_id,
        system=run.system,
        factors=factors_of(run.config.get("judge") or {}),
        answers=digest(sorted([list(row.values()) for row in answers], key=str)),
        generator_family=extra.get("generator_family"),
        judge_family=extra.get("judge_family"),
        labels={
            (row["question_id"], row["document_a"], row["document_b"]): row["label"]
            for row in judged.select(["question_id", "document_a", "document_b", "label"]).to_pylist()
        },
        metrics=run.measures.metrics,
    )


def factors_of(judge: Mapping[str, Any]) -> dict[str, str]:
    """Return what a judge's configuration is made of, by ``FACTORS``; all else is hashed together."""
    prompt, model = judge.get("prompt") or {}, judge.get("model") or {}
    named = {"_target_", "prompt", "model", "order", "citations"}
    name = str(model.get("model") or model.get("weights") or str(model.get("_target_", "none")).rpartition(".")[2])
    found = {
        "judge": str(judge.get("_target_", "")).rpartition(".")[2],
        "prompt": f"{prompt.get('name', 'none')} {digest(dict(prompt))[:6]}" if prompt else "none",
        "model": f"{name.rpartition('/')[2]} {digest(dict(model))[:6]}" if model else "none",
        "order": str(judge.get("order", "none")),
        "citations": str(judge.get("citations", "none")),
        "other": digest({key: value for key, value in judge.items() if key not in named})[:6],
    }
    return {factor: found[factor] for factor in FACTORS}


def report_and_show(artifacts: Path, runs: Sequence[JudgedRun]) -> Path:
    """Write the report's files, print it, and return its folder.

    Raises:
        StoreError: the disk refuses.
    """
    report = robustness(runs)
    folder = artifacts / "robustness" / digest(sorted(run.run_id for run in runs))[:ID_CHARACTERS]
    write_atomically(folder / FILE, json_bytes(report))
    write_atomically(folder / PROSE, ("\n".join(lines(report)) + "\n").encode("utf-8"))
    console = Console()
    if not console.is_terminal:
        console = Console(width=PIPED_WIDTH)
    console.print(_table(report))
    for line in [*lines(report), f"  {folder / FILE}", f"  {folder / PROSE}"]:
        console.print(Text(plain(line)), soft_wrap=True)
    return folder


def _table(report: Mapping[str, Any]) -> Table:
    table = Table(
        box=box.SIMPLE_HEAD, pad_edge=False, title="One set of answers, judged many ways", title_justify="left"
    )
    heads = ("judge", "prompt", "model", "order", "citations", "pairs", "divergent", "any", "parsed", "intransitive")
    for name in heads:
        table.add_column(name, justify="left" if name in FACTORS else "right", overflow="fold")
    for run in report["runs"]:
        factors, headline, three = run["factors"], run["headline"], run["triads"]
        table.add_row(
            *(Text(plain(factors[name].rsplit(" ", 1)[0])) for name in heads[:5]),
            f"{run['judged_pairs']:,}",
            *(_share(headline.get(name)) for name in ("divergence_rate", "any_divergence_rate")),
            _share(run["parse_success_rate"]),
            f"{three['intransitive']} of {three['eligible']}",
        )
    return table


def lines(report: Mapping[str, Any]) -> list[str]:
    """Return the report in sentences."""
    found = [
        f"{row['measure'].replace('_', ' ')}: {row['low']:.3f} to {row['high']:.3f} over {row['runs']} judges "
        f"of answers {row['answers']}"
        for row in report["ranges"]
    ]
    found += [
        f"{row['factor']} {row['first']} -> {row['second']}: {row['changed']:.1%} of {row['pairs']} labels change, "
        f"{row['conflict_points']:+.1f} points of pairs in conflict"
        for row in report["factors"]
    ]
    found += [
        f"order turned: {row['flipped']:.1%} of {row['pairs']} labels flip ({row['system']})"
        for row in report["order_flips"]
    ]
    preference = report["self_preference"]
    if preference["agreement_points"] is None:
        families = ", ".join(preference["judge_families"]) or "none"
        found.append(
            "self-preference: not measured; it takes answers of a model judged by its own family and by another "
            f"(judge families here: {families})"
        )
    else:
        found.append(
            f"self-preference: judges of the generator's family find {preference['agreement_points']:+.1f} points more "
            f"agreement than others, over {preference['pairs']} pairs in {preference['sets_of_answers']} sets of "
            "answers"
        )
    broken = sum(run["triads"]["intransitive"] for run in report["runs"])
    eligible = sum(run["triads"]["eligible"] for run in report["runs"])
    return [*found, f"intransitive triads: {broken} of {eligible} with two CONSISTENT sides, over all runs"]


def _share(value: float | None) -> str:
    return "-" if value is None else number(value)
