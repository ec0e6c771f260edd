"""Judges on the same pairs: agreement with each other and with people, time and tokens a pair."""

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from transplantqa.errors import InputError
from transplantqa.validation.compare import compare_judges
from transplantqa.validation.comparison_folder import print_comparison
from transplantqa.validation.frame import frame
from transplantqa.validation.resampling import Bootstrap
from transplantqa.validation.sample_folder import write_sample
from transplantqa.validation.sampling import SampleDesign

QUICK = Bootstrap(replicates=20)


def value(found: Any, between: str, measure: str) -> tuple[float | None, int]:
    """Return a figure over all pairs, and its n."""
    one = next(
        one
        for one in found.figures
        if (one.between, one.measure, one.pairs, one.label) == (between, measure, "all", None)
    )
    return one.value, one.n


def test_equal_judges_agree_and_others_do_not(audit: Any) -> None:
    runs = [audit("first"), audit("same", judge="d" * 64), audit("shifted", judge="e" * 64, shift=1)]
    found = compare_judges(runs, None, QUICK)
    assert found.pairs == 8 * 10  # of 15 pairs a question, 5 touch the silent document
    assert value(found, "same~first", "raw") == (1.0, 80)
    assert value(found, "shifted~first", "raw") == (0.0, 80)
    assert value(found, "shifted~same", "kappa")[0] == pytest.approx(-1 / 3)  # four labels, 20 each, never the same


def test_seconds_and_tokens_are_a_pair_of_all_its_judgements(audit: Any) -> None:
    first, second = audit("first"), audit("second", judge="d" * 64)
    rows = second.rows("judgements")
    twice = rows + [{**row, "shown_first": "b"} for row in rows]
    both = audit.write("both", rows={**{name: second.rows(name) for name in second.tables()}, "judgements": twice})
    found = compare_judges([first, both], None, QUICK)
    assert [cost["judgements"] for cost in found.costs] == [80, 160]
    assert [cost["seconds_per_pair"] for cost in found.costs] == [2.0, 4.0]
    assert [cost["prompt_tokens_per_pair"] for cost in found.costs] == [100.0, 200.0]


def test_only_pairs_with_the_same_answers_in_every_run_count(audit: Any) -> None:
    found = compare_judges([audit("first"), audit("changed", judge="d" * 64, q1__doc0="Something else.")], None, QUICK)
    assert found.pairs == 80 - 4  # doc0 and the four other answering documents


def test_a_comparison_can_be_over_a_samples_pairs(audit: Any) -> None:
    first = audit("first")
    sample = write_sample(audit.artifacts, first, frame(first), SampleDesign(per_stratum=5))
    assert compare_judges([first, audit("second", judge="d" * 64)], sample.pairs, QUICK).pairs == 20


def test_without_a_record_there_is_no_figure_about_people(audit: Any) -> None:
    found = compare_judges([audit("first"), audit("second", judge="d" * 64)], None, QUICK)
    assert {one.between for one in found.figures} == {"second~first"}


def test_runs_of_one_name_and_runs_without_common_answers_are_refused(audit: Any) -> None:
    first = audit("first")
    with pytest.raises(InputError, match="runs of the same name: first, first"):
        compare_judges([first, first], None, QUICK)
    cells = {f"q{q + 1}__doc{d}": "Something else." for q in range(8) for d in range(6)}
    with pytest.raises(InputError, match="there is no pair that all of these judges decided"):
        compare_judges([first, audit("other", **cells)], None, QUICK)


def test_long_names_are_shown_by_what_tells_them_apart_and_once_in_full(audit: Any) -> None:
    names = ("sample_rules_with_a_small_model", "sample_structured_with_a_small_model")
    found = compare_judges([audit(name, shift=place) for place, name in enumerate(names)], None, QUICK)
    shown = io.StringIO()
    print_comparison(found, Path("folder"), Console(file=shown, width=100))
    text = shown.getvalue()
    assert "structured~rules" in text
    assert [line for line in text.splitlines() if names[0] in line] == [f"  rules: {names[0]}"]
