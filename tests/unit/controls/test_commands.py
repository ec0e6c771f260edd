"""The controls' commands over a finished slice of the bundled sample, with replies made by rule."""

import json
import shutil
from pathlib import Path

import pytest

from transplantqa.cli import main
from transplantqa.errors import EXIT_OK, ConfigError, InputError

SLICE = ("experiment=tiny", "debug=scripted", "retriever=bm25", "tracking=none", "model.abstention_share=0.5")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    artifacts = tmp_path_factory.mktemp("finished") / "artifacts"
    assert main(["run", *SLICE, "system=tiny", f"artifacts={artifacts}"]) == EXIT_OK
    return artifacts


@pytest.fixture
def folder(finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(finished, tmp_path / "artifacts")
    monkeypatch.chdir(tmp_path)
    (run,) = (tmp_path / "artifacts" / "runs").iterdir()
    return run


def test_silence_is_probed_written_shown_with_the_run_and_not_asked_twice(
    folder: Path, calls: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["probe-silence", "tiny", "silent_cells=4", "answered_cells=3", "people=2"]) == EXIT_OK
    record = json.loads((folder / "controls" / "probe_silence.json").read_text(encoding="utf-8"))
    assert record["counts"]["silent_cells_asked_again"] == 4
    assert record["metrics"]["false_absence_rate_n"] == 4
    assert set(record["metrics"]) >= {"none_evidence/answer_rate", "shuffled_evidence/answer_rate"}
    assert len(record["people"]) == 2
    assert record["sentences"][0] in (folder / "report.html").read_text(encoding="utf-8")
    calls.clear()
    assert main(["probe-silence", "tiny", "silent_cells=4", "answered_cells=3", "people=2"]) == EXIT_OK
    assert calls == []
    assert "false absence rate" in capsys.readouterr().out


def test_what_people_wrote_in_the_sheet_is_read_shown_and_never_written_over(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["probe-silence", "tiny", "silent_cells=4", "answered_cells=0", "people=2"]
    assert main(asked) == EXIT_OK
    sheet = folder / "controls" / "probe_silence_people.csv"
    header, *rows = sheet.read_text(encoding="utf-8-sig").splitlines()
    filled = "\n".join([header, *(row.replace('"","",""', '"yes","3",""') for row in rows)]) + "\n"
    sheet.write_text(filled, encoding="utf-8")
    capsys.readouterr()
    assert main(asked) == EXIT_OK
    assert "By people 1" in capsys.readouterr().out
    record = json.loads((folder / "controls" / "probe_silence.json").read_text(encoding="utf-8"))
    assert (record["metrics"]["people_false_absence_rate"], record["counts"]["looked_up_by_people"]) == (1.0, 2)
    assert record["sentences"][-1] in (folder / "report.html").read_text(encoding="utf-8")
    assert main([*asked, "seed=7", "people=1"]) == InputError.exit_code
    assert "none of the cells drawn" in capsys.readouterr().err
    assert sheet.read_text(encoding="utf-8") == filled


def test_a_sheet_that_is_not_there_is_told_before_anything_is_asked(folder: Path, calls: list[str]) -> None:
    assert main(["probe-silence", "tiny", "silent_cells=2", "sheet=nowhere.csv"]) == InputError.exit_code
    assert calls == []


def test_a_document_too_long_for_a_window_is_asked_in_several(folder: Path, calls: list[str]) -> None:
    assert main(["probe-silence", "tiny", "silent_cells=3", "answered_cells=0", "window_tokens=400"]) == EXIT_OK
    assert len(calls) > 3
    cells = (folder / "controls" / "probe_silence_cells.csv").read_text(encoding="utf-8-sig")
    assert len(cells.splitlines()) == 4


def test_the_same_document_answers_other_words_and_is_judged_as_a_pair(folder: Path, calls: list[str]) -> None:
    assert main(["same-source", "tiny", "cells=5"]) == EXIT_OK
    record = json.loads((folder / "controls" / "same_source_paraphrase.json").read_text(encoding="utf-8"))
    assert record["counts"]["cells"] == 5
    assert record["counts"]["judged_pairs"] == record["counts"]["second_outcomes"].get("ok", 0) > 0
    assert calls


def test_another_prompt_is_another_method_with_answers_of_its_own(folder: Path, calls: list[str]) -> None:
    assert main(["same-source", "tiny", "cells=3", "by=prompt"]) == EXIT_OK
    assert len([name for name in calls if name.count("kidney") == 1]) == 3
    assert (folder / "controls" / "same_source_prompt.json").is_file()


def test_what_cannot_be_varied_is_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["same-source", "tiny", "by=seed"]) == ConfigError.exit_code
    assert "by=paraphrase" in capsys.readouterr().err
    assert main(["probe-silence", "nothing"]) == InputError.exit_code


def test_a_sweep_over_judges_ends_with_the_report_of_its_robustness(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    sweep = ["run", "-m", *SLICE, "judge.citations=strip,keep", "judge.order=fixed,both"]
    assert main(sweep) == EXIT_OK
    shown = capsys.readouterr().out
    assert "One set of answers, judged many ways" in shown
    (file,) = Path("artifacts/robustness").glob("*/robustness.json")
    report = json.loads(file.read_text(encoding="utf-8"))
    assert report["sets_of_answers"] == 1
    assert {row["factor"] for row in report["factors"]} == {"citations", "order"}
    assert len(report["order_flips"]) == 2
    runs = [str(path) for path in Path("artifacts/runs").iterdir()]
    assert main(["robustness", *runs]) == EXIT_OK
    assert main(["robustness", runs[0]]) == ConfigError.exit_code
