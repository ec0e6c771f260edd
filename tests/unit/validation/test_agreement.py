"""Figures of agreement: references, subsets, weighting, intervals, and what stays undefined."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from transplantqa.validation.agreement import Figure, agreement, confusion
from transplantqa.validation.ratings import DECIDED, Ratings, consensus, resolved
from transplantqa.validation.resampling import Bootstrap

Rated = Callable[..., Ratings]
QUICK = Bootstrap(replicates=200)
NO_INTERVALS = Bootstrap(replicates=0)


def find(figures: Sequence[Figure], measure: str, **facts: Any) -> Figure:
    """Return the one figure of these facts; all pairs as drawn, judge against people, unless told otherwise."""
    wanted = {"between": "judge~people", "pairs": "all", "weighting": "drawn", "label": None, **facts}
    found = [
        one for one in figures if one.measure == measure and all(getattr(one, name) == v for name, v in wanted.items())
    ]
    assert len(found) == 1, (measure, wanted, len(found))
    return found[0]


def test_the_published_sample_gives_the_published_agreement_among_and_with_people(paper_ratings: Ratings) -> None:
    figures = agreement(paper_ratings, NO_INTERVALS)
    assert find(figures, "raw", between="r1~r2").value == pytest.approx(0.73)
    assert find(figures, "raw", between="r1~r2").n == 200
    kappa = find(figures, "kappa", reference="agreed")
    assert (round(kappa.value or 0, 3), kappa.n) == (0.842, 146)


def test_reweighted_to_the_published_label_shares_the_published_kappa_falls_to_about_060(
    paper_ratings: Ratings,
) -> None:
    shares = np.array([4.5, 7.1, 75.4, 12.9, 0.1])
    figures = agreement(replace(paper_ratings, population=shares), NO_INTERVALS)
    assert find(figures, "kappa", reference="agreed", weighting="population").value == pytest.approx(0.598, abs=5e-4)
    assert find(figures, "kappa", reference="agreed", weighting="drawn").value == pytest.approx(0.842, abs=5e-4)


def test_disputes_leave_bounds_around_what_any_ruling_could_give(paper_ratings: Ratings) -> None:
    figures = agreement(paper_ratings, NO_INTERVALS)
    best, worst = (find(figures, "raw", reference=way) for way in ("best", "worst"))
    assert best.n == worst.n == 200
    assert best.value == pytest.approx((128 + 54) / 200)  # the judge's label is one of the two in every dispute
    assert worst.value == pytest.approx(128 / 200)


def test_an_adjudicator_decides_disputes_and_nothing_else(rated: Rated) -> None:
    ratings = rated([[1, 1], [1, 2], [2, 3]], [1, 1, 2], adjudicator=np.array([3, 2, -1]))
    found = consensus(ratings.labels, 5, ratings.adjudicator)
    assert found.codes.tolist() == [1, 2, -1]
    assert [DECIDED[code] for code in found.decided] == ["agreed", "adjudicated", "disputed"]


def test_more_than_half_is_a_majority_and_one_label_alone_is_single() -> None:
    found = consensus(np.array([[1, 1, 2], [1, 2, 3], [-1, -1, 4], [-1, -1, -1]]), 5)
    assert found.codes.tolist() == [1, -1, 4, -1]
    assert [DECIDED[code] for code in found.decided] == ["majority", "disputed", "single", "missing"]


def test_a_dispute_is_settled_for_and_against_the_judge_only_by_labels_somebody_gave() -> None:
    labels, judge = np.array([[1, 3], [1, 3]]), np.array([3, 4])
    found = consensus(labels, 5)
    assert resolved(found, labels, judge, 5, "best").tolist() == [3, 3]
    assert resolved(found, labels, judge, 5, "worst").tolist() == [1, 1]


def test_a_missing_label_is_in_no_figure_of_its_annotator(rated: Rated) -> None:
    figures = agreement(rated([[1, 1], [2, -1], [3, 3]], [1, 2, 3]), NO_INTERVALS)
    assert find(figures, "raw", between="judge~r1").n == 3
    assert find(figures, "raw", between="judge~r2").n == 2
    assert find(figures, "raw", between="r1~r2").n == 2
    assert find(figures, "alpha", between="people").n == 2


def test_without_absent_leaves_out_pairs_on_which_either_side_says_it(rated: Rated) -> None:
    ratings = rated([0, 0, 1, 2], [0, 1, 0, 2], absent=0, screened=np.array([True, False, False, False]))
    figures = agreement(ratings, NO_INTERVALS)
    assert find(figures, "raw", between="judge~r1").n == 4
    assert find(figures, "raw", between="judge~r1", pairs="judged").n == 3
    assert find(figures, "raw", between="judge~r1", pairs="without_absent").n == 1


def test_reweighting_gives_each_stratum_its_share_of_the_population(rated: Rated) -> None:
    labels, judge = [1, 2, 2, 2], [1, 1, 2, 2]
    figures = agreement(rated(labels, judge, population=np.array([0.0, 900.0, 100.0, 0.0, 0.0])), NO_INTERVALS)
    assert find(figures, "raw", between="judge~r1").value == pytest.approx(0.75)
    assert find(figures, "raw", between="judge~r1", weighting="population").value == pytest.approx(0.9 * 0.5 + 0.1)


def test_the_bootstrap_is_over_questions_so_repeated_pairs_make_it_wider(rated: Rated) -> None:
    generator = np.random.default_rng(1)
    judge = generator.integers(1, 5, 120)
    people = np.where(np.repeat(generator.random(12) < 0.6, 10), judge, 1 + judge % 4)
    alone = agreement(rated(people, judge), QUICK)
    together = agreement(rated(people, judge, clusters=np.repeat(np.arange(12), 10)), QUICK)
    widths = [
        (figure.high or 0) - (figure.low or 0)
        for figure in (find(alone, "raw", between="judge~r1"), find(together, "raw", between="judge~r1"))
    ]
    assert widths[1] > 2 * widths[0]


def test_complete_agreement_has_the_exact_one_sided_bound_and_kappa_no_interval(rated: Rated) -> None:
    figures = agreement(rated([1, 2] * 15, [1, 2] * 15), QUICK)
    raw, kappa = (find(figures, name, between="judge~r1") for name in ("raw", "kappa"))
    assert (raw.value, raw.high) == (1.0, 1.0)
    assert raw.low == pytest.approx(0.05 ** (1 / 30))
    assert (kappa.value, kappa.low, kappa.high) == (1.0, None, None)


def test_the_one_sided_bound_counts_questions_and_not_their_pairs(rated: Rated) -> None:
    figures = agreement(rated([1, 2] * 20, [1, 2] * 20, clusters=np.repeat(np.arange(8), 5)), QUICK)
    assert find(figures, "raw", between="judge~r1").low == pytest.approx(0.05 ** (1 / 8))
    # pairs that the judge called 1 are of all 8 questions, 20 pairs of them
    found = find(figures, "precision", between="judge~r1", label="CONSISTENT")
    assert found.n == 20
    assert found.low == pytest.approx(0.05 ** (1 / 8))


def test_alpha_of_all_is_that_of_the_two_there_are_however_weighted_and_whatever_is_left_out(rated: Rated) -> None:
    generator = np.random.default_rng(3)
    labels = generator.integers(0, 5, (80, 2))
    labels[:50, 1] = labels[:50, 0]
    ratings = rated(labels, labels[:, 0], population=np.array([60.0, 10.0, 5.0, 20.0, 5.0]), absent=0)
    figures = agreement(ratings, NO_INTERVALS)
    for pairs in ("all", "without_absent"):
        for weighting in ("drawn", "population"):
            facts = {"pairs": pairs, "weighting": weighting}
            two = find(figures, "alpha", between="r1~r2", **facts).value
            assert find(figures, "alpha", between="people", **facts).value == pytest.approx(two)


def test_equal_seeds_give_equal_figures_and_another_seed_other_intervals(paper_ratings: Ratings) -> None:
    first, again = agreement(paper_ratings, QUICK), agreement(paper_ratings, QUICK)
    assert first == again
    other = agreement(paper_ratings, Bootstrap(replicates=200, seed=9))
    assert find(first, "raw", reference="agreed").low != find(other, "raw", reference="agreed").low


@pytest.mark.parametrize("labels", [[], [[-1, -1], [-1, -1]], [[1, 1], [1, 1]], [[1, -1], [-1, 2]]])
def test_nothing_is_ever_nan_and_what_is_undefined_says_why(rated: Rated, labels: list[list[int]]) -> None:
    judge = np.ones(len(labels), dtype=np.int64)
    figures = agreement(rated(np.array(labels, dtype=np.int64).reshape(-1, 2), judge), QUICK)
    for figure in figures:
        assert figure.value is None or math.isfinite(figure.value)
        assert (figure.value is None) == (figure.undefined is not None)


def test_the_confusion_matrix_of_the_published_sample_is_the_published_one(paper_ratings: Ratings) -> None:
    assert np.diag(confusion(paper_ratings, "agreed")).tolist() == [39, 17, 20, 12, 40]
    assert confusion(paper_ratings, "agreed").sum() == 146
