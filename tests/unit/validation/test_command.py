"""The command as it is typed: sample, agreement, compare, and what a mistake is answered with."""

import csv
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from transplantqa import validation
from transplantqa.cli import main
from transplantqa.errors import ConfigError, InputError
from transplantqa.validation.command import hydra_arguments

FAST = ("tracking=none", "bootstrap.replicates=20")


def validate(audit: Any, *arguments: str) -> int:
    return main(["validate", *arguments, f"artifacts={audit.artifacts}", *FAST])


def test_plain_words_are_the_run_the_files_or_the_runs() -> None:
    assert hydra_arguments(["sample", "base"]) == ["action=sample", "run='base'"]
    assert hydra_arguments(["agreement", "run=0123", "a b.csv", "it's.json", "-cd", "mine"]) == [
        "action=agreement",
        "files=['a b.csv','it\\'s.json']",
        "run='0123'",
        "-cd",
        "mine",
    ]
    assert hydra_arguments(
        ["compare", "base_k=1", "base_k=2", "bootstrap.seed=3", "artifacts=x", "+spellings.a=ABSENT"]
    ) == [
        "action=compare",
        "runs=['base_k=1','base_k=2']",
        "bootstrap.seed=3",
        "artifacts=x",
        "+spellings.a=ABSENT",
    ]


@pytest.mark.parametrize("arguments", [[], ["smaple"], ["run=x"]])
def test_what_is_done_must_be_named(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", *arguments]) == ConfigError.exit_code
    assert "Usage: transplantqa validate sample run=RUN" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["sample"], "run: needs a value"),
        (["agreement", "run=x"], "files: needs the annotators' files"),
        (["compare", "one"], "runs: judges are compared between two runs or more"),
        (["sample", "x", "design.per_stratum=0"], "design.per_stratum"),
        (["agreement", "run=x", "f.csv", "+spellings.same=EQUAL"], "spellings.same"),
    ],
)
def test_what_is_missing_or_wrong_is_said_without_a_traceback(
    arguments: list[str], told: str, audit: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert validate(audit, *arguments) == ConfigError.exit_code
    shown = capsys.readouterr().err
    assert told in shown
    assert "Traceback" not in shown


def test_from_a_run_to_a_validated_judge(
    audit: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    run = audit()
    assert validate(audit, "sample", "baseline", "design.per_stratum=6") == 0
    drawn = capsys.readouterr().out
    assert "prescreen/ABSENT" in drawn
    sample = next((audit.artifacts / "validation" / "samples").iterdir())
    key = {row["item"]: row for row in pq.read_table(sample / "pairs.parquet").to_pylist()}
    for name in ("r1", "r2"):
        with (sample / "annotate.csv").open(newline="", encoding="utf-8-sig") as stream:
            rows = list(csv.DictReader(stream))
        for row in rows:
            row["label"] = key[row["item"]]["stratum"].rpartition("/")[2].lower()
        if name == "r2":
            rows[0]["label"] = "same-ish"
        with (tmp_path / f"{name}.csv").open("w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, list(rows[0]), delimiter=";")
            writer.writeheader()
            writer.writerows(rows)
    files = [str(tmp_path / f"{name}.csv") for name in ("r1", "r2")]
    assert validate(audit, "agreement", "run=baseline", *files) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "Not understood as labels, so missing: 'same-ish' 1 times" in shown
    assert "judge against people: kappa 1.00" in shown
    assert "labels of r2: 29 of 30" in shown
    assert validation.describe_run(run).startswith("judge against people: kappa 1.00")
    assert "kappa 1.00" in (run.path / "report.html").read_text(encoding="utf-8")


def test_comparing_judges_prints_time_and_agreement(audit: Any, capsys: pytest.CaptureFixture[str]) -> None:
    audit("first")
    audit("second", judge="d" * 64, shift=1)
    assert validate(audit, "compare", "first", "second") == 0
    shown = capsys.readouterr().out
    assert "seconds" in shown
    assert "Over 80 pairs that every judge decided" in shown
    assert len(list((audit.artifacts / "validation" / "comparisons").iterdir())) == 1


def test_an_adjudicator_nobody_has_heard_of_is_named(
    audit: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    audit()
    validate(audit, "sample", "baseline", "design.per_stratum=2")
    sample = next((audit.artifacts / "validation" / "samples").iterdir())
    file = tmp_path / "r1.csv"
    file.write_bytes((sample / "annotate.csv").read_bytes())
    assert validate(audit, "agreement", "run=baseline", str(file), "adjudicator=r9") == ConfigError.exit_code
    assert "nobody is called 'r9'" in capsys.readouterr().err


def test_a_run_without_a_sample_is_told_how_to_draw_one(audit: Any, capsys: pytest.CaptureFixture[str]) -> None:
    audit()
    assert validate(audit, "agreement", "run=baseline", "r1.csv") == InputError.exit_code
    assert "transplantqa validate sample run=" in capsys.readouterr().err
