"""Text that a spreadsheet would run is kept from it, and given back as it was."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transplantqa.formulas import guarded, unguarded


@given(st.text(alphabet=st.sampled_from([*"'=+-@;| \t\n\uff1dab1"]), max_size=12))
def test_what_was_guarded_is_given_back(text: str) -> None:
    assert unguarded(guarded(text)) == text
    assert not guarded(text).strip(' "\t\n').startswith(("=", "+", "-", "@", "\uff1d"))


@pytest.mark.parametrize("text", ["When may I drive?", "'quoted'", "5 - 3", ""])
def test_other_text_stays_as_it_is(text: str) -> None:
    assert guarded(text) == unguarded(text) == text
