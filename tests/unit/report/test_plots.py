"""Figures: what is drawn of what there is, and that foreign text in them stays text."""

import csv
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from transplantqa.report.page.collect import page_content
from transplantqa.report.page.detail import Bounds
from transplantqa.report.plots import draw, write_figures
from transplantqa.report.plots.files import inline
from transplantqa.report.spreadsheets import write_spreadsheets

HOSTILE = "</text><script>alert(1)</script> $\\frac{1$ \x1b[31m"


def theme(name: str) -> dict[str, Any]:
    return {"theme": name, "instances": 3, "strings": 1, "questions": 1, "documents": 2, "rated": 3, "high": 1}


@pytest.mark.parametrize(
    "figure",
    [draw.strata([], "by topic"), draw.labels([]), draw.dependence([]), draw.themes([]), draw.coverage([], 0)],
)
def test_of_nothing_nothing_is_drawn(figure: Any) -> None:
    assert figure is None


def test_themes_are_bars_of_their_instances_and_of_those_rated_high() -> None:
    figure: Any = draw.themes([theme("driving")])
    assert figure is not None
    assert [patch.get_width() for patch in figure.axes[0].patches] == [3, 1]
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["driving"]


def test_a_change_and_its_terms_are_bars_in_points() -> None:
    rows = [
        {"rate": "any_divergence_rate", "term": "change", "points": 4.0, "low": None, "high": None},
        {"rate": "any_divergence_rate", "term": "intensity", "points": 4.0, "low": 1.0, "high": 7.0},
        {"rate": "divergence_rate", "term": "change", "points": 9.0, "low": None, "high": None},
    ]
    figure: Any = draw.decomposition(rows, "any_divergence_rate")
    assert figure is not None
    assert [patch.get_width() for patch in figure.axes[0].patches] == [4.0, 4.0]


def test_each_figure_is_an_svg_and_a_png_the_same_each_time(write_run: Any, tmp_path: Path) -> None:
    content = page_content(write_run(), Bounds()) | {
        "themes": {"rows": [theme("driving")], "left_out": 0, "agreement": {}}
    }
    first, second = (write_figures(content, tmp_path / name) for name in ("a", "b"))
    assert first == second
    assert {path.name for path in (tmp_path / "a").iterdir()} == {
        f"{name}.{kind}" for name in first for kind in ("svg", "png")
    }
    assert {"themes", "coverage"} <= set(first)


def test_foreign_text_in_a_figure_stays_text_and_is_no_mathematics(write_run: Any, tmp_path: Path) -> None:
    rows = {"rows": [theme(HOSTILE)], "left_out": 0, "agreement": {}}
    svg = write_figures(page_content(write_run(), Bounds()) | {"themes": rows}, tmp_path)["themes"]
    assert "<script" not in svg
    assert "\x1b" not in svg
    assert "$\\frac{1$" in svg


def test_a_figure_in_the_page_fetches_nothing_and_takes_the_pages_ink(write_run: Any, tmp_path: Path) -> None:
    content = page_content(write_run(), Bounds()) | {
        "themes": {"rows": [theme("driving")], "left_out": 0, "agreement": {}}
    }
    svgs = write_figures(content, tmp_path)
    made = inline(svgs["themes"])
    assert made.startswith("<svg")
    assert "http" not in made
    assert "#000000" not in made
    assert "currentColor" in made


def test_tables_of_findings_are_csv_and_no_cell_is_a_formula(write_run: Any, tmp_path: Path) -> None:
    run = write_run()
    pq.write_table(pa.table({"theme": ["=1+1", "a, b"], "paraphrases": [["x", "y"], []]}), run.path / "themes.parquet")
    pq.write_table(pa.table({"feature": pa.array([], pa.string())}), run.path / "prediction.parquet")
    written = {path.name: path.read_text(encoding="utf-8") for path in write_spreadsheets(run, tmp_path / "csv")}
    assert written["themes.csv"] == 'theme,paraphrases\n\'=1+1,x; y\n"a, b",\n'
    assert written["prediction.csv"] == "feature\n"
    assert "answers.csv" not in written


@pytest.mark.parametrize("text", ["-1+1", "@SUM(1)", "\t=1", "\n=1", "\uff1d1+1", "\uff20SUM(1)"])
def test_no_beginning_of_a_formula_stands_first(write_run: Any, tmp_path: Path, text: str) -> None:
    run = write_run()
    pq.write_table(pa.table({"theme": [text]}), run.path / "themes.parquet")
    write_spreadsheets(run, tmp_path / "csv")
    with (tmp_path / "csv" / "themes.csv").open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file)) == [["theme"], [f"'{text}"]]
