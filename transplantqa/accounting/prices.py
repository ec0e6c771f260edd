"""What an engine's work costs: by the token, as hosted endpoints charge, or by the hour of a GPU."""

from typing import Annotated, Protocol

from pydantic import Field

from transplantqa.accounting.usage import SECONDS_PER_HOUR, Usage

Amount = Annotated[float, Field(ge=0)]
Currency = Annotated[str, Field(pattern=r"^[A-Z]{3}$")]
"""ISO 4217, e.g. USD."""

MILLION = 1_000_000


class Price(Protocol):
    """Turns what was used into money."""

    currency: str
    gpus: int

    def cost(self, usage: Usage) -> float:
        """Return the cost of ``usage`` in ``currency``."""
        ...


class TokenPrice:
    """A price for each million tokens.

    Args:
        prompt_per_million: for a million tokens of prompt.
        completion_per_million: for a million tokens of reply, reasoning included.
        cached_prompt_per_million: for a million tokens of prompt that the server had cached; null: as any other.
        currency: ISO 4217.
    """

    gpus = 0

    def __init__(
        self,
        *,
        prompt_per_million: Amount,
        completion_per_million: Amount,
        cached_prompt_per_million: Amount | None = None,
        currency: Currency = "USD",
    ) -> None:
        self.currency = currency
        self._prompt = prompt_per_million
        self._completion = completion_per_million
        self._cached = prompt_per_million if cached_prompt_per_million is None else cached_prompt_per_million

    def cost(self, usage: Usage) -> float:
        """Return the cost of the tokens."""
        fresh = usage.prompt_tokens - usage.cached_tokens
        parts = fresh * self._prompt, usage.cached_tokens * self._cached, usage.completion_tokens * self._completion
        return sum(parts) / MILLION


class GpuHourPrice:
    """A price for each hour of a GPU that the engine has for itself.

    Args:
        per_gpu_hour: for one GPU.
        gpus: GPUs that one engine occupies.
        currency: ISO 4217.
    """

    def __init__(
        self, *, per_gpu_hour: Amount, gpus: Annotated[int, Field(ge=1)] = 1, currency: Currency = "USD"
    ) -> None:
        self.currency = currency
        self.gpus = gpus
        self._per_gpu_hour = per_gpu_hour

    def cost(self, usage: Usage) -> float:
        """Return the cost of the engine's time; loading the model and waiting for work are not in it."""
        return usage.seconds / SECONDS_PER_HOUR * self.gpus * self._per_gpu_hour
