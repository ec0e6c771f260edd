import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from transplantqa.retrieval.fusion import ABSENT, Scores, fuse, order_of, ranks_of

SCORES = st.tuples(st.integers(1, 4), st.integers(1, 12)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.sampled_from([ABSENT, 0.0, 0.25, 0.5, 1.0]))
)


def one(*values: float) -> Scores:
    return np.array([values])


def test_a_chunk_missing_from_one_ranking_gets_nothing_from_it() -> None:
    dense = np.array([[1, 2, 3, 0, 0]], dtype=np.int32)
    bm25 = np.array([[0, 0, 3, 1, 2]], dtype=np.int32)
    fused = fuse([dense, bm25], k=60)[0]
    assert fused == pytest.approx([1 / 61, 1 / 62, 2 / 63, 1 / 61, 1 / 62])


def test_a_chunk_that_no_ranker_proposes_is_absent_from_the_fusion() -> None:
    assert fuse([np.array([[1, 0]], dtype=np.int32)])[0, 1] == ABSENT


def test_a_weight_multiplies_what_its_ranking_gives() -> None:
    first, second = np.array([[1, 2]], dtype=np.int32), np.array([[2, 1]], dtype=np.int32)
    fused = fuse([first, second], k=60, weights=[1.0, 0.5])[0]
    assert fused == pytest.approx([1 / 61 + 0.5 / 62, 1 / 62 + 0.5 / 61])


def test_equal_scores_are_ordered_by_column() -> None:
    assert order_of(one(0.5, 1.0, 0.5, 1.0))[0].tolist() == [1, 3, 0, 2]


def test_a_depth_beyond_the_chunks_ranks_them_all() -> None:
    assert ranks_of(one(0.1, 0.3, 0.2), depth=100)[0].tolist() == [3, 1, 2]


def test_ranks_beyond_the_depth_count_as_absent() -> None:
    assert ranks_of(one(0.1, 0.3, 0.2), depth=2)[0].tolist() == [0, 1, 2]


@given(SCORES, st.integers(1, 15))
def test_proposed_chunks_have_the_ranks_one_to_n(scores: Scores, depth: int) -> None:
    for row, ranks in zip(scores, ranks_of(scores, depth), strict=True):
        expected = min(depth, int((row != ABSENT).sum()))
        assert sorted(ranks[ranks > 0]) == list(range(1, expected + 1))


@given(SCORES)
def test_a_better_score_has_a_better_rank(scores: Scores) -> None:
    ranks = ranks_of(scores, depth=99)
    for row, places in zip(scores, ranks, strict=True):
        by_rank = [row[column] for column in np.argsort(places) if places[column] > 0]
        assert by_rank == sorted(by_rank, reverse=True)


@given(SCORES, st.permutations(range(4)))
def test_fusion_is_the_same_to_the_last_bit_in_any_order_of_rankers(scores: Scores, order: list[int]) -> None:
    rankings = [ranks_of(np.roll(scores, shift, axis=1), depth=9) for shift in range(4)]
    assert np.array_equal(fuse(rankings), fuse([rankings[at] for at in order]))
