import io
from typing import Any

import pytest
from rich.console import Console

from transplantqa.errors import ConfigError, InputError
from transplantqa.report.show import main, show


def _shown(*arguments: Any) -> str:
    console = Console(file=io.StringIO(), width=120, force_terminal=False)
    console.print(show(*arguments))
    output: io.StringIO = console.file  # type: ignore[assignment]
    return output.getvalue()


def _line(shown: str, start: str) -> list[str]:
    return next(line.split() for line in shown.split("\n") if line.strip().startswith(start))


def test_every_documents_answer_is_shown_with_its_outcome(write_run: Any) -> None:
    shown = _shown(write_run(), "q1")
    assert "empty_retrieval" in _line(shown, "1   kidney_a")
    assert "After six weeks." in shown


def test_a_citation_names_its_page_or_that_it_is_not_in_the_evidence(write_run: Any) -> None:
    assert "Going home, p. 2" in _shown(write_run(), "q1")
    assert "Car (not in the evidence)" in _shown(write_run(), "q2")


def test_relations_are_a_symmetric_matrix(write_run: Any) -> None:
    lines = [line.split() for line in _shown(write_run(), "q2").split("\n")]
    assert ["1", "X"] in lines
    assert ["2", "X"] in lines


def test_a_judged_pair_is_shown_with_its_reasons(write_run: Any) -> None:
    shown = _shown(write_run(), "q2")
    for words in ("CONTRADICTORY", "high significance", "driving", "One says yes [/], one no."):
        assert words in shown


def test_pairs_without_a_judgement_are_counted(write_run: Any) -> None:
    assert "1 pairs are ABSENT without a judgement" in _shown(write_run(), "q1")


def test_markup_and_escapes_in_an_answer_are_neither_obeyed_nor_passed_on(write_run: Any) -> None:
    shown = _shown(write_run(), "q2")
    assert "[bold]Soon[/bold]" in shown
    assert "\x1b" not in shown


def test_a_documents_audit_shows_ranks_fate_and_reason_of_each_candidate(write_run: Any) -> None:
    shown = _shown(write_run(), "q2", "kidney_a")
    assert _line(shown, "kidney_a/s1/c1") == [
        "kidney_a/s1/c1", "1", "(3.5)", "2", "(0.5)", "0.0325", "yes", "best", "fused", "rank",
    ]  # fmt: skip
    assert "over the budget" in shown


def test_a_documents_audit_shows_the_passages_by_heading_and_page(write_run: Any) -> None:
    shown = _shown(write_run(), "q2", "kidney_a")
    assert "Care > Going home" in shown
    assert "Evidence: retrieved, 12 tokens, score 0.750, ok" in shown


def test_an_unknown_question_is_told_with_some_that_are_there(write_run: Any) -> None:
    with pytest.raises(InputError, match="has no question 'q9'") as problem:
        show(write_run(), "q9")
    assert "'q1', 'q2'" in str(problem.value)


def test_a_document_that_was_not_asked_is_told_with_those_that_were(write_run: Any) -> None:
    with pytest.raises(InputError, match="was asked of kidney_a, kidney_b"):
        show(write_run(), "q1", "kidney_z")


def test_the_command_needs_a_question() -> None:
    with pytest.raises(ConfigError, match="question: needs a value"):
        main(["run=x"])


def test_the_command_finds_a_run_by_its_folder(write_run: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["question=q1", f"run={write_run().path}"]) == 0
    assert "After six weeks." in capsys.readouterr().out
