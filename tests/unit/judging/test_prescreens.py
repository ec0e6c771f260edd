from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from transplantqa.errors import InputError
from transplantqa.judging import ClassifierPrescreen, RulePrescreen

LABELS = "package:transplantqa/judging/silence_labels.csv"
Table = Callable[..., pa.Table]


@pytest.fixture
def answers(answers_table: Table) -> pa.Table:
    return answers_table(
        [
            ("q", "d1", "ok", "You may drive again after six weeks."),
            ("q", "d2", "ok", "There is no mention of driving in this text."),
            ("q", "d3", "abstained", "NOT ADDRESSED"),
            ("q", "d4", "ok", "You may drive  again after six weeks."),
            ("q", "d5", "engine_error", ""),
        ]
    )


def decided(table: pa.Table) -> dict[str, tuple[str | None, str | None]]:
    return {
        row["document_a"] + row["document_b"]: (row["label"], row["decided_by"])
        for row in table.to_pylist()
        if "d5" not in (row["document_a"], row["document_b"])
    }


def test_the_rule_decides_by_outcomes_alone_and_identical_answers_only_when_told(answers: pa.Table) -> None:
    usual = decided(RulePrescreen().pairs(answers))
    assert usual["d1d2"] == usual["d1d4"] == (None, None)
    assert usual["d2d3"] == ("ABSENT", "prescreen")
    assert decided(RulePrescreen(identical="consistent").pairs(answers))["d1d4"] == ("CONSISTENT", "identical")


def test_the_classifier_finds_silence_that_the_rule_takes_for_an_answer(answers: pa.Table) -> None:
    screened = decided(ClassifierPrescreen(labels=LABELS).pairs(answers))
    assert screened["d1d2"] == screened["d2d4"] == ("ABSENT", "prescreen")
    assert screened["d1d4"] == (None, None)


def test_the_audit_counts_what_was_decided_and_where_classifier_and_rule_differ(answers: pa.Table) -> None:
    screen = ClassifierPrescreen(labels=LABELS)
    figures = screen.audit(answers, screen.pairs(answers))
    assert (figures["prescreen_pairs"], figures["prescreen_pairs_n"]) == (0.5, 10)
    assert figures["prescreen_failed_pairs"] == 0.4
    assert figures["prescreen_silent_cells"] == 0.2
    assert figures["prescreen_silence_found"] == pytest.approx(1 / 3)
    assert figures["prescreen_silence_found_n"] == 3
    assert figures["prescreen_silence_doubted"] == 0.0


def test_the_classifier_learns_from_the_labels_it_is_given(tmp_path: Path, answers_table: Table) -> None:
    file = tmp_path / "labels.csv"
    lines = [f"nada {n},yes" for n in range(6)] + [f"camina {n} minutos,no" for n in range(6)]
    file.write_text("text,silent\n" + "\n".join(lines), encoding="utf-8")
    table = answers_table([("q", "d1", "ok", "nada"), ("q", "d2", "ok", "camina minutos")])
    assert decided(ClassifierPrescreen(labels=str(file)).pairs(table)) == {"d1d2": ("ABSENT", "prescreen")}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("text,silent\nx,perhaps\n", "perhaps"),
        ("text\nx\n", "columns"),
        ("text,silent\nx,yes\ny,no\n", "at least 5"),
    ],
)
def test_labels_that_teach_nothing_are_refused(tmp_path: Path, answers: pa.Table, content: str, said: str) -> None:
    file = tmp_path / "labels.csv"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        ClassifierPrescreen(labels=str(file)).pairs(answers)


def test_other_labels_are_another_prescreen(tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    file.write_text("text,silent\nx,yes\n", encoding="utf-8")
    assert ClassifierPrescreen(labels=str(file)).identity() != ClassifierPrescreen(labels=LABELS).identity()
