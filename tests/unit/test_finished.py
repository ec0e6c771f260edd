"""A finished run asked for again is shown at once, and only when nothing at all has changed."""

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import transplantqa.pipeline
from transplantqa.cli import main
from transplantqa.errors import EXIT_OK, InputError
from transplantqa.findings import write_run
from transplantqa.finished import RECEIPT_FILE
from transplantqa.samples import transplant

SLICE = (
    *("experiment=tiny", "debug=scripted", "embedder=minilm", "retriever=bm25", "tracking=none"),
    *("analysis.bootstrap_replicates=0", "analysis.permutations=1", "questions.path=questions.csv"),
)
QUESTIONS = Path(transplant.__file__).with_name("questions.csv")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finished")
    (folder / "questions.csv").write_bytes(QUESTIONS.read_bytes())
    with pytest.MonkeyPatch.context() as there:
        there.chdir(folder)
        there.setattr("transplantqa.finished._code_sha256", lambda: "this code")  # it may be edited meanwhile
        assert main(["run", *SLICE]) == EXIT_OK
    return folder


@pytest.fixture(autouse=True)
def folder(finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(finished, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("transplantqa.finished._code_sha256", lambda: "this code")
    return tmp_path


@pytest.fixture
def is_gone_through(monkeypatch: pytest.MonkeyPatch) -> Callable[..., bool]:
    """Ask for the run again and say whether its stages would be gone through."""

    def stop(*_: object) -> None:
        raise InputError("gone through")

    monkeypatch.setattr(transplantqa.pipeline, "_material", stop)
    return lambda *overrides: main(["run", *SLICE, *overrides]) == InputError.exit_code


def record() -> Mapping[str, Any]:
    content: Mapping[str, Any] = json.loads(only("runs/*/run.json").read_text(encoding="utf-8"))
    return content


def only(pattern: str) -> Path:
    (path,) = Path("artifacts").glob(pattern)
    return path


def append_a_byte(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\n")


def flip_a_bit(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def write(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}", encoding="utf-8")


def test_nothing_is_gone_through_and_all_counts_as_reused(
    is_gone_through: Callable[..., bool], capsys: pytest.CaptureFixture[str]
) -> None:
    assert not is_gone_through()
    assert record()["reused"]["generate"] == sum(record()["outcomes"]["generate"].values()) > 0
    assert "source dependence index" in capsys.readouterr().out


@pytest.mark.parametrize(
    "override", ["stages=[analyse]", "retry=[parse_failed]", "analysis.confidence=0.9", "system=other", "seed=3"]
)
def test_another_wish_is_gone_through(is_gone_through: Callable[..., bool], override: str) -> None:
    assert is_gone_through(override)


@pytest.mark.parametrize(
    "change",
    [
        lambda: append_a_byte(Path("questions.csv")),
        lambda: flip_a_bit(only("generate/*/part-*")),
        lambda: only("compare/*/part-*").unlink(),
        lambda: write(only("generate/*") / "journal-000-of-001-000009.arrows"),
        lambda: only("runs/*/metrics.json").unlink(),
        lambda: flip_a_bit(only("runs/*/answers.parquet")),
        lambda: only(f"runs/*/{RECEIPT_FILE}").write_text("torn"),
        lambda: write(Path("artifacts/validation/judges/x/record.json")),
    ],
    ids=[
        *("questions file", "bit of a part", "part gone", "somebody writes", "metrics gone", "bit of a table"),
        *("receipt torn", "judge validated since"),
    ],
)
def test_whatever_has_changed_is_gone_through(
    is_gone_through: Callable[..., bool], change: Callable[[], object]
) -> None:
    change()
    assert is_gone_through()


def test_changed_code_is_gone_through(is_gone_through: Callable[..., bool], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("transplantqa.finished._code_sha256", lambda: "other code")
    assert is_gone_through()


def test_a_file_that_changed_while_the_run_was_made_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    only(f"runs/*/{RECEIPT_FILE}").unlink()

    def write_late(*arguments: Any) -> Any:
        append_a_byte(Path("questions.csv"))
        return write_run(*arguments)

    monkeypatch.setattr(transplantqa.pipeline, "write_run", write_late)
    for rounds in (1, 2):
        assert main(["run", *SLICE]) == EXIT_OK
        assert only(f"runs/*/{RECEIPT_FILE}").exists()
        assert Path("questions.csv").stat().st_size == QUESTIONS.stat().st_size + rounds


def test_a_run_with_another_package_s_component_leaves_no_receipt(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only(f"runs/*/{RECEIPT_FILE}").unlink()
    lines = ["from transplantqa.tracking.protocols import NoTracking", "class Mine(NoTracking): pass", ""]
    (folder / "mine.py").write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))
    assert main(["run", *SLICE, "tracking._target_=mine.Mine"]) == EXIT_OK
    assert not list(Path("artifacts").glob(f"runs/*/{RECEIPT_FILE}"))
