import subprocess
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transplantqa.retrieval.terms import TermAnalyzer


@pytest.fixture
def english() -> TermAnalyzer:
    return TermAnalyzer("english")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2mg", "2 mg"),
        ("office", "o\ufb03ce"),
        ("caf\u00e9", unicodedata.normalize("NFD", "caf\u00e9")),
        ("tacrolimus", "tacro\u200blimus"),
        ("tacrolimus", "tacro\u00adlimus"),
        ("1,500 ml", "1500 ml"),
        ("\uff28\uff49\uff56", "hiv"),
        ("medicines", "medicine"),
        ("STRASSE", "stra\u00dfe"),
    ],
)
def test_what_reads_the_same_has_the_same_terms(english: TermAnalyzer, one: str, other: str) -> None:
    assert english.terms(one) == english.terms(other) != []


def test_a_dose_of_one_digit_is_a_term(english: TermAnalyzer) -> None:
    assert english.terms("2 mg") == ["2", "mg"]


def test_decimals_stay_whole(english: TermAnalyzer) -> None:
    assert english.terms("38.5 degrees")[0] == "38.5"


def test_stop_words_are_no_terms(english: TermAnalyzer) -> None:
    assert english.terms("What should I do and when?") == []


def test_vowel_signs_stay_in_their_word() -> None:
    assert TermAnalyzer("none").terms("\u0939\u093f\u0928\u094d\u0926\u0940") == [
        "\u0939\u093f\u0928\u094d\u0926\u0940"
    ]


def test_ideographs_are_terms_of_their_own() -> None:
    assert TermAnalyzer("none").terms("\u79fb\u690d abc") == ["\u79fb", "\u690d", "abc"]


def test_a_code_of_letters_and_digits_stays_whole(english: TermAnalyzer) -> None:
    assert english.terms("CYP3A4") == ["cyp3a4"]


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_ascii_text_is_split_as_any_other(text: str) -> None:
    analyzer = TermAnalyzer("none")
    marked = analyzer.terms(f"{text} \u00e9t\u00e9")
    assert analyzer.terms(text) == marked[:-1]


def test_stop_words_are_read_without_loading_a_compiler() -> None:
    """A plan analyses nothing, and numba takes longer to load than the rest of it."""
    code = "import sys, transplantqa.retrieval.terms as terms; terms.TermAnalyzer('french'); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert {"numba", "scipy", "bm25s"}.isdisjoint(loaded)
