"""Components are validated by the signatures they have."""

from typing import Annotated, Literal, Protocol

import pytest
from pydantic import Field

from transplantqa.config import Problems, build, component_key, nearest
from transplantqa.config import _validate_component as validate_component
from transplantqa.errors import ConfigError

HERE = f"{__name__}"


class Engine(Protocol):
    def run(self) -> None: ...


class Motor:
    def __init__(self, *, power: Annotated[int, Field(ge=1)] = 1) -> None:
        self.power = power

    def run(self) -> None:
        """Move."""


class Car:
    def __init__(self, *, engine: Engine, colour: Literal["red", "blue"] = "red", spare: Engine | None = None) -> None:
        self.engine = engine
        self.colour = colour
        self.spare = spare


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests are imported by path; give this module a name that ``_target_`` can use."""
    import sys
    import types

    module = types.ModuleType("component_examples")
    module.Motor, module.Car = Motor, Car  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "component_examples", module)


def motor(**parameters: object) -> dict[str, object]:
    return {"_target_": "component_examples.Motor", **parameters}


def car(**parameters: object) -> dict[str, object]:
    return {"_target_": "component_examples.Car", **parameters}


def problems_of(config: dict[str, object]) -> list[str]:
    problems = Problems()
    validate_component("car", config, problems)
    return problems.found


def test_a_valid_component_has_no_problems() -> None:
    assert problems_of(car(engine=motor(power=3), spare=None)) == []


def test_every_problem_is_found_at_once_with_its_dotted_key() -> None:
    found = problems_of(car(engine=motor(power=0), colour="rad", wheels=4))
    assert [problem.partition(":")[0] for problem in sorted(found)] == ["car.colour", "car.engine.power", "car.wheels"]


def test_a_choice_that_does_not_exist_is_answered_with_the_nearest_and_all_choices() -> None:
    (problem,) = problems_of(car(engine=motor(), colour="bleu"))
    assert "Did you mean 'blue'? Allowed: blue, red" in problem


def test_a_value_where_a_component_belongs_is_a_problem() -> None:
    assert problems_of(car(engine="V8")) == ["car.engine: 'V8' is not a component\n  Give a mapping with a `_target_`."]


def test_a_component_that_may_be_absent_may_be_null_and_another_may_not() -> None:
    assert problems_of(car(engine=motor(), spare=None)) == []
    assert "is not a component" in problems_of(car(engine=None))[0]


def test_a_class_that_cannot_be_imported_is_named() -> None:
    (problem,) = problems_of({"_target_": "component_examples.Boat"})
    assert problem.startswith("car._target_: 'component_examples.Boat' is not an importable class")


def test_building_gives_nested_components_and_equal_ones_are_one_object() -> None:
    made = build(car(engine=motor(power=2), spare=motor(power=2)), {})
    assert made.engine.power == 2
    assert made.engine is made.spare


def test_building_a_wrong_configuration_names_the_key() -> None:
    with pytest.raises(ConfigError, match="power"):
        build(motor(power=-1))


def test_the_key_of_a_component_does_not_depend_on_the_order_of_its_parameters() -> None:
    assert component_key({"a": 1, "b": {"c": 2, "d": 3}}) == component_key({"b": {"d": 3, "c": 2}, "a": 1})


def test_a_long_list_of_choices_is_cut() -> None:
    assert nearest("zzz", [f"choice{number:02}" for number in range(40)]).endswith(", ...")
