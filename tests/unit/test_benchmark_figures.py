"""The form in which benchmarks report."""

import json

import pytest

from benchmarks.figures import Figure, Target, figure, main


@pytest.mark.parametrize(("value", "met"), [(4.0, True), (5.0, True), (5.1, False)])
def test_a_figure_says_whether_it_met_its_target(value: float, met: bool) -> None:
    assert figure("seconds", value, "s", Target("<=", 5)) == Figure("seconds", value, "s", "<= 5", met)


def test_a_figure_without_a_target_neither_met_nor_missed_it() -> None:
    assert figure("rows", 3, "rows").met is None


def test_json_output_is_one_object_with_the_figures(capsys: pytest.CaptureFixture[str]) -> None:
    code = main("demo", lambda quick: [figure("quick", float(quick), "flag", Target("==", 1))], ["--quick", "--json"])
    printed = json.loads(capsys.readouterr().out)
    assert code == 0
    assert printed["figures"] == [{"name": "quick", "value": 1.0, "unit": "flag", "target": "== 1", "met": True}]


def test_a_missed_target_is_marked_and_ends_with_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main("demo", lambda _quick: [figure("seconds", 6, "s", Target("<=", 5))], []) == 1
    assert capsys.readouterr().out == "seconds             6 s           <= 5       MISSED\n"
