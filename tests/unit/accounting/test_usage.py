"""What calls used, added up and priced."""

import pyarrow as pa
import pytest

from transplantqa.accounting import GpuHourPrice, TokenPrice, Usage, usage_metrics, used


def rows(*values: tuple[int, int, int, float]) -> pa.Table:
    names = ["prompt_tokens", "cached_tokens", "completion_tokens", "seconds"]
    return pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in values])


def test_rows_are_added_up() -> None:
    assert used(rows((100, 40, 7, 1.5), (50, 0, 3, 0.5))) == Usage(150, 40, 10, 2.0)


def test_no_rows_used_nothing() -> None:
    assert used(rows((1, 1, 1, 1.0)).slice(0, 0)) == Usage(0, 0, 0, 0.0)


def test_a_million_tokens_of_each_kind_cost_their_prices() -> None:
    price = TokenPrice(prompt_per_million=2.0, completion_per_million=8.0, cached_prompt_per_million=0.5)
    assert price.cost(Usage(2_000_000, 1_000_000, 1_000_000)) == pytest.approx(2.0 + 0.5 + 8.0)


def test_cached_tokens_cost_what_others_do_where_nothing_else_is_said() -> None:
    assert TokenPrice(prompt_per_million=2.0, completion_per_million=0.0).cost(Usage(10**6, 10**6)) == 2.0


def test_an_hour_of_two_gpus_costs_twice_the_price() -> None:
    assert GpuHourPrice(per_gpu_hour=3.5, gpus=2).cost(Usage(seconds=3600)) == 7.0


def test_costs_and_gpu_hours_are_given_by_stage_and_in_all() -> None:
    usages = {"generate": Usage(10, 4, 2, 1800.0), "compare": Usage(6, 0, 3, 3600.0)}
    price = GpuHourPrice(per_gpu_hour=2.0)
    metrics = usage_metrics(usages, {"generate": price, "compare": price})
    assert metrics["cost_usd_generate"] == 1.0
    assert metrics["cost_usd"] == 3.0
    assert metrics["gpu_hours"] == 1.5
    assert (metrics["tokens_prompt_generate"], metrics["tokens_cached_generate"]) == (10, 4)
    assert (metrics["tokens_completion_compare"], metrics["seconds_compare"]) == (3, 3600.0)


def test_prices_in_different_currencies_are_not_added() -> None:
    usages = {"generate": Usage(10**6), "compare": Usage(10**6)}
    euro = TokenPrice(prompt_per_million=1.0, completion_per_million=0.0, currency="EUR")
    dollar = TokenPrice(prompt_per_million=2.0, completion_per_million=0.0)
    metrics = usage_metrics(usages, {"generate": euro, "compare": dollar})
    assert (metrics["cost_eur"], metrics["cost_usd"]) == (1.0, 2.0)


def test_a_stage_without_a_price_has_no_cost() -> None:
    metrics = usage_metrics({"generate": Usage(10)}, {"generate": None})
    assert not [name for name in metrics if name.startswith(("cost", "gpu"))]
