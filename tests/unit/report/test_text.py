import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text

from transplantqa.report.text import duration, figure_text, number, plain, safe, shortened, told_apart


@pytest.mark.parametrize(
    ("foreign", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("over\rwritten\x08\x7f", "overwritten"),
        ("line\nnext\tcolumn", "line\nnext\tcolumn"),
        ("left\u202eright", "leftright"),
    ],
)
def test_nothing_foreign_moves_the_cursor(foreign: str, shown: str) -> None:
    assert plain(foreign) == shown


@given(st.text())
def test_no_control_character_is_left(text: str) -> None:
    assert not any((ord(char) < 32 and char not in "\n\t") or 127 <= ord(char) < 160 for char in plain(text))


def test_markup_in_a_foreign_text_is_shown_and_not_obeyed() -> None:
    assert Text.from_markup(safe("[bold]x[/bold] [/] [link=http://x]y")).plain == "[bold]x[/bold] [/] [link=http://x]y"


def test_a_long_line_is_cut_with_an_ellipsis() -> None:
    assert shortened("one two\nthree", 9) == "one two…"


def test_a_figure_stands_with_its_denominator_and_interval() -> None:
    assert figure_text({"value": 0.4123, "n": 1078, "lo": 0.3, "hi": 0.5}) == "0.412 of 1,078 [0.300,0.500]"


def test_a_figure_over_nothing_has_no_value() -> None:
    assert figure_text({"value": None, "n": 0}) == "- of 0"


def test_a_figure_that_a_system_lacks_is_a_dash() -> None:
    assert figure_text(None) == "-"


@pytest.mark.parametrize(("value", "shown"), [(1.0, "1.000"), (0.0, "0.000"), (1200.0, "1,200"), (0.12345, "0.123")])
def test_numbers_read_as_rates_or_as_counts(value: float, shown: str) -> None:
    assert number(value) == shown


@pytest.mark.parametrize(("seconds", "shown"), [(8.4, "8 s"), (200, "3 min 20 s"), (7500, "2 h 5 min")])
def test_durations_read_as_people_say_them(seconds: float, shown: str) -> None:
    assert duration(seconds) == shown


NAMES = st.lists(
    st.lists(st.sampled_from(["base", "bm25", "k=5", "a-long-name-of-a-part"]), min_size=1), unique_by=tuple
)


@given(NAMES.map(lambda names: ["_".join(parts) for parts in names]))
def test_heads_of_columns_stay_distinct_parts_of_their_names(names: list[str]) -> None:
    heads = told_apart(names)
    assert len(set(heads)) == len(names)
    assert all(head and head in name for head, name in zip(heads, names, strict=True))


def test_short_names_and_a_name_alone_stay_whole() -> None:
    assert told_apart(["sample_bm25", "sample_dense"]) == ["sample_bm25", "sample_dense"]
    assert told_apart(["a_system_with_quite_a_name"]) == ["a_system_with_quite_a_name"]


def test_a_name_that_begins_another_keeps_its_last_part() -> None:
    assert told_apart(["sample_of_a_system", "sample_of_a_system_bm25"]) == ["system", "system_bm25"]
