"""What a run's calls used - tokens, engine time - and what that costs."""

from transplantqa.accounting.prices import GpuHourPrice, Price, TokenPrice
from transplantqa.accounting.usage import Usage, usage_metrics, used

__all__ = ["GpuHourPrice", "Price", "TokenPrice", "Usage", "usage_metrics", "used"]
