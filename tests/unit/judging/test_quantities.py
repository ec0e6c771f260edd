import pytest

from transplantqa.judging.quantities import Quantity, quantities


def found(text: str) -> list[tuple[str, object, object]]:
    return [
        (item.kind, pytest.approx(item.low, rel=1e-3), pytest.approx(item.high, rel=1e-3)) for item in quantities(text)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Wait six weeks.", [("duration", 42, 42)]),
        ("Wait 4-6 weeks.", [("duration", 28, 42)]),
        ("Wait two to three months.", [("duration", 60.88, 91.32)]),
        ("Rest for a week.", [("duration", 7, 7)]),
        ("Rest for half an hour.", [("duration", 1 / 48, 1 / 48)]),
        ("This is for life.", [("duration", 36525, 36525)]),
        ("Come three times a week.", [("frequency", 3 / 7, 3 / 7)]),
        ("Come twice a day.", [("frequency", 2, 2)]),
        ("Take it every 12 hours.", [("frequency", 2, 2)]),
        ("Take it every other day.", [("frequency", 0.5, 0.5)]),
        ("Weigh yourself daily.", [("frequency", 1, 1)]),
        ("Drink 2 liters each day.", [("frequency", 1, 1), ("volume", 2, 2)]),
        ("Lift at most 10 pounds.", [("weight", 4.536, 4.536)]),
        ("At most 3,000 milligrams.", [("dose", 3000, 3000)]),
        ("Call above 100.4°F.", [("temperature", 38, 38)]),
        ("Call above 38 C.", [("temperature", 38, 38)]),
        ("Call above 140/90.", [("pressure", 140, 140)]),
        ("It costs $1,250.", [("money", 1250, 1250)]),
        ("Take .5 mg.", [("dose", 0.5, 0.5)]),
        ("Take 10.5 mg.", [("dose", 10.5, 10.5)]),
        ("Take 1/10 mg.", [("dose", 0.1, 0.1)]),
        ("Drink 1/2 to 1 cup.", [("volume", 0.1185, 0.237)]),
        ("Drink ½ cup.", [("volume", 0.1185, 0.1185)]),
        ("Rest 1 1/2 hours.", [("duration", 1 / 16, 1 / 16)]),
        ("Rest 1½ hours.", [("duration", 1 / 16, 1 / 16)]),
        ("Rest 1 and 1/2 hours.", [("duration", 1 / 16, 1 / 16)]),
        ("Nothing to count.", []),
    ],
)
def test_amounts_are_read_in_common_units(text: str, expected: list[tuple[str, float, float]]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    ("one", "other", "agree"),
    [
        ("4 weeks", "one month", True),
        ("2 quarts", "2 liters", True),
        ("5 to 7 days", "one week", True),
        ("6 weeks", "8 weeks", False),
        ("3 months", "6 months", False),
    ],
)
def test_amounts_agree_when_they_mean_the_same(one: str, other: str, agree: bool) -> None:
    (first,), (second,) = quantities(one), quantities(other)
    assert first.agrees(second) is second.agrees(first) is agree


def test_agreement_needs_only_touching_intervals() -> None:
    context = frozenset({"x"})
    assert Quantity("share", 0.1, 0.2, context).agrees(Quantity("share", 0.2, 0.3, context))
