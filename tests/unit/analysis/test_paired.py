"""The contrast of two audits, against what was planted."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from transplantqa.analysis.counts import read_cells, read_pairs
from transplantqa.analysis.deltas import verdict_of
from transplantqa.analysis.newly_answered import newly_answered
from transplantqa.analysis.paired import ContrastFindings, contrast
from transplantqa.analysis.settings import Analysis
from transplantqa.analysis.simulate import Plan, plant
from transplantqa.analysis.sketch import Sketch

SETTINGS = Analysis(bootstrap_replicates=300)
PLAN = Plan(questions=200, institutions=5, seed=3)


def contrasted(before: Plan, after: Plan) -> ContrastFindings:
    return contrast(plant(before).tables, plant(after).tables, SETTINGS, "cross_institution", margin=2.0)


def rows(found: ContrastFindings, table: str, **wanted: str) -> list[dict[str, Any]]:
    return [row for row in found.tables[table].to_pylist() if all(row[name] == value for name, value in wanted.items())]


@pytest.fixture(scope="module")
def risen() -> ContrastFindings:
    """Silence falls and dissent rises, as in a system that finds more and whose sources disagree more."""
    return contrasted(replace(PLAN, silence=0.5, dissent=0.1), replace(PLAN, silence=0.3, dissent=0.25))


@pytest.mark.parametrize("rate", ["any_divergence_rate", "divergence_rate"])
def test_the_terms_of_a_planted_change_sum_to_it_exactly(risen: ContrastFindings, rate: str) -> None:
    change, *terms = [row["points"] for row in rows(risen, "terms", rate=rate)]
    assert sum(terms) == pytest.approx(change, abs=1e-9)


@pytest.mark.parametrize("rate", ["any_divergence_rate", "divergence_rate"])
def test_the_table_and_the_decomposition_agree(risen: ContrastFindings, rate: str) -> None:
    (delta,) = rows(risen, "deltas", facet="all", measure=rate)
    assert delta["delta_points"] == pytest.approx(rows(risen, "terms", rate=rate, term="change")[0]["points"])


def test_a_planted_fall_of_silence_lies_in_its_interval(risen: ContrastFindings) -> None:
    sides = [plant(replace(PLAN, silence=silence, dissent=dissent)) for silence, dissent in ((0.5, 0.1), (0.3, 0.25))]
    planted = 100 * (sides[0].answered.mean() - sides[1].answered.mean())
    (delta,) = rows(risen, "deltas", facet="all", measure="absence_rate")
    assert delta["delta_points"] == pytest.approx(planted)
    assert delta["low"] < planted < delta["high"] < 0
    assert delta["verdict"] == "fell"


def test_growth_alone_and_the_rest_sum_to_the_change(risen: ContrastFindings) -> None:
    change = rows(risen, "terms", rate="any_divergence_rate", term="change")[0]["points"]
    parts = risen.facts["growth_alone_points"] + risen.facts["beyond_growth_points"]
    assert parts == pytest.approx(change)


def test_more_answers_at_the_same_dissent_are_put_down_to_visibility() -> None:
    """The same stances; only how much each document leaves out differs, so no pair is judged otherwise."""
    found = contrasted(replace(PLAN, omission=0.5), replace(PLAN, omission=0.0))
    terms = {row["term"]: row["points"] for row in rows(found, "terms", rate="any_divergence_rate")}
    assert terms["newly_answered"] == pytest.approx(terms["change"])
    assert terms["change"] > 5
    assert terms["intensity"] == 0
    assert found.facts["growth_alone_points"] > abs(found.facts["beyond_growth_points"])


def test_a_system_against_itself_has_changed_nothing() -> None:
    found = contrasted(PLAN, PLAN)
    assert {row["delta_points"] for row in rows(found, "deltas")} == {0.0}
    assert found.facts["newly_answered"]["cells"] == 0


def test_nothing_changed_over_few_questions_is_not_called_unchanged() -> None:
    few = replace(PLAN, questions=10)
    (delta,) = rows(contrasted(few, few), "deltas", facet="all", measure="absence_rate")
    # Exact bound over 10 questions: 1 - 0.05 ** (1 / 10).
    assert delta["high"] == pytest.approx(100 * (1 - 0.05**0.1))
    assert delta["verdict"] == "undecided"


def test_failed_cells_are_in_neither_absence_rate(three_institutions: Sketch) -> None:
    before = three_institutions.tables()
    three_institutions.cells["q1", "z"] = "engine_error"
    found = contrast(before, three_institutions.tables(), SETTINGS, "all", margin=2.0)
    (delta,) = rows(found, "deltas", facet="all", measure="absence_rate")
    assert (delta["baseline_denominator"], delta["candidate_denominator"]) == (8, 8)


def test_a_newly_answered_cell_is_listed_with_what_its_pairs_reveal(three_institutions: Sketch) -> None:
    """q2: z was silent; it now contradicts x and agrees with y, and q2 had no conflict without it."""
    before = read_cells(three_institutions.tables())
    three_institutions.cells["q2", "z"] = "ok"
    three_institutions.compare("q2", "x", "z", "CONTRADICTORY").compare("q2", "y", "z", "CONSISTENT")
    tables = three_institutions.tables()
    after = read_cells(tables)
    found = newly_answered(before, after, read_pairs(after, tables.comparisons)[0])
    (cell,) = found.cells.to_pylist()
    assert cell == {
        "question_id": "q2",
        "document_id": "z",
        "before": "abstained",
        "pairs": 2,
        "visible": 2,
        "conflicts": 1,
    }
    assert (found.pairs["contradictory"], found.pairs["consistent"]) == (1, 1)
    assert (found.questions_with_conflict, found.questions_by_it_alone) == (1, 1)


def test_a_pair_of_two_newly_answered_cells_counts_once() -> None:
    sketch = Sketch().document("x").document("y").question("q", {"x": "abstained", "y": "abstained"})
    before = read_cells(sketch.tables())
    sketch.question("q", {"x": "ok", "y": "ok"}).compare("q", "x", "y", "DIVERGENT")
    tables = sketch.tables()
    after = read_cells(tables)
    found = newly_answered(before, after, read_pairs(after, tables.comparisons)[0])
    assert found.pairs["divergent"] == 1
    assert found.cells["conflicts"].to_pylist() == [1, 1]


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.5, 1.0, "rose"),
        (-3.0, -0.1, "fell"),
        (-1.0, 1.9, "unchanged"),
        (-1.0, 2.1, "undecided"),
        (None, None, "undecided"),
    ],
)
def test_an_interval_decides_what_is_said(low: float | None, high: float | None, said: str) -> None:
    assert verdict_of(low, high, margin=2.0) == said


def test_rarefied_rates_are_over_the_same_questions_in_both(risen: ContrastFindings) -> None:
    (delta,) = rows(risen, "deltas", facet="all", measure="any_divergence_rarefied")
    assert delta["baseline_denominator"] == delta["candidate_denominator"] > 0
    assert np.isfinite(delta["delta_points"])


def test_a_strata_change_is_called_one_only_after_correction_for_their_number(risen: ContrastFindings) -> None:
    for row in risen.deltas:
        if row.facet != "all" and row.p_holm is not None and row.verdict in {"rose", "fell"}:
            assert row.p_holm <= 0.05
        if row.p is not None and row.p_holm is not None:
            assert row.p_holm >= row.p
