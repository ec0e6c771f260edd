"""What people type reaches Hydra as they mean it."""

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from hypothesis import example, given
from hypothesis import strategies as st

from transplantqa.command_lines import of_a_file, of_a_run, of_two_runs, quoted


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
@example("0123")
@example("it's")
@example("a\\")
@example("a\\'b")
@example("top_k=2")
@example("C:\\a b\\")
def test_hydra_reads_a_quoted_value_back(value: str) -> None:
    assert OverridesParser.create().parse_override(f"run={quoted(value)}").value() == value


def test_a_plain_word_names_the_run_and_overrides_stay_as_they_are() -> None:
    assert of_a_run(["seed=1", "base", "--cfg", "job"]) == ["run='base'", "seed=1", "--cfg", "job"]


def test_a_plain_word_names_the_file_and_paths_are_quoted() -> None:
    assert of_a_file(["my questions.csv", "out=a b", "near=0.9"]) == [
        "file='my questions.csv'",
        "out='a b'",
        "near=0.9",
    ]


@pytest.mark.parametrize("given", ["baseline='a b'", "scope=all", 'candidate="c"', "baseline="])
def test_what_is_quoted_already_or_empty_stays_as_it_is(given: str) -> None:
    assert of_two_runs([given]) == [given]
