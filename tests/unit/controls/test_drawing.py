from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transplantqa.controls.drawing import allocation, draw, thinned


@pytest.mark.parametrize(
    ("sizes", "size", "expected"),
    [
        ({"a": 80, "b": 20}, 10, {"a": 8, "b": 2}),
        ({"a": 98, "b": 1, "c": 1}, 10, {"a": 8, "b": 1, "c": 1}),
        ({"a": 3, "b": 2}, 10, {"a": 3, "b": 2}),
        ({"a": 5, "b": 5, "c": 5}, 2, {"a": 1, "b": 1, "c": 0}),
    ],
)
def test_every_stratum_gets_one_and_the_rest_goes_by_size(
    sizes: dict[str, int], size: int, expected: dict[str, int]
) -> None:
    assert allocation(sizes, size) == expected


@given(st.dictionaries(st.text(max_size=3), st.integers(1, 40), min_size=1, max_size=8), st.integers(0, 60))
def test_an_allocation_adds_up_and_no_stratum_gives_more_than_it_has(sizes: dict[str, int], size: int) -> None:
    given_out = allocation(sizes, size)
    assert sum(given_out.values()) == min(size, sum(sizes.values()))
    assert all(given_out[name] <= sizes[name] for name in sizes)


ITEMS = {f"i{n:03}": n for n in range(60)}
STRATA = {name: "big" if number < 50 else "small" for name, number in ITEMS.items()}


@pytest.mark.parametrize("size", [1, 2, 7, 30, 60, 100])
def test_the_weights_of_a_sample_add_up_to_what_it_stands_for(size: int) -> None:
    assert sum(one.weight for one in draw(ITEMS, STRATA, size, 1)) == pytest.approx(60)


def test_a_draw_depends_on_its_seed_and_on_no_order() -> None:
    drawn = draw(ITEMS, STRATA, 12, 1)
    assert drawn == draw(dict(reversed(ITEMS.items())), STRATA, 12, 1)
    assert drawn != draw(ITEMS, STRATA, 12, 2)


def test_over_many_seeds_every_item_is_drawn_as_often_as_its_probability_says() -> None:
    seen: Counter[int] = Counter()
    for seed in range(400):
        seen.update(one.item for one in draw(ITEMS, STRATA, 12, seed))
    of_small = [seen[number] for number in range(50, 60)]
    assert min(of_small) > 0.5 * 400 / 5
    assert max(of_small) < 1.5 * 400 / 5
    assert sum(seen.values()) == 12 * 400


def test_nothing_is_drawn_of_nothing() -> None:
    assert draw({}, {}, 5, 0) == []
    assert thinned([], 5, 0, "x") == ([], 1.0)
