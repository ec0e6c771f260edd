"""Figures against gold, by hand and by scikit-learn."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sk

from transplantqa.analysis import GoldFacts, gold_figures
from transplantqa.analysis.agreement import balanced_accuracy, cohen_kappa, confusion
from transplantqa.analysis.gold import section_figures
from transplantqa.analysis.sketch import Sketch
from transplantqa.records import GoldEvidence, GoldPair, Label


@pytest.fixture
def measured() -> dict[str, float | int]:
    """Five documents, one question: v, w, x answered; y silent; z failed. Gold: v, w, y address it; x, z don't."""
    sketch = Sketch()
    for name in "vwxyz":
        sketch.document(name)
    sketch.question("q", {"v": "ok", "w": "ok", "x": "ok", "y": "abstained", "z": "engine_error"})
    sketch.compare("q", "v", "w", "COMPLEMENTARY")
    sketch.compare("q", "v", "x", "CONSISTENT")
    sketch.compare("q", "w", "x", "ABSENT", silent_side="b")
    silent = {"v": False, "w": False, "x": True, "y": False, "z": True}
    evidence = [GoldEvidence("q", name, silent=value) for name, value in silent.items()]
    absent = [GoldPair("q", a, b, Label.ABSENT) for a, b in ("vx", "wx", "xy", "vz")]
    pairs = [
        GoldPair("q", "v", "w", Label.CONSISTENT, also_acceptable=(Label.COMPLEMENTARY,)),
        GoldPair("q", "v", "y", Label.DIVERGENT),
        GoldPair("q", "w", "y", Label.CONSISTENT),
        *absent,
    ]
    return dict(gold_figures(sketch.tables(), GoldFacts(evidence, pairs)).metrics)


@pytest.mark.parametrize(
    ("name", "value", "denominator"),
    [
        # v, w right; x invented; y falsely silent; z failed.
        ("absence_accuracy", 2 / 4, 4),
        ("absence_balanced_accuracy", (2 / 3 + 0 / 1) / 2, 4),
        ("silence_precision", 0.0, 1),
        ("silence_recall", 0.0, 1),
        ("false_silence_rate", 1 / 3, 3),
        ("invented_answer_rate", 1.0, 1),
        # Right: v-w as acceptable, w-x, x-y. Wrong: v-x, v-y, w-y. v-z is undecided.
        ("pair_label_accuracy", 3 / 6, 6),
        ("pair_label_primary_accuracy", 2 / 6, 6),
        ("pair_label_recall/ABSENT", 2 / 3, 3),
        ("pair_label_precision/ABSENT", 2 / 4, 4),
        # Both answered by the run and by gold: v-w alone.
        ("judge_gold_accuracy", 1.0, 1),
        ("judge_gold_primary_accuracy", 0.0, 1),
    ],
)
def test_each_figure_is_what_counting_by_hand_gives(
    measured: dict[str, float | int], name: str, value: float, denominator: int
) -> None:
    assert (measured[name], measured[f"{name}_n"]) == pytest.approx((value, denominator))


def test_what_failed_is_counted_apart(measured: dict[str, float | int]) -> None:
    assert (measured["gold_cells_missing"], measured["gold_pairs_undecided"]) == (1, 1)


def test_a_gold_cell_outside_the_run_is_missing(three_institutions: Sketch) -> None:
    evidence = [GoldEvidence("other", "x", silent=True), GoldEvidence("q1", "x", silent=False)]
    found = gold_figures(three_institutions.tables(), GoldFacts(evidence, [])).metrics
    assert (found["gold_cells_missing"], found["absence_accuracy_n"]) == (1, 1)


def test_balanced_accuracy_is_absent_where_gold_is_never_silent(three_institutions: Sketch) -> None:
    found = gold_figures(three_institutions.tables(), GoldFacts([GoldEvidence("q1", "x", silent=False)], [])).metrics
    assert "absence_balanced_accuracy" not in found


def test_no_gold_gives_no_figure_and_no_error(three_institutions: Sketch) -> None:
    found = gold_figures(three_institutions.tables(), GoldFacts([], [])).metrics
    assert set(found.values()) == {0}


def test_section_recall_is_the_mean_share_of_gold_sections_retrieved() -> None:
    gold = {("q", "x"): ["s1", "s2"], ("q", "y"): ["s3"], ("q", "z"): []}
    found = section_figures(gold, {("q", "x"): ["s1", "s9"], ("q", "w"): ["s1"]})
    assert found == {"section_recall": 0.25, "section_recall_n": 2, "section_hit_rate": 0.5, "section_hit_rate_n": 2}


def test_section_recall_is_undefined_where_retrieval_is_unknown() -> None:
    assert section_figures({("q", "x"): ["s1"]}, {}) == {"section_recall_n": 0, "section_hit_rate_n": 0}


labels = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=40)


@given(labels)
def test_kappa_is_scikit_learns(rows: Sequence[tuple[int, int]]) -> None:
    reference, other = (np.array(side, dtype=np.int64) for side in zip(*rows, strict=True))
    ours = cohen_kappa(confusion(reference, other, 5))
    if len(set(reference.tolist()) | set(other.tolist())) == 1:
        assert ours is None
    else:
        assert ours == pytest.approx(sk.cohen_kappa_score(reference, other, labels=range(5)))


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=40))
def test_balanced_accuracy_is_scikit_learns(rows: Sequence[tuple[int, int]]) -> None:
    reference, other = (np.array(side, dtype=np.int64) for side in zip(*rows, strict=True))
    ours = balanced_accuracy(confusion(reference, other, 2))
    if len(set(reference.tolist())) == 1:
        assert ours is None
    else:
        assert ours == pytest.approx(sk.balanced_accuracy_score(reference, other))


def test_kappa_of_the_published_validation_matrix() -> None:
    """The judge against 146 agreed pairs in arXiv 2605.29084: kappa 0.842."""
    matrix = np.array(
        [[39, 0, 0, 0, 0], [0, 17, 1, 0, 0], [0, 6, 20, 8, 0], [0, 0, 2, 12, 0], [0, 0, 0, 1, 40]], dtype=np.int64
    )
    kappa = cohen_kappa(matrix)
    assert kappa is not None
    assert round(kappa, 3) == 0.842
