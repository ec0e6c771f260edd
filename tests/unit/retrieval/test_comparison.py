"""Retrievers compared question by question; figures by hand, by ir-measures and by scikit-learn."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from transplantqa.records import Evidence, Outcome, Route
from transplantqa.retrieval.comparison import Bootstrap, RetrievalFigure, _separations, compare_retrievers
from transplantqa.retrieval.evaluation import RetrievalCell, measure_retrieval, with_ranking


def cell(
    question: str,
    sections: tuple[str, ...] = (),
    wanted: tuple[str, ...] = (),
    *,
    score: float | None = None,
    route: Route = "retrieved",
) -> RetrievalCell:
    """Make a cell whose ``wanted`` sections hold a quote each; without any, gold is silent."""
    evidence = Evidence(question, "d", route, (), (), score, 0, Outcome.OK)
    holders = tuple(frozenset({name}) for name in wanted)
    shown, located = (False,) * len(wanted), (True,) * len(wanted)
    return with_ranking([RetrievalCell(evidence, not wanted, holders, shown, located, sections)])[0]


def figures(*sides: tuple[str, list[RetrievalCell]], replicates: int = 200) -> dict[tuple[str, str], RetrievalFigure]:
    cells = dict(sides)
    bootstrap = Bootstrap.over([one.key[0] for own in cells.values() for one in own], replicates, 0, 0.95)
    return {(one.retriever, one.measure): one for one in compare_retrievers(cells, bootstrap)}


def test_ranked_sections_have_the_measures_of_their_definitions() -> None:
    """By hand: of s2, s4 and s9, the first six sections hold two, at ranks 2 and 4."""
    found = cell("q", ("s1", "s2", "s3", "s4", "s5", "s6"), ("s2", "s4", "s9")).ranking
    ideal = 1 + 1 / np.log2(3) + 1 / np.log2(4)
    assert found == {
        "section_recall_at_1": 0.0,
        "section_recall_at_3": pytest.approx(1 / 3),
        "section_recall_at_5": pytest.approx(2 / 3),
        "section_recall_at_10": pytest.approx(2 / 3),
        "section_ndcg_at_10": pytest.approx((1 / np.log2(3) + 1 / np.log2(5)) / ideal),
        "section_mrr": 0.5,
    }


def test_a_ranking_without_a_wanted_section_counts_as_nothing_found_and_not_as_missing() -> None:
    assert set(cell("q", ("s1",), ("s2",)).ranking.values()) == {0.0}


def test_many_cells_are_measured_each_on_its_own() -> None:
    cells = [cell("q", ("a", "b"), ("b",)), cell("q", (), ("b",)), cell("q"), cell("q", ("b", "a"), ("b",))]
    assert [one.ranking.get("section_mrr") for one in with_ranking(cells)] == [0.5, None, None, 1.0]


def test_the_first_retriever_has_no_difference_and_the_others_have_theirs_from_it() -> None:
    found = figures(("a", [cell("q1", ("x", "y"), ("y",))]), ("b", [cell("q1", ("y", "x"), ("y",))]))
    assert found["a", "section_recall_at_1"].difference is None
    assert found["b", "section_recall_at_1"].difference == 1.0


def test_a_difference_is_over_cells_that_both_searched() -> None:
    first = [cell("q1", ("x",), ("x",)), cell("q2", ("y",), ("x",))]
    second = [cell("q1", ("x",), ("x",)), cell("q2", (), ("x",), route="full_document")]
    figure = figures(("a", first), ("b", second))["b", "section_recall_at_1"]
    assert (figure.difference, figure.difference_n, figure.n) == (0.0, 1, 1)


def test_without_common_cells_there_is_no_difference() -> None:
    found = figures(("a", [cell("q1", ("x",), ("x",))]), ("b", [cell("q2", ("x",), ("x",))]))
    assert (found["b", "section_mrr"].difference, found["b", "section_mrr"].difference_n) == (None, 0)


def test_retrievers_that_do_the_same_differ_by_nothing_and_have_no_interval() -> None:
    cells = [cell(f"q{n}", ("x", "y"), ("x" if n % 2 else "y",)) for n in range(9)]
    figure = figures(("a", cells), ("b", cells))["b", "section_mrr"]
    assert (figure.difference, figure.difference_low) == (0.0, None)


def test_a_difference_lies_within_its_interval() -> None:
    first = [cell(f"q{n}", tuple(f"s{i}" for i in range(10)), (f"s{n}",)) for n in range(1, 9)]
    moved = [replace(one, sections=(one.sections[0], *one.sections[2:], one.sections[1])) for one in first]
    second = with_ranking(moved)
    figure = figures(("a", first), ("b", second))["b", "section_mrr"]
    assert figure.difference is not None
    assert figure.difference_low is not None
    assert figure.difference_low <= figure.difference <= (figure.difference_high or 0)


def test_resampling_silence_separation_weighs_every_pair_of_cells_by_its_questions() -> None:
    cells = [cell("q1", (), ("x",), score=0.9), cell("q1", score=0.4), cell("q2", (), ("x",), score=0.3)]
    cells.append(cell("q2", score=0.5))
    weights = np.array([[2.0, 0.0], [0.0, 2.0], [1.0, 1.0], [3.0, 1.0]])
    bootstrap = Bootstrap({"q1": 0, "q2": 1}, weights, 0.9999)
    expected = []
    for row in weights:
        times = [int(row[0]), int(row[0]), int(row[1]), int(row[1])]
        drawn = [one for one, count in zip(cells, times, strict=True) for _ in range(count)]
        expected.append(roc_auc_score([not one.silent for one in drawn], [one.evidence.top_score for one in drawn]))
    assert _separations(cells, bootstrap) == pytest.approx(expected)


def test_a_share_of_one_keeps_a_bound_below_it() -> None:
    cells = [cell(f"q{n}", ("x",), ("x",)) for n in range(5)]
    figure = figures(("a", cells))["a", "section_mrr"]
    assert (figure.value, figure.high) == (1.0, 1.0)
    assert figure.low == pytest.approx(0.05 ** (1 / 5))


@given(st.permutations([cell(f"q{n}", ("x", "y", "z")[: n % 3 + 1], ("y",), score=n / 7) for n in range(6)]))
def test_no_figure_depends_on_the_order_of_the_cells(shuffled: list[RetrievalCell]) -> None:
    ordered = sorted(shuffled, key=lambda one: one.key)
    before, after = measure_retrieval(ordered), measure_retrieval(shuffled)
    assert {name: one.value for name, one in before.items()} == pytest.approx(
        {name: one.value for name, one in after.items()}
    )
