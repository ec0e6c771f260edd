"""What push and pull refuse before they reach for the Hub."""

from pathlib import Path
from typing import Any

import pytest

from transplantqa.cli import main
from transplantqa.release import ReleaseSettings, build_release

WAIVER = "The judge is a plumbing model; its labels are shown as such."


@pytest.fixture
def release(write_run: Any, tmp_path: Path) -> Path:
    """A release that may leave."""
    documents = [{**row, "licence": row["licence"] or "CC-BY-4.0"} for row in write_run.rows["documents"]]
    settings = ReleaseSettings(folder="unused", name="audit", title="Audit", waiver=WAIVER)
    return build_release({"one": write_run(rows={"documents": documents})}, tmp_path / "release", settings).folder


@pytest.fixture(autouse=True)
def _no_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    from transplantqa.hub import dataset

    def reached() -> None:
        raise AssertionError("the Hub was reached for")

    monkeypatch.setattr(dataset, "_api", reached)


def test_a_token_on_the_command_line_is_refused_and_not_repeated(capsys: pytest.CaptureFixture[str]) -> None:
    for argument in ("token=hf_secretsecretsecret", "--token=hf_secretsecretsecret"):
        assert main(["push", "repo=owner/name", argument]) == 2
    assert "hf_secret" not in "".join(capsys.readouterr())


def test_nobody_signed_in_is_told_how(
    release: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("huggingface_hub.get_token", lambda: None)
    assert main(["push", "repo=owner/name", f"folder={release}"]) == 2
    assert "hf auth login" in capsys.readouterr().err


def test_a_release_that_may_not_leave_does_not(release: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (release / "README.md").write_text("mine", encoding="utf-8")
    assert main(["push", "repo=owner/name", f"folder={release}"]) == 3
    assert "README.md isn't what was built" in capsys.readouterr().err


def test_a_folder_that_is_no_release_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["push", "repo=owner/name", f"folder={tmp_path}"]) == 3
    assert "not a release" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["push", "pull"])
@pytest.mark.parametrize("repo", ["", "repo=name", "repo=a/b/c", "repo=../x"])
def test_a_dataset_that_is_not_named_rightly_is_a_usage_error(
    command: str, repo: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, *filter(None, [repo])]) == 2
    assert f"Usage: transplantqa {command} repo=OWNER/NAME" in capsys.readouterr().err


def test_a_choice_that_is_none_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["push", "repo=owner/name", "private=maybe"]) == 2
    assert "private: 'maybe' is not one of yes, no" in capsys.readouterr().err
