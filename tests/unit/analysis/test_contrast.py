"""The contrast of two systems."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from transplantqa.analysis import contrast
from transplantqa.analysis.counts import Cells, Pairs, PairState, read_cells, read_pairs
from transplantqa.analysis.intervals import resampling_weights
from transplantqa.analysis.simulate import Plan, plant
from transplantqa.analysis.sketch import Sketch
from transplantqa.errors import InputError

NO_WEIGHTS = resampling_weights(3, 0, 0)
DECIDED = [state for state in PairState if state < PairState.UNDECIDED_ABSENT]


def paired(before: list[PairState], after: list[PairState], question: list[int]) -> contrast.PairedStates:
    places, first, second = (np.array(side, dtype=np.int64) for side in (question, before, after))
    return contrast.PairedStates(max(question, default=-1) + 1, places, first, second, excluded=0)


def test_each_kind_of_change_lands_in_its_term() -> None:
    """Six questions of one pair each; each term's question gains or loses its only conflict."""
    divergent, agree = PairState.DIVERGENT_LOW, PairState.CONSISTENT
    changes = {
        "newly_answered": (PairState.ONE_SILENT, divergent),
        "judged_into_view": (PairState.JUDGED_ONE_SILENT, divergent),
        "intensity": (agree, divergent),
        "judged_out_of_view": (divergent, PairState.JUDGED_BOTH_SILENT),
        "no_longer_answered": (divergent, PairState.BOTH_SILENT),
    }
    for name, (before, after) in changes.items():
        change = contrast.any_divergence_change(paired([before, agree], [after, agree], [0, 1]), NO_WEIGHTS, 0.95)
        terms = dict(zip(contrast.TERMS, change.terms, strict=True))
        expected = -0.5 if name in {"judged_out_of_view", "no_longer_answered"} else 0.5
        assert terms == {term: expected if term == name else 0.0 for term in contrast.TERMS}


states = st.sampled_from(DECIDED)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(states, states, st.integers(0, 4)), min_size=1, max_size=30))
def test_the_terms_sum_to_the_change(rows: list[tuple[PairState, PairState, int]]) -> None:
    data = paired([row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows])
    for measure in (contrast.any_divergence_change, contrast.pooled_change):
        change = measure(data, NO_WEIGHTS, 0.95)
        assert sum(change.terms) == pytest.approx(change.after - change.before)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(states, states, st.integers(0, 4)), min_size=1, max_size=30))
def test_growth_and_the_rest_sum_to_the_change(rows: list[tuple[PairState, PairState, int]]) -> None:
    data = paired([row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows])
    change = contrast.any_divergence_change(data, NO_WEIGHTS, 0.95)
    assert sum(contrast.growth_alone(data)) == pytest.approx(change.after - change.before)


def test_more_visible_pairs_at_one_conflict_rate_are_growth_alone() -> None:
    half = [PairState.DIVERGENT_LOW, PairState.CONSISTENT]
    before = [*half, *[PairState.BOTH_SILENT] * 4]
    data = paired([PairState.BOTH_SILENT, *before], [PairState.CONSISTENT, *half * 3], [0] * 7)
    growth, rest = contrast.growth_alone(data)
    # Any-divergence was 1 already; rarefied to 2 of 7 pairs, 3 in conflict: 1 - C(4,2)/C(7,2).
    assert (growth, rest) == pytest.approx((1 - (1 - 6 / 21), (1 - 6 / 21) - 1))


def test_flips_are_gross_and_tested_by_mcnemar() -> None:
    divergent, agree = PairState.DIVERGENT_LOW, PairState.CONSISTENT
    data = paired([agree] * 5 + [divergent], [divergent] * 5 + [agree], list(range(6)))
    # Binomial(6, 1/2): 2 * (1 + 6) / 64.
    assert contrast.question_flips(data) == pytest.approx((5, 1, 14 / 64))


def sides(sketch: Sketch) -> tuple[Cells, Pairs]:
    tables = sketch.tables()
    cells = read_cells(tables)
    return cells, read_pairs(cells, tables.comparisons)[0]


def test_pairs_failed_in_either_system_are_excluded_and_counted(three_institutions: Sketch) -> None:
    cells, before = sides(three_institutions)
    three_institutions.cells["q1", "z"] = "engine_error"
    _, after = sides(three_institutions)
    everything = np.ones(len(before.state), np.bool_)
    data = contrast.pair_up(cells, (before, after), (everything, everything))
    assert (len(data.question), data.excluded) == (7, 2)


def test_cells_are_counted_by_change_of_state(three_institutions: Sketch) -> None:
    before, _ = sides(three_institutions)
    three_institutions.cells["q3", "y"] = "ok"
    after, _ = sides(three_institutions)
    changes = contrast.cell_changes(before, after)
    assert (changes[2, 0], changes[0, 0], changes[1, 1]) == (1, 6, 2)


def test_other_documents_are_refused_by_name(three_institutions: Sketch) -> None:
    before, _ = sides(three_institutions)
    three_institutions.document("extra")
    after, _ = sides(three_institutions)
    with pytest.raises(InputError, match="candidate alone: extra"):
        contrast.require_same_design(before, after)


@pytest.mark.parametrize(("low", "high", "said"), [(-0.01, 0.02, True), (-0.03, 0.0, False), (0.0, 0.05, False)])
def test_unchanged_is_said_only_inside_the_margin(low: float, high: float, said: bool) -> None:
    assert contrast.unchanged(low, high, margin=0.02) is said


def test_a_planted_rise_lies_in_its_interval() -> None:
    plan = Plan(questions=300, institutions=6, dissent=0.1, seed=1)
    cells_pairs = []
    for one in (plan, replace(plan, dissent=0.25)):
        tables = plant(one).tables
        cells = read_cells(tables)
        cells_pairs.append((cells, read_pairs(cells, tables.comparisons)[0]))
    everything = np.ones(len(cells_pairs[0][1].state), np.bool_)
    pairs = (cells_pairs[0][1], cells_pairs[1][1])
    data = contrast.pair_up(cells_pairs[0][0], pairs, (everything, everything))
    change = contrast.pooled_change(data, resampling_weights(300, 500, 0), 0.95)
    assert change.low[0] < change.after - change.before < change.high[0]
    assert change.low[0] > 0
