from collections.abc import Callable

import pytest

from transplantqa.judging import Pair, judging_order, presentations


@pytest.mark.parametrize(("policy", "sides"), [("fixed", ("a",)), ("both", ("a", "b"))])
def test_a_fixed_order_is_one_and_both_are_two(policy: str, sides: tuple[str, ...]) -> None:
    assert presentations(policy, "q", "d1", "d2", seed=0) == sides  # type: ignore[arg-type]


def test_a_random_order_depends_on_the_pair_and_the_seed_alone_and_is_balanced() -> None:
    shown = [presentations("random", f"q{n}", "d1", "d2", seed=1)[0] for n in range(1000)]
    assert shown == [presentations("random", f"q{n}", "d1", "d2", seed=1)[0] for n in range(1000)]
    assert 440 <= shown.count("a") <= 560  # four standard deviations of a fair coin


def test_pairs_that_show_the_same_answer_first_become_neighbours(make_pair: Callable[..., Pair]) -> None:
    pairs = [
        make_pair("x", "y", question_id="q2"),
        make_pair("x", "y", question_id="q1", shown_first="b"),
        make_pair("x", "y", question_id="q1"),
    ]
    ordered = [(pair.question.question_id, pair.shown_first) for pair in judging_order(pairs)]
    assert ordered == [("q1", "a"), ("q1", "b"), ("q2", "a")]
