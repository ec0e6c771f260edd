"""What a run's calls used - tokens, engine time - and what that costs."""

from transplantqa.accounting.prices import GpuHourPrice, Price, TokenPrice
from transplantqa.accounting.usage import SECONDS_PER_HOUR, Usage, usage_metrics, used

__all__ = ["SECONDS_PER_HOUR", "GpuHourPrice", "Price", "TokenPrice", "Usage", "usage_metrics", "used"]
