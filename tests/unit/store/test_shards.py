"""Sharing work out by prefix group."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from transplantqa.store import Shard, shard_column, shard_of


@given(st.text(), st.integers(1, 50))
def test_each_group_belongs_to_exactly_one_shard(group: str, count: int) -> None:
    assert sum(Shard(index, count).owns(group) for index in range(count)) == 1


def test_a_group_keeps_its_shard_on_every_machine_and_in_every_release() -> None:
    # first 8 bytes of SHA-256("abc") are ba7816bf8f01cfea; 0xba7816bf8f01cfea % 20 == 14
    assert shard_of("abc", 20) == 0xBA7816BF8F01CFEA % 20


@given(st.lists(st.text(max_size=3)), st.integers(1, 7))
def test_a_column_of_groups_is_shared_out_like_each_group(groups: list[str], count: int) -> None:
    column = pa.chunked_array([pa.array(groups, pa.string())])
    assert shard_column(column, count).to_pylist() == [shard_of(group, count) for group in groups]


def test_shards_of_few_groups_may_be_empty() -> None:
    owners = {shard_of(group, 4) for group in ("a", "b")}
    assert len(owners) < 4


@pytest.mark.parametrize(("index", "count"), [(1, 1), (-1, 2), (0, 0)])
def test_a_shard_that_does_not_exist_is_refused(index: int, count: int) -> None:
    with pytest.raises(ValueError, match="index must be"):
        Shard(index, count)
