"""The command: a project from a folder, and the commands it names really run on it."""

import shutil
from pathlib import Path

import pytest

from transplantqa.cli import main
from transplantqa.corpus.manifest import find_sources
from transplantqa.samples import tenancy

PDFS = Path(str(tenancy.__file__)).parent / "pdf"


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    folder = tmp_path / "guides"
    for state, kind in (("p", "private"), ("p", "public"), ("q", "private"), ("q", "public")):
        target = folder / f"State {state.upper()}" / f"{kind}_guide.pdf"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PDFS / f"{kind}_state_{state}.pdf", target)
    return folder


def test_the_manifest_is_one_that_ingestion_reads(documents: Path, tmp_path: Path) -> None:
    assert main(["init", str(documents), f"out={tmp_path / 'audit'}"]) == 0
    sources = find_sources(documents, tmp_path / "audit" / "manifest.csv")
    assert {(s.institution, s.group) for s in sources} == {
        ("State P", "private"), ("State P", "public"), ("State Q", "private"), ("State Q", "public"),
    }  # fmt: skip


def test_the_commands_it_names_run_once_there_is_a_question(
    documents: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    audit = tmp_path / "audit"
    assert main(["init", str(documents), f"out={audit}"]) == 0
    assert "experiment=guides" in capsys.readouterr().out
    monkeypatch.chdir(audit)
    with (audit / "questions.csv").open("a", encoding="utf-8") as questions:
        questions.write("notice,How much notice must the landlord give before a visit?,,Access,,\n")
    assert main(["ingest", "corpus=guides", "--config-dir", "conf"]) == 0
    assert main(["run", "experiment=guides", "tracking=none", "--config-dir", "conf"]) == 0
    assert (audit / "artifacts" / "runs").is_dir()


def test_a_project_without_questions_says_which_file_lacks_them(
    documents: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", str(documents)]) == 0
    assert main(["run", "experiment=guides", "tracking=none", "--config-dir", "conf"]) == 3
    assert "questions.csv: no questions" in capsys.readouterr().err


def test_nothing_is_overwritten(documents: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", str(documents), f"out={tmp_path}"]) == 0
    (tmp_path / "manifest.csv").write_text("mine", encoding="utf-8")
    assert main(["init", str(documents), f"out={tmp_path}"]) == 3
    assert "manifest.csv" in capsys.readouterr().err
    assert (tmp_path / "manifest.csv").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [([], 2), (["a", "b"], 2), (["nowhere"], 3), (["nowhere", "groop=x"], 2)],
)
def test_bad_arguments_end_in_a_documented_code(
    arguments: list[str], code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", *arguments]) == code


def test_a_folder_without_documents_names_what_is_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "manual.txt.gz").write_bytes(b"")
    assert main(["init", str(tmp_path)]) == 3
    assert "manual.txt.gz" in capsys.readouterr().err
