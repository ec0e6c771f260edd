"""What is left of a ratio when a sampled share of it is taken away."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from transplantqa.controls.ratios import Part, Resampling, ratio, remaining

HOW = Resampling(300, 0, 0.95)
SHARES = st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 4), st.integers(1, 4)), min_size=1, max_size=12)


def parts(rows: list[tuple[str, int, int]]) -> list[Part]:
    return [Part(name, float(min(top, bottom)), float(bottom)) for name, top, bottom in rows]


@given(SHARES, SHARES)
def test_a_share_and_its_bounds_stay_shares_and_hold_the_value(
    whole: list[tuple[str, int, int]], removed: list[tuple[str, int, int]]
) -> None:
    found = remaining(parts(whole), parts(removed), HOW)
    assert found.value == pytest.approx(
        (ratio(parts(whole), HOW).value or 0) * (1 - (ratio(parts(removed), HOW).value or 0))
    )
    assert found.low is None or found.high is None or 0.0 <= found.low <= found.high <= 1.0


def test_nothing_found_in_few_questions_leaves_room_for_what_they_did_not_show() -> None:
    whole = [Part(f"q{place}", 1.0, 2.0) for place in range(40)]
    removed = [Part(f"q{place}", 0.0, 1.0) for place in range(3)]
    found = remaining(whole, removed, HOW)
    assert found.value == pytest.approx(0.5)
    assert found.low == pytest.approx(0.5 * 0.05 ** (1 / 3))
    assert found.high == pytest.approx(0.5)


def test_the_interval_covers_what_was_planted() -> None:
    """40 questions of 10 cells, 6 silent; of 2 probed in each, 30 % are false: 0.42 remains."""
    draw = np.random.default_rng(1)
    covered = 0
    for _ in range(100):
        whole = [Part(f"q{place}", 6.0, 10.0) for place in range(40)]
        removed = [Part(f"q{place}", float(draw.binomial(2, 0.3)), 2.0) for place in range(40)]
        found = remaining(whole, removed, HOW)
        covered += found.low is not None and found.high is not None and found.low <= 0.42 <= found.high
    assert covered >= 88


def test_without_a_share_known_nothing_is_known() -> None:
    assert remaining([Part("q", 1.0, 2.0)], [], HOW).value is None
