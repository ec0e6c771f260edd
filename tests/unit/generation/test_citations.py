import pytest

from transplantqa.generation import ResolvedPassage
from transplantqa.generation.citations import Named, check, find, names_a_given_section, reference, strip

DIET = ResolvedPassage("s1", ("Living at home", "Diet and drink"), 3, 4, "Eat well.")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Eat well [Diet and drink, p. 3].", [Named("Diet and drink", 3)]),
        ("Eat well [Diet, p. 3; Parking, page 9].", [Named("Diet", 3), Named("Parking", 9)]),
        ("Eat well (see Diet and drink).", [Named("Diet and drink", None)]),
        ("Eat well (Diet and drink, pp. 3-4).", [Named("Diet and drink", 3)]),
        ("Eat well.\nSource: Diet and drink (p. 3)", [Named("Diet and drink", 3)]),
        ("Eat well [Diet]. Sleep [Diet].", [Named("Diet", None)]),
        ("Eat well [chunk 99].", [Named("chunk 99", None)]),
        ("See [our site](http://example.org) (daily).", []),
        ("Eat well.", []),
    ],
)
def test_sections_an_answer_names_are_found_once_in_order(text: str, named: list[Named]) -> None:
    assert find(text) == named


@pytest.mark.parametrize(
    ("item", "valid"),
    [
        (Named("Diet and drink", 3), True),
        (Named("DIET AND DRINK", None), True),
        (Named("Diet", None), False),
        (Named("Diet and", None), True),
        (Named("Diet, and drink!", None), True),
        (Named("Living at home", 4), True),
        (Named("Living at home > Diet and drink", 4), True),
        (Named("2.1 Diet and drink", 3), True),
        (Named("Diet and drink", 9), False),
        (Named("Parking", None), False),
    ],
)
def test_a_citation_is_valid_when_its_section_was_given_and_holds_the_page(item: Named, valid: bool) -> None:
    assert check([item], [DIET])[0].valid is valid


@pytest.mark.parametrize(("cited", "valid"), [("4.2", True), ("4", False), ("4.20", False)])
def test_a_sections_number_alone_names_it(cited: str, valid: bool) -> None:
    numbered = ResolvedPassage("s3", ("Handbook", "4.2 Drinking enough"), 5, 5, "Drink.")
    assert check([Named(cited, 5)], [numbered])[0].valid is valid


def test_a_wrong_page_still_names_a_given_section() -> None:
    assert names_a_given_section([Named("Diet and drink", 9)], [DIET])


def test_what_a_passage_is_shown_as_is_read_back_as_a_valid_citation() -> None:
    assert all(item.valid for item in check(find(f"Eat well. [{reference(DIET)}]"), [DIET]))


def test_a_heading_with_brackets_can_still_be_cited() -> None:
    odd = ResolvedPassage("s2", ("Doses [mg]; timing",), 2, 2, "x")
    assert all(item.valid for item in check(find(f"Take it. [{reference(odd)}]"), [odd]))


def test_stripping_leaves_the_words_alone() -> None:
    assert strip("Eat well [Diet, p. 3]. Sleep (see Rest).\nSource: Diet") == "Eat well. Sleep."
