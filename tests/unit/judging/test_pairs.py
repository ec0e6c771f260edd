from collections.abc import Callable
from itertools import combinations
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from transplantqa.judging import PAIRS, enumerate_pairs, to_judge
from transplantqa.judging.pairs import IdenticalPolicy
from transplantqa.records import Outcome

Table = Callable[..., pa.Table]


def decisions(table: pa.Table) -> dict[tuple[str, str], tuple[Any, ...]]:
    return {
        (row["document_a"], row["document_b"]): tuple(
            row[name] for name in ("outcome", "label", "silent_side", "decided_by")
        )
        for row in table.to_pylist()
    }


def test_outcomes_decide_what_they_can_and_leave_the_rest_to_the_judge(answers_table: Table) -> None:
    answers = answers_table(
        [
            ("q", "d3", "abstained", "NOT ADDRESSED"),
            ("q", "d1", "ok", "Yes."),
            ("q", "d2", "ok", "No."),
            ("q", "d4", "engine_error", ""),
        ]
    )
    failed = ("engine_error", None, None, None)
    assert decisions(enumerate_pairs(answers)) == {
        ("d1", "d2"): (None, None, None, None),
        ("d1", "d3"): ("ok", "ABSENT", "b", "prescreen"),
        ("d1", "d4"): failed,
        ("d2", "d3"): ("ok", "ABSENT", "b", "prescreen"),
        ("d2", "d4"): failed,
        ("d3", "d4"): failed,
    }


@pytest.mark.parametrize(
    ("policy", "decided"),
    [("judge", (None, None, None, None)), ("consistent", ("ok", "CONSISTENT", None, "identical"))],
)
def test_answers_of_the_same_words_are_consistent_only_when_asked(
    answers_table: Table,
    policy: IdenticalPolicy,
    decided: tuple[Any, ...],
) -> None:
    answers = answers_table([("q", "d1", "ok", "Wait  a week."), ("q", "d2", "ok", "wait a week. ")])
    assert decisions(enumerate_pairs(answers, identical=policy)) == {("d1", "d2"): decided}


def test_a_cell_given_twice_is_refused(answers_table: Table) -> None:
    with pytest.raises(ValueError, match="twice"):
        enumerate_pairs(answers_table([("q", "d", "ok", "x")] * 2))


def test_no_answers_make_no_pairs(answers_table: Table) -> None:
    table = enumerate_pairs(answers_table([]))
    assert (len(table), table.schema) == (0, PAIRS)


cells = st.dictionaries(
    st.tuples(st.sampled_from(["q1", "q2", "q10"]), st.sampled_from(["a", "b", "B", "é", "z9", "z10"])),
    st.sampled_from(list(Outcome)),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(cells, st.randoms(use_true_random=False))
def test_every_unordered_pair_of_a_question_is_there_once_in_order(
    answers_table: Table,
    asked: dict[tuple[str, str], Outcome],
    random: Any,
) -> None:
    rows = [(*cell, str(outcome), "text") for cell, outcome in asked.items()]
    random.shuffle(rows)
    found = [
        (row["question_id"], row["document_a"], row["document_b"])
        for row in enumerate_pairs(answers_table(rows)).to_pylist()
    ]
    expected = [
        (question, *pair)
        for question in sorted({question for question, _ in asked})
        for pair in combinations(sorted(document for other, document in asked if other == question), 2)
    ]
    assert found == expected


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(cells)
def test_only_pairs_of_two_answers_go_to_the_judge(answers_table: Table, asked: dict[tuple[str, str], Outcome]) -> None:
    table = enumerate_pairs(answers_table([(*cell, str(outcome), "text") for cell, outcome in asked.items()]))
    for row in to_judge(table).to_pylist():
        assert (
            asked[row["question_id"], row["document_a"]] is asked[row["question_id"], row["document_b"]] is Outcome.OK
        )
