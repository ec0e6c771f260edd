from hypothesis import given
from hypothesis import strategies as st

from transplantqa.tracking.names import clean_name, flat_parameters


def test_a_name_that_is_legal_stays_as_it_is() -> None:
    assert clean_name("group/kidney transplant/absence_rate") == "group/kidney transplant/absence_rate"


def test_names_that_would_meet_after_cleaning_stay_apart() -> None:
    names = ["recall@5", "recall_5", "recall:5", "recall(5", "recall,5"]
    assert len({clean_name(name) for name in names}) == len(names)


def test_a_part_that_only_leads_upwards_is_replaced() -> None:
    assert ".." not in clean_name("topic/../absence_rate").split("/")


def test_an_empty_part_is_replaced() -> None:
    assert "" not in clean_name("/topic//absence_rate/").split("/")


@given(st.lists(st.text(alphabet="ab/.@_-: ", max_size=6), unique=True, max_size=40))
def test_cleaning_never_merges_two_names(names: list[str]) -> None:
    assert len({clean_name(name) for name in names}) == len(names)


def test_nested_configuration_becomes_dotted_keys() -> None:
    config = {"model": {"temperature": 0.0, "stop": ["a", {"b": 1}]}, "embedder": None, "extra": {}}
    assert flat_parameters(config) == {
        "model.temperature": "0.0",
        "model.stop": '["a",{"b":1}]',
        "embedder": "None",
        "extra": "{}",
    }
