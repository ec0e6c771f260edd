"""Shares of the wall clock add up to it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transplantqa.models.clock import SharedClock


class Hand:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.time = 100.0

    def __call__(self) -> float:
        return self.time


def test_a_request_alone_gets_all_of_its_time() -> None:
    hand = Hand()
    clock = SharedClock(hand)
    hand.time += 5  # nothing is in flight
    clock.start("a")
    hand.time += 3
    assert clock.stop("a") == 3


def test_two_requests_share_the_time_they_overlap() -> None:
    hand = Hand()
    clock = SharedClock(hand)
    clock.start("a")
    hand.time += 2
    clock.start("b")
    hand.time += 4
    assert clock.stop("a") == 4  # 2 alone and half of 4
    hand.time += 1
    assert clock.stop("b") == 3  # half of 4 and 1 alone


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 20)), min_size=1, max_size=20))
def test_shares_add_up_to_the_time_that_anything_was_in_flight(spans: list[tuple[int, int]]) -> None:
    events = sorted(
        [(start, 1, number) for number, (start, _) in enumerate(spans)]
        + [(start + length, 0, number) for number, (start, length) in enumerate(spans)]
    )
    hand = Hand()
    clock = SharedClock(hand)
    total = 0.0
    for moment, starts, number in events:
        hand.time = 100.0 + moment
        if starts:
            clock.start(str(number))
        else:
            total += clock.stop(str(number))
    busy = {second for start, length in spans for second in range(start, start + length)}
    assert total == pytest.approx(len(busy))
