"""Calls in; histogram, what won't fit, time and money out."""

import numpy as np
import pytest

from transplantqa.accounting import GpuHourPrice, TokenPrice, Usage
from transplantqa.planning import Expectations
from transplantqa.planning.outlook import Calls, Outlook


def calls(*classes: tuple[float, float, float], room: int = 100, context: int = 1000) -> Calls:
    sizes, cached, counts = (np.asarray(column, dtype=np.float64) for column in zip(*classes, strict=True))
    return Calls(sizes, cached, counts, reply_tokens=50, reply_room=room, context_tokens=context)


def test_a_prompt_fits_with_the_reserved_reply_or_not() -> None:
    planned = calls((900, 0, 7), (901, 0, 5))
    assert (planned.total, planned.unfit) == (12, 5)


def test_calls_that_will_not_fit_use_no_tokens() -> None:
    assert calls((900, 300, 2), (5000, 0, 10)).usage() == Usage(1800, 600, 100)


def test_the_histogram_begins_and_ends_with_calls() -> None:
    assert calls((255, 0, 1), (256, 0, 2), (1500, 0, 3)).histogram() == [(0, 1), (256, 2), (512, 0), (1024, 3)]


def test_no_calls_make_no_histogram() -> None:
    assert calls((100, 0, 0)).histogram() == []


def test_an_hour_of_two_gpus_is_two_gpu_hours_and_costs_both() -> None:
    price = GpuHourPrice(per_gpu_hour=3.0, gpus=2)
    outlook = Outlook("generate", 10, 4, calls=calls((100, 0, 6)), seconds=3600.0, price=price)
    assert (outlook.to_do, outlook.gpu_hours, outlook.cost) == (6, 2.0, 6.0)


def test_tokens_are_priced_without_knowing_the_time() -> None:
    price = TokenPrice(prompt_per_million=1.0, completion_per_million=10.0)
    outlook = Outlook("generate", 10, 0, calls=calls((500, 0, 1000)), seconds=None, price=price)
    assert outlook.cost == pytest.approx(0.5 + 0.5)
    assert outlook.gpu_hours is None


def test_gpu_time_that_is_unknown_has_no_cost() -> None:
    price = GpuHourPrice(per_gpu_hour=3.0)
    assert Outlook("generate", 1, 0, calls=calls((10, 0, 1)), price=price).cost is None


def test_time_is_of_fresh_prompt_tokens_and_of_the_reply() -> None:
    given = {"answered_share": 0.3, "answer_tokens": 1, "verdict_tokens": 1}
    expectations = Expectations(prompt_tokens_per_second=100, completion_tokens_per_second=10, **given)  # type: ignore[arg-type]
    assert expectations.seconds(Usage(1000, 400, 50)) == 6 + 5
    assert Expectations(**given).seconds(Usage(1000, 400, 50)) is None  # type: ignore[arg-type]
