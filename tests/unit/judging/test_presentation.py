from collections.abc import Callable
from itertools import combinations

import pyarrow as pa
import pytest

from transplantqa.judging import Pair, judging_order, presentations
from transplantqa.judging.pairs import NAME
from transplantqa.judging.presentation import presentation_columns


@pytest.mark.parametrize(("policy", "sides"), [("fixed", ("a",)), ("both", ("a", "b"))])
def test_a_fixed_order_is_one_and_both_are_two(policy: str, sides: tuple[str, ...]) -> None:
    assert presentations(policy, "q", "d1", "d2", seed=0) == sides  # type: ignore[arg-type]


def test_a_random_order_depends_on_the_pair_and_the_seed_alone_and_is_balanced() -> None:
    shown = [presentations("random", f"q{n}", "d1", "d2", seed=1)[0] for n in range(1000)]
    assert shown == [presentations("random", f"q{n}", "d1", "d2", seed=1)[0] for n in range(1000)]
    assert 440 <= shown.count("a") <= 560  # four standard deviations of a fair coin


@pytest.mark.parametrize("policy", ["fixed", "random", "both"])
def test_a_table_of_pairs_is_presented_like_each_pair(policy: str) -> None:
    listed = [(f"q{n}", a, b) for n in range(20) for a, b in combinations(["d1", "d2", "\u00fc\u2028"], 2)]
    names = ["question_id", "document_a", "document_b"]
    columns = [pa.array(column).cast(NAME) for column in zip(*listed, strict=True)]
    rows, sides = presentation_columns(policy, pa.table(columns, names=names), seed=3)  # type: ignore[arg-type]
    expected = [(n, side) for n, pair in enumerate(listed) for side in presentations(policy, *pair, seed=3)]  # type: ignore[arg-type]
    assert list(zip(rows.tolist(), sides.to_pylist(), strict=True)) == expected


def test_coins_of_pairs_that_share_a_document_are_independent() -> None:
    """Of three documents' pairs each of the eight outcomes comes equally often: no coin follows from the others."""
    drawn = [
        tuple(presentations("random", f"q{n}", a, b, seed=0)[0] for a, b in combinations(["d1", "d2", "d3"], 2))
        for n in range(1600)
    ]
    assert all(147 <= drawn.count(outcome) <= 253 for outcome in set(drawn))  # 200, four standard deviations
    assert len(set(drawn)) == 8


def test_pairs_that_show_the_same_answer_first_become_neighbours(make_pair: Callable[..., Pair]) -> None:
    pairs = [
        make_pair("x", "y", question_id="q2"),
        make_pair("x", "y", question_id="q1", shown_first="b"),
        make_pair("x", "y", question_id="q1"),
    ]
    ordered = [(pair.question.question_id, pair.shown_first) for pair in judging_order(pairs)]
    assert ordered == [("q1", "a"), ("q1", "b"), ("q2", "a")]
