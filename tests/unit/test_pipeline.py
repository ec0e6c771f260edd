"""The whole pipeline over a slice of the bundled sample, with replies made by rule."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from transplantqa.cli import main
from transplantqa.errors import EXIT_FAILURES, EXIT_OK, ConfigError, InputError, ModelError, StoreError

SLICE = ("experiment=tiny", "debug=scripted", "embedder=minilm", "retriever=bm25", "tracking=none")
DOCUMENTS = ("kidney_center_a_combined", "kidney_center_b_post", "kidney_center_d_post")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*overrides: str) -> int:
    return main(["run", *SLICE, *overrides])


def only_run(folder: Path) -> Path:
    (found,) = sorted((folder / "artifacts" / "runs").iterdir())
    return found


def record(folder: Path) -> Mapping[str, Any]:
    content: Mapping[str, Any] = json.loads((only_run(folder) / "run.json").read_text(encoding="utf-8"))
    return content


def rows(folder: Path, table: str) -> Sequence[Mapping[str, Any]]:
    content: Sequence[Mapping[str, Any]] = pq.read_table(only_run(folder) / f"{table}.parquet").to_pylist()
    return content


def test_every_planned_cell_has_one_answer_and_every_pair_one_comparison(folder: Path, calls: list[str]) -> None:
    assert run() == EXIT_OK
    answers = rows(folder, "answers")
    assert len({(row["question_id"], row["document_id"]) for row in answers}) == len(answers) == 12
    pairs = rows(folder, "comparisons")
    assert len({(row["question_id"], row["document_a"], row["document_b"]) for row in pairs}) == len(pairs) == 12
    assert all(row["document_a"] < row["document_b"] for row in pairs)
    assert len(calls) == 12 + len(rows(folder, "judgements"))


def test_a_finished_run_run_again_calls_nothing_and_changes_nothing(folder: Path, calls: list[str]) -> None:
    run()
    before = rows(folder, "answers"), rows(folder, "comparisons")
    calls.clear()
    assert run() == EXIT_OK
    assert calls == []
    assert (rows(folder, "answers"), rows(folder, "comparisons")) == before
    assert record(folder)["reused"]["generate"] == 12


def test_one_more_question_costs_only_its_own_cells(folder: Path, calls: list[str]) -> None:
    fewer = "questions.select=[raw_fish_and_eggs,daily_fluids]"
    run(fewer)
    calls.clear()
    run("questions.select=[raw_fish_and_eggs,daily_fluids,dental_work]")
    assert {name.split("dental_work")[0] == "" or "dental_work" in name for name in calls} == {True}
    assert len([name for name in calls if name.count("kidney") == 1]) == len(DOCUMENTS)


def test_another_judge_reuses_every_answer(folder: Path, calls: list[str]) -> None:
    run()
    calls.clear()
    assert run("judge.order=fixed") == EXIT_OK
    assert [name for name in calls if name.count("kidney") == 1] == []


def test_shards_together_make_what_one_process_makes(folder: Path) -> None:
    for index in range(3):
        assert run(f"shard.index={index}", "shard.count=3", "stages=[ingest,retrieve,generate]") == EXIT_OK
    for index in range(2):
        assert run(f"shard.index={index}", "shard.count=2", "stages=[compare]") == EXIT_OK
    assert run("stages=[analyse]", "artifacts=artifacts") == EXIT_OK
    sharded = {name: rows(folder, name) for name in ("answers", "comparisons")}
    (folder / "artifacts").rename(folder / "sharded")
    run()
    for name, found in sharded.items():
        assert _without_clock(found) == _without_clock(rows(folder, name))


def _without_clock(found: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in row.items() if key not in {"seconds", "cached_tokens"}} for row in found]


def test_analysing_what_no_shard_has_done_names_what_is_missing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("shard.index=0", "shard.count=3", "stages=[ingest,retrieve,generate]")
    assert run("stages=[analyse]") == StoreError.exit_code
    shown = capsys.readouterr().err
    assert "units missing" in shown
    assert "stages=[retrieve]" in shown


def test_gold_figures_and_reasons_are_kept_with_the_run(folder: Path) -> None:
    run()
    measured = json.loads((only_run(folder) / "metrics.json").read_text(encoding="utf-8"))
    assert 0 <= measured["gold"]["absence_balanced_accuracy"] <= 1
    assert measured["metrics"]["absence_rate_n"] == 12
    assert any("balanced accuracy" in reason for reason in measured["not_an_instrument"])


def test_what_looks_wrong_in_the_evidence_is_noted_with_the_run(folder: Path) -> None:
    run("retriever.evidence_tokens=20")
    measured = json.loads((only_run(folder) / "metrics.json").read_text(encoding="utf-8"))
    assert any(note.startswith("evidence truncated: in 12 of 12") for note in measured["notes"])


def test_too_many_failures_end_with_their_own_exit_code_and_keep_the_rows(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("retriever=full_document", "model.context_tokens=40") == EXIT_FAILURES
    assert "retry=[...]" in capsys.readouterr().err
    outcomes = {row["outcome"] for row in rows(folder, "answers")}
    assert "context_overflow" in outcomes


def test_a_run_in_which_every_answer_failed_still_ends_with_its_counts(folder: Path) -> None:
    assert run("retriever=full_document", "model.context_tokens=100") == EXIT_FAILURES
    assert {row["outcome"] for row in rows(folder, "answers")} == {"context_overflow"}
    assert {row["outcome"] for row in rows(folder, "comparisons")} == {"context_overflow"}


def test_a_sweep_goes_on_after_a_failing_job_and_says_which_failed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = "nowhere.csv,package:transplantqa/samples/transplant/questions.csv"
    code = main(["run", "-m", *SLICE, f"questions.path={paths}"])
    assert code == EXIT_FAILURES
    shown = capsys.readouterr()
    assert "job 0" in shown.err
    assert "nowhere.csv" in shown.err
    assert "source dependence index" in shown.out
    jobs = sorted((folder / "artifacts" / "sweeps").glob("*/job-*.json"))
    assert [json.loads(job.read_text(encoding="utf-8"))["exit_code"] for job in jobs] == [InputError.exit_code, EXIT_OK]


@pytest.mark.parametrize(
    ("overrides", "code", "words"),
    [
        (("corpus=folder", "corpus.folder=nowhere", "questions.select=null"), InputError.exit_code, "nowhere"),
        (("corpus=folder", "corpus.folder=.", "questions.select=null"), InputError.exit_code, "no documents"),
        (("questions.path=nowhere.csv",), InputError.exit_code, "nowhere.csv"),
        (("model=llama_cpp", "model.weights=nowhere.gguf"), ModelError.exit_code, "nowhere.gguf"),
        (("questions.select=[no_such_question]",), InputError.exit_code, "no_such_question"),
        (("retriever.top_k=0",), ConfigError.exit_code, "retriever.top_k"),
    ],
)
def test_a_mistake_ends_in_a_message_with_its_place_and_no_traceback(
    folder: Path, capsys: pytest.CaptureFixture[str], overrides: tuple[str, ...], code: int, words: str
) -> None:
    assert run(*overrides) == code
    shown = capsys.readouterr().err
    assert words in shown
    assert "Traceback" not in shown
