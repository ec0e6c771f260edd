"""The arithmetic of a plan: calls and their prompts in; histogram, what won't fit, time and money out."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from transplantqa.accounting import SECONDS_PER_HOUR, Price, Usage

BIN_EDGES = (0, 256, 512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536)
"""Tokens at which the bins of the histogram begin; the last has no end."""


@dataclass(frozen=True)
class Calls:
    """Calls of a language model still to be made: classes of equal prompts, and how many calls each stands for.

    Attributes:
        prompt_tokens: of each class, without the room for the reply.
        cached_tokens: of these, what an engine that reuses prefixes needn't compute again.
        counts: calls of each class; an estimate may be fractional.
        reply_tokens: expected of each reply.
        reply_room: tokens reserved for each reply.
        context_tokens: what prompt and reserved reply must fit into.
    """

    prompt_tokens: NDArray[np.float64]
    cached_tokens: NDArray[np.float64]
    counts: NDArray[np.float64]
    reply_tokens: float
    reply_room: int
    context_tokens: int

    @property
    def fitting(self) -> NDArray[np.bool_]:
        """Whether each class fits the context; the others end as ``context_overflow`` without a call."""
        return self.prompt_tokens + self.reply_room <= self.context_tokens

    @property
    def total(self) -> int:
        """Calls, also those that won't fit."""
        return round(float(self.counts.sum()))

    @property
    def unfit(self) -> int:
        """Calls whose prompt and reserved reply exceed the context."""
        return round(float(self.counts[~self.fitting].sum()))

    def usage(self) -> Usage:
        """Return the tokens of the calls that fit; engine time is another question."""
        made = np.where(self.fitting, self.counts, 0.0)
        return Usage(
            float(self.prompt_tokens @ made), float(self.cached_tokens @ made), float(made.sum()) * self.reply_tokens
        )

    def histogram(self) -> list[tuple[int, int]]:
        """Return (least tokens, calls) of each bin from the first that has calls to the last."""
        which = np.searchsorted(BIN_EDGES, self.prompt_tokens, side="right") - 1
        counts = np.bincount(which, weights=self.counts, minlength=len(BIN_EDGES))
        found = np.flatnonzero(counts)
        if not len(found):
            return []
        return [(BIN_EDGES[bin_], round(float(counts[bin_]))) for bin_ in range(found[0], found[-1] + 1)]


@dataclass(frozen=True)
class Outlook:
    """What one stage has before it.

    Attributes:
        stage: its name.
        planned: units in all.
        cached: of these, done already with the same method and inputs.
        is_exact: counted, not estimated from expectations.
        calls: of a language model; null where it needs none.
        seconds: of one engine's time, for the calls; null where unknown.
        price: of that engine; null where it costs nothing.
        bytes_to_write: what its rows will take on disk.
    """

    stage: str
    planned: int
    cached: int
    is_exact: bool = True
    calls: Calls | None = None
    seconds: float | None = None
    price: Price | None = None
    bytes_to_write: float = 0.0

    @property
    def to_do(self) -> int:
        """Units left."""
        return self.planned - self.cached

    @property
    def gpu_hours(self) -> float | None:
        """Hours of all GPUs of the engine together; null where unknown or where no GPU is paid."""
        if self.seconds is None or self.price is None or not self.price.gpus:
            return None
        return self.seconds / SECONDS_PER_HOUR * self.price.gpus

    @property
    def cost(self) -> float | None:
        """Money, in the price's currency; null where there is no price or it needs a time that is unknown."""
        if self.price is None or self.calls is None or (self.price.gpus and self.seconds is None):
            return None
        used = self.calls.usage()
        return self.price.cost(
            Usage(used.prompt_tokens, used.cached_tokens, used.completion_tokens, self.seconds or 0.0)
        )


@dataclass(frozen=True)
class Plan:
    """All stages, and the remarks that go with the figures.

    Attributes:
        stages: in order.
        notes: what is assumed, and what could not be found out.
        folder: where the ledger is.
        free_bytes: what the disk there has left.
    """

    stages: tuple[Outlook, ...]
    folder: str
    free_bytes: int
    notes: tuple[str, ...] = field(default=())

    @property
    def bytes_to_write(self) -> float:
        """What all stages' rows will take on disk."""
        return sum(stage.bytes_to_write for stage in self.stages)
