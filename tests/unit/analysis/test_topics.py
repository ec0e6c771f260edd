"""Document by topic silence."""

import numpy as np
import pytest

from transplantqa.analysis.counts import read_cells
from transplantqa.analysis.simulate import Plan, plant
from transplantqa.analysis.sketch import Sketch
from transplantqa.analysis.topics import document_topic_table, fit_silence, silence_matrix


def test_the_papers_z_is_its_formula(sketch: Sketch) -> None:
    sketch.document("x").document("y")
    for place, (x, y) in enumerate([("abstained", "ok"), ("abstained", "ok"), ("ok", "ok"), ("ok", "abstained")]):
        sketch.question(f"q{place}", {"x": x, "y": y})
    cells = read_cells(sketch.tables())
    row = document_topic_table(cells, {"t": np.ones(4, np.bool_)}).to_pylist()[0]
    # 3 of 8 cells are silent; x: 2 of 4.
    assert row["z_paper"] == pytest.approx((2 - 4 * 3 / 8) / (4 * 3 / 8 * 5 / 8) ** 0.5)


def test_the_fit_reproduces_every_documents_and_questions_silence() -> None:
    asked, silent = silence_matrix(read_cells(plant(Plan(questions=40, seed=2)).tables))
    expected = np.where(asked, fit_silence(asked, silent).expected, 0.0)
    assert expected.sum(axis=0) == pytest.approx(silent.sum(axis=0), abs=1e-4)
    assert expected.sum(axis=1) == pytest.approx(silent.sum(axis=1), abs=1e-4)


def test_a_document_that_is_silent_on_everything_is_unusual_on_nothing(sketch: Sketch) -> None:
    sketch.document("x").document("y").document("z")
    for place in range(4):
        sketch.question(f"q{place}", {"x": "abstained", "y": "ok", "z": "abstained" if place % 2 else "ok"})
    table = document_topic_table(read_cells(sketch.tables()), {"t": np.array([True, True, False, False])})
    rows = {row["document_id"]: row for row in table.to_pylist()}
    assert rows["x"]["z"] is None
    assert rows["x"]["z_paper"] > 1


def test_without_planted_topics_about_one_in_twenty_adjusted_z_exceeds_its_bound() -> None:
    """The plain z exceeds it far more often here, because documents differ in how much they say."""
    cells = read_cells(plant(Plan(questions=400, institutions=12, institution_spread=0.25, topics=8)).tables)
    rng = np.random.default_rng(0)
    topic = rng.integers(8, size=400)
    rows = document_topic_table(cells, {str(name): topic == name for name in range(8)}).to_pylist()
    plain = np.mean([abs(row["z_paper"]) > 1.96 for row in rows])
    adjusted = np.mean([abs(row["z"]) > 1.96 for row in rows])
    assert adjusted < 0.09 < plain


def test_a_planted_gap_is_found() -> None:
    cells = read_cells(plant(Plan(questions=300, institutions=10, silence=0.3)).tables)
    topic = np.arange(300) < 60
    gap = (cells.document == 4) & (cells.question < 60)
    cells.state[gap] = 1
    rows = document_topic_table(cells, {"gap": topic, "rest": ~topic}).to_pylist()
    found = {
        (row["document_id"], row["topic"]) for row in rows if row["p_adjusted"] is not None and row["p_adjusted"] < 0.05
    }
    assert ("d00004", "gap") in found
    assert len(found) <= 3
