"""What is assumed of work that was never done."""

from typing import Annotated

from pydantic import Field

from transplantqa.accounting import Usage

Rate = Annotated[float, Field(gt=0)]


class Expectations:
    """Assumptions of a plan; ``conf/expectations/`` says where each comes from. None of them changes a result.

    Args:
        answered_share: of cells, where no answer is known.
        answer_tokens: of an answer, where none is known.
        verdict_tokens: of a judge's reply, where none is known.
        prompt_tokens_per_second: that one engine reads, cached tokens left out; null: unknown.
        completion_tokens_per_second: that one engine writes, all requests in flight together; null: unknown.
    """

    def __init__(
        self,
        *,
        answered_share: Annotated[float, Field(ge=0, le=1)],
        answer_tokens: Annotated[int, Field(ge=1)],
        verdict_tokens: Annotated[int, Field(ge=1)],
        prompt_tokens_per_second: Rate | None = None,
        completion_tokens_per_second: Rate | None = None,
    ) -> None:
        self.answered_share = answered_share
        self.reply_tokens = {"generate": answer_tokens, "compare": verdict_tokens}
        self._prompt_rate = prompt_tokens_per_second
        self._completion_rate = completion_tokens_per_second

    def seconds(self, usage: Usage) -> float | None:
        """Return the engine time of so many tokens; null where a speed is unknown."""
        if self._prompt_rate is None or self._completion_rate is None:
            return None
        fresh = usage.prompt_tokens - usage.cached_tokens
        return fresh / self._prompt_rate + usage.completion_tokens / self._completion_rate
