from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from transplantqa.judging import derive_comparisons, enumerate_pairs
from transplantqa.records import Judgement, Label, Outcome
from transplantqa.store.tables import COMPARISONS, JUDGEMENTS


def judgements(*rows: Judgement) -> pa.Table:
    listed = [row.row() | {"attempt": 1, "inputs_sha256": "x"} for row in rows]
    return pa.Table.from_pylist(listed, schema=JUDGEMENTS.schema)


def judged(label: Label | None, shown_first: Any = "a", **changes: Any) -> Judgement:
    outcome = Outcome.OK if label else Outcome.PARSE_FAILED
    return Judgement("q", "d1", "d2", outcome, shown_first, label=label, reasoning=f"shown {shown_first}", **changes)


@pytest.fixture
def pairs(answers_table: Callable[..., pa.Table]) -> pa.Table:
    return enumerate_pairs(
        answers_table([("q", "d1", "ok", "x"), ("q", "d2", "ok", "y"), ("q", "d3", "abstained", "NOT ADDRESSED")])
    )


def first(pairs: pa.Table, *rows: Judgement, **options: Any) -> dict[str, Any]:
    found: dict[str, Any] = derive_comparisons(pairs, judgements(*rows), **options).to_pylist()[0]
    return found


def test_judged_and_prescreened_pairs_make_one_table(pairs: pa.Table) -> None:
    table = derive_comparisons(pairs, judgements(judged(Label.DIVERGENT, divergence_topic="time", significance="low")))
    assert table.schema == COMPARISONS.schema
    assert [(row["document_b"], row["label"], row["decided_by"], row["significance"]) for row in table.to_pylist()] == [
        ("d2", "DIVERGENT", "judge", "low"),
        ("d3", "ABSENT", "prescreen", None),
        ("d3", "ABSENT", "prescreen", None),
    ]


def test_one_order_leaves_consistency_open(pairs: pa.Table) -> None:
    assert first(pairs, judged(Label.CONSISTENT, "b"))["consistent"] is None


def test_two_orders_that_agree_are_consistent(pairs: pa.Table) -> None:
    row = first(pairs, judged(Label.CONSISTENT, "b"), judged(Label.CONSISTENT, "a"))
    assert (row["consistent"], row["label"], row["reasoning"]) == (True, "CONSISTENT", "shown a")


@pytest.mark.parametrize(
    ("policy", "outcome", "label"),
    [
        ("a_first", "ok", "DIVERGENT"),
        ("milder", "ok", "CONSISTENT"),
        ("severer", "ok", "DIVERGENT"),
        ("exclude", "parse_failed", None),
    ],
)
def test_orders_that_disagree_are_settled_by_policy(pairs: pa.Table, policy: str, outcome: str, label: str) -> None:
    row = first(pairs, judged(Label.DIVERGENT, "a"), judged(Label.CONSISTENT, "b"), disagreement=policy)
    assert (row["outcome"], row["label"], row["consistent"]) == (outcome, label, False)


def test_the_order_that_can_be_read_speaks_for_the_pair(pairs: pa.Table) -> None:
    row = first(pairs, judged(None, "a"), judged(Label.CONSISTENT, "b"))
    assert (row["outcome"], row["label"], row["consistent"]) == ("ok", "CONSISTENT", None)


def test_a_failed_judgement_is_a_row_without_a_label(pairs: pa.Table) -> None:
    row = first(pairs, judged(None))
    assert (row["outcome"], row["label"], row["decided_by"]) == ("parse_failed", None, None)


def test_replicates_do_not_decide(pairs: pa.Table) -> None:
    assert first(pairs, judged(Label.DIVERGENT, replicate=1), judged(Label.CONSISTENT))["label"] == "CONSISTENT"


def test_a_judgement_of_documents_no_pair_has_is_ignored(pairs: pa.Table) -> None:
    stray = Judgement("q", "d1", "d9", Outcome.OK, "a", label=Label.DIVERGENT)
    assert first(pairs, stray, judged(Label.CONSISTENT))["label"] == "CONSISTENT"


def test_a_judgement_never_overrides_the_prescreen(pairs: pa.Table) -> None:
    stray = Judgement("q", "d1", "d3", Outcome.OK, "a", label=Label.DIVERGENT)
    table = derive_comparisons(pairs, judgements(stray, judged(Label.CONSISTENT)))
    assert table["label"].to_pylist() == ["CONSISTENT", "ABSENT", "ABSENT"]


def test_pairs_not_judged_yet_are_left_out(pairs: pa.Table) -> None:
    assert derive_comparisons(pairs, judgements())["document_b"].to_pylist() == ["d3", "d3"]
