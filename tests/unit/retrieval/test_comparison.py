"""Retrievers compared question by question; figures by hand, by ir-measures and by scikit-learn."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from transplantqa.records import Evidence, Outcome, Route
from transplantqa.retrieval.comparison import Bootstrap, RetrievalFigure, _separations, compare_retrievers
from transplantqa.retrieval.evaluation import RetrievalCell, measure_retrieval


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
    return RetrievalCell(evidence, not wanted, holders, (False,) * len(wanted), (True,) * len(wanted), sections)


def figures(*sides: tuple[str, list[RetrievalCell]], replicates: int = 200) -> dict[tuple[str, str], RetrievalFigure]:
    cells = dict(sides)
    bootstrap = Bootstrap.over([one.key[0] for own in cells.values() for one in own], replicates, 0, 0.95)
    return {(one.retriever, one.measure): one for one in compare_retrievers(cells, bootstrap)}


RANKED = cell("q", ("s1", "s2", "s3", "s4", "s5", "s6"), ("s2", "s4", "s9"))


def test_ndcg_is_that_of_ir_measures() -> None:
    """By ir-measures 0.4.3: nDCG@10 and nDCG@3 of run s1 to s6 where s2, s4 and s9 are relevant."""
    assert RANKED.ndcg(10) == pytest.approx(0.49818925746641285)
    assert RANKED.ndcg(3) == pytest.approx(0.2960819109658652)


def test_the_reciprocal_rank_is_that_of_ir_measures() -> None:
    assert RANKED.reciprocal_rank() == 0.5


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
    second = [replace(one, sections=(one.sections[0], *one.sections[2:], one.sections[1])) for one in first]
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
