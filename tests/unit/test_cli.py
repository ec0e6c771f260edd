"""The console script: help is quick and complete, mistakes end in one message and the documented code."""

import subprocess
import sys

import pytest

from transplantqa.cli import COMMANDS, help_text, main, plain_arguments
from transplantqa.errors import ConfigError


def test_help_lists_every_command_and_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert all(f"  {name}" in shown for name in COMMANDS)
    assert "75 interrupted" in shown


def test_help_says_that_nothing_ranks_institutions_or_gives_advice() -> None:
    assert "nothing here ranks institutions or gives advice" in help_text()


def test_no_command_shows_the_help_and_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == ConfigError.exit_code
    assert "Usage:" in capsys.readouterr().out


def test_a_misspelt_command_is_answered_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rnu"]) == ConfigError.exit_code
    assert "Did you mean 'run'?" in capsys.readouterr().err


def test_a_plain_argument_that_is_not_known_is_named_with_the_usage() -> None:
    with pytest.raises(ConfigError, match="'qestion=q1' is not one of question=") as caught:
        plain_arguments(["qestion=q1"], ["question"], "transplantqa show question=ID")
    assert "Usage: transplantqa show question=ID" in str(caught.value)


@pytest.mark.parametrize(
    ("flags", "why"),
    [
        (["-m", "--cfg", "job"], "-m and --cfg can't be given together"),
        (["--resolve"], "Add --cfg job"),
        (["--package", "judge"], "Add --cfg job"),
    ],
)
def test_flags_that_hydra_refuses_end_in_a_message(
    flags: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", *flags]) == ConfigError.exit_code
    assert why in capsys.readouterr().err


def test_help_imports_nothing_heavy() -> None:
    heavy = [
        "hydra",
        "numpy",
        "pyarrow",
        "mlflow",
        "datasets",
        "llama_cpp",
        "onnxruntime",
        "pydantic",
        "rich",
        "duckdb",
    ]
    code = (
        "import sys; from transplantqa.cli import main; main(['--help']); "
        f"sys.exit(any(name in sys.modules for name in {heavy}))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, capture_output=True).returncode == 0


@pytest.mark.parametrize("name", COMMANDS)
def test_what_a_command_runs_can_be_loaded(name: str) -> None:
    assert callable(COMMANDS[name].handler(name))


def test_a_configuration_mistake_shows_no_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "retriever=bm52"]) == ConfigError.exit_code
    shown = capsys.readouterr()
    assert "Traceback" not in shown.err
    assert "Did you mean 'bm25'?" in shown.err


@pytest.mark.parametrize("arguments", [["explain"], ["track"], ["repair"], ["prune", "everything"], ["show"]])
def test_a_command_without_what_it_needs_shows_its_usage(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == ConfigError.exit_code
    assert f"Usage: transplantqa {arguments[0]}" in capsys.readouterr().err
