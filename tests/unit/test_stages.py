"""Planning: which units follow from what came before, and from what each is made."""

from pathlib import Path

import pyarrow as pa
import pytest

from transplantqa.judging import RulesJudge
from transplantqa.records import Question
from transplantqa.signals import StopRequest
from transplantqa.stages import plan_judgements
from transplantqa.store import WHOLE, text_sha256
from transplantqa.workshop import Stage, Workshop

QUESTIONS = {name: Question(name, f"What about {name}?") for name in ("q1", "q2", "q3")}


def answers(*rows: tuple[str, str, str, str]) -> pa.Table:
    columns = [list(column) for column in zip(*rows, strict=True)]
    names = ["question_id", "document_id", "outcome", "text"]
    return pa.table(dict(zip(names, columns, strict=True))).append_column("variant", [["default"] * len(rows)])


def planned(table: pa.Table) -> Stage:
    shop = Workshop(Path("nowhere"), frozenset(), WHOLE, (), StopRequest())
    judge = RulesJudge(consistent_from=0.5, consistent_with_numbers_from=0.5)
    return plan_judgements(shop, judge, table, QUESTIONS)[1]


ROWS = (
    ("q2", "b", "ok", "Yes."),
    ("q1", "c", "ok", "No."),
    ("q1", "a", "ok", "Always."),
    ("q1", "b", "abstained", "NOT ADDRESSED"),
    ("q2", "c", "ok", "Never."),
    ("q3", "a", "ok", "Alone."),
)


def test_a_judging_is_made_from_its_question_and_its_two_answers_whatever_their_order_in_the_table() -> None:
    def made_from(question: str, first: str, second: str) -> str:
        hashes = map(text_sha256, (QUESTIONS[question].text, first, second))
        return "".join(name[:kept] for name, kept in zip(hashes, (22, 21, 21), strict=True))

    units = {unit.key[:3]: unit.inputs_sha256 for unit in planned(answers(*ROWS)).units}
    assert units == {
        ("q1", "a", "c"): made_from("q1", "Always.", "No."),
        ("q2", "b", "c"): made_from("q2", "Yes.", "Never."),
    }


@pytest.mark.parametrize("outcome", ["abstained", "context_overflow"])
def test_where_no_pair_is_left_to_judge_nothing_is_planned(outcome: str) -> None:
    assert len(planned(answers(("q1", "a", outcome, ""), ("q1", "b", outcome, ""))).planned) == 0


def test_another_answer_changes_only_the_judgings_it_takes_part_in() -> None:
    changed = answers(*ROWS[:-2], ("q2", "c", "ok", "Sometimes."), ROWS[-1])
    before, after = (
        {unit.key: unit.inputs_sha256 for unit in planned(table).units} for table in (answers(*ROWS), changed)
    )
    assert [key[:3] for key in before if before[key] != after[key]] == [("q2", "b", "c")]
