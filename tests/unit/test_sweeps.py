"""Sweeps: records and logs of jobs, and the table that closes a sweep."""

import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from transplantqa.cli import main
from transplantqa.commands import close_sweep
from transplantqa.errors import EXIT_FAILURES, EXIT_OK, InputError, Interrupted
from transplantqa.models import Scripted
from transplantqa.models.protocols import Completion
from transplantqa.sweeps import JobLog, JobResult, jobs_table, read_jobs, record_job, teed

SLICE = ("experiment=tiny", "debug=scripted", "embedder=minilm", "retriever=bm25", "tracking=none")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def only_sweep(folder: Path) -> Path:
    (found,) = (folder / "artifacts" / "sweeps").iterdir()
    return found


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    jobs = [JobResult(10, ("a=1",), 0, "runs/x"), JobResult(2, ("a=2", "b=[1,2]"), None)]
    for job in jobs:
        record_job(tmp_path, job)
    assert read_jobs(tmp_path) == [jobs[1], jobs[0]]


def test_a_log_gets_text_and_no_terminal_sequences() -> None:
    file = io.StringIO()
    log = JobLog(file)
    log.write("\x1b[1mgenerate\x1b[0m 5/5\n")
    log.write("\r\x1b[2Kgenerate ━━━ 3/5")
    assert file.getvalue() == "generate 5/5\n"


def test_what_a_job_prints_is_shown_and_logged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with teed(tmp_path, 3):
        Console(stderr=True).print("progress")
        Console().print("result")
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("result\n", "progress\n")
    assert (tmp_path / "job-3.log").read_text(encoding="utf-8") == "progress\nresult\n"


def test_the_closing_table_names_how_each_job_ended_and_only_what_tells_them_apart() -> None:
    jobs = [
        JobResult(0, ("experiment=tiny", "retriever=bm25"), None),
        JobResult(1, ("experiment=tiny", "retriever=dense"), InputError.exit_code),
    ]
    console = Console(file=io.StringIO(), width=120)
    console.print(jobs_table(jobs))
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert "killed" in shown
    assert "failed (3)" in shown
    assert "retriever=dense" in shown
    assert "experiment=tiny" not in shown


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        ((EXIT_OK, EXIT_OK), EXIT_OK),
        ((EXIT_OK, 1), EXIT_FAILURES),
        ((EXIT_OK, None), EXIT_FAILURES),
        ((1, Interrupted.exit_code), Interrupted.exit_code),
        ((), EXIT_FAILURES),
    ],
)
def test_a_sweep_ends_with_the_code_of_its_worst_job(
    tmp_path: Path, codes: tuple[int | None, ...], expected: int
) -> None:
    for number, code in enumerate(codes):
        record_job(tmp_path, JobResult(number, (), code))
    assert close_sweep(tmp_path) == expected


def test_a_bug_in_one_job_is_in_its_own_log_with_its_traceback_and_ends_no_other(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    generate = Scripted.generate

    def fail_when_never_silent(self: Scripted, requests: Any) -> Iterator[Completion]:
        if self.identity()["abstention_share"] == 0:
            raise RuntimeError("a bug for the test")
        return generate(self, requests)

    monkeypatch.setattr(Scripted, "generate", fail_when_never_silent)
    assert main(["run", "-m", *SLICE, "model.abstention_share=0.0,0.5"]) == EXIT_FAILURES
    sweep = only_sweep(folder)
    assert "RuntimeError: a bug for the test" in (sweep / "job-0.log").read_text(encoding="utf-8")
    assert "Traceback" not in (sweep / "job-1.log").read_text(encoding="utf-8")
    assert [job.exit_code for job in read_jobs(sweep)] == [1, EXIT_OK]
    shown = capsys.readouterr()
    assert "failed (1)" in shown.out
    assert "job-0.log" in shown.err


def test_a_stage_that_jobs_share_is_done_once(folder: Path) -> None:
    assert main(["run", "-m", *SLICE, "judge.order=fixed,random"]) == EXIT_OK
    runs = [json.loads(path.read_text()) for path in folder.glob("artifacts/runs/*/run.json")]
    reused: list[Mapping[str, int]] = [run["reused"] for run in runs]
    answers = sum(runs[0]["outcomes"]["generate"].values())
    assert sorted(counts["generate"] for counts in reused) == [0, answers]
    assert len({run["sweep_id"] for run in runs}) == 1


def test_two_sweeps_never_share_a_folder(folder: Path) -> None:
    for _ in range(2):
        main(["run", "-m", *SLICE, "questions.path=nowhere.csv,elsewhere.csv"])
    assert len(list((folder / "artifacts" / "sweeps").iterdir())) == 2
