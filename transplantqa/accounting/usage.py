"""Tokens and engine time of a stage's rows, added up, and the flat figures they give."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from transplantqa.accounting.prices import Price

SECONDS_PER_HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class Usage:
    """What calls used.

    Attributes:
        prompt_tokens: read, cached ones included.
        cached_tokens: of these, not computed again.
        completion_tokens: written, reasoning included.
        seconds: of one engine's wall clock; requests in flight together share it, so that it adds up.
    """

    prompt_tokens: float = 0
    cached_tokens: float = 0
    completion_tokens: float = 0
    seconds: float = 0.0


def used(rows: pa.Table) -> Usage:
    """Add up the rows of a stage that calls a model (answers, judgements)."""
    return Usage(
        int(_sum(rows, "prompt_tokens")),
        int(_sum(rows, "cached_tokens")),
        int(_sum(rows, "completion_tokens")),
        float(_sum(rows, "seconds")),
    )


def usage_metrics(usages: Mapping[str, Usage], prices: "Mapping[str, Price | None]") -> dict[str, float | int]:
    """Return flat figures, by stage: tokens, engine seconds, and where there is a price, its cost and GPU hours.

    ``cost_<currency>`` and ``gpu_hours`` without a stage are the sums over stages; there are none of stages without a
    price. They are of every row of the run, whichever run made it.

    Args:
        usages: stage to what its rows used.
        prices: stage to the price of its engine; null or absent where it costs nothing.
    """
    metrics: dict[str, float | int] = {}
    for stage, usage in usages.items():
        metrics[f"tokens_prompt_{stage}"] = int(usage.prompt_tokens)
        metrics[f"tokens_cached_{stage}"] = int(usage.cached_tokens)
        metrics[f"tokens_completion_{stage}"] = int(usage.completion_tokens)
        metrics[f"seconds_{stage}"] = round(usage.seconds, 3)
        price = prices.get(stage)
        if price is None:
            continue
        _add(metrics, f"cost_{price.currency.lower()}", stage, price.cost(usage))
        if price.gpus:
            _add(metrics, "gpu_hours", stage, usage.seconds / SECONDS_PER_HOUR * price.gpus)
    return metrics


def _add(metrics: dict[str, float | int], name: str, stage: str, value: float) -> None:
    metrics[f"{name}_{stage}"] = value
    metrics[name] = metrics.get(name, 0.0) + value


def _sum(rows: pa.Table, column: str) -> float:
    return float(pc.sum(rows[column]).as_py() or 0)
