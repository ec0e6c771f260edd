"""The structured judge: one call a pair, a reply constrained to the verdict's schema and read as if it were not."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Annotated, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import Field

from transplantqa.generation import citations
from transplantqa.generation.prompts import Domain, Prompt, Renderer
from transplantqa.judging.parsing import Parsed, parse
from transplantqa.judging.presentation import OrderPolicy, Side, presentation_columns, presentations
from transplantqa.judging.protocols import Pair
from transplantqa.judging.verdict import reasoning_room, verdict_schema
from transplantqa.models.protocols import Completion, Identity, LanguageModel, Message, Request
from transplantqa.records import FAILED_OUTCOMES, Answer, Judgement, Outcome, SilentSide

METHOD = "structured-1"
FIELDS = ("question", "first_answer", "second_answer")
REREADABLE = frozenset({Outcome.OK, Outcome.PARSE_FAILED})

CitationView = Literal["keep", "strip"]


class StructuredJudge:
    """Labels a pair with one call of a language model.

    The pair says which answer is shown first (``orders`` gives the policy's choice). A reply that can't be read is a
    failed judgement with its raw text kept; ``reparse`` reads it again.

    Args:
        model: the language model.
        prompt: templates and examples; calls fill ``$question``, ``$first_answer`` and ``$second_answer``.
        domain: the words of the domain.
        order: which answer is shown first: the one whose document id sorts first, one by seeded hash, or each once.
        seed: of the ``random`` order.
        citations: whether the judge sees the answers' citations; they tell sources apart but are not content.
        max_verdict_tokens: room reserved for the reply; the schema's reasoning is cut to fit it.
    """

    def __init__(
        self,
        *,
        model: LanguageModel,
        prompt: Prompt,
        domain: Domain,
        order: OrderPolicy = "random",
        seed: int = 0,
        citations: CitationView = "strip",
        max_verdict_tokens: Annotated[int, Field(ge=128, le=1_500)] = 512,
    ) -> None:
        self._model = model
        self._prompt = Prompt.model_validate(prompt)
        self._domain = Domain.model_validate(domain)
        self._order: OrderPolicy = order
        self._seed = seed
        self._citations: CitationView = citations
        self._max_verdict_tokens = max_verdict_tokens
        self._schema = verdict_schema(reasoning_room(max_verdict_tokens))
        self._renderer = Renderer(self._prompt, self._domain, FIELDS)

    def identity(self) -> Identity:
        """Prompt, domain's words, schema, order policy, what is shown of citations, and the model."""
        return {
            "method": METHOD,
            "prompt": self._prompt.text(),
            "domain": self._domain.placeholders(),
            "schema": self._schema,
            "order": self._order,
            "seed": self._seed if self._order == "random" else None,
            "citations": self._citations,
            "max_verdict_tokens": self._max_verdict_tokens,
            "model": dict(self._model.identity()),
        }

    def orders(self, question_id: str, document_a: str, document_b: str) -> tuple[Side, ...]:
        """Return which answer is shown first in each judging of a pair, by this judge's policy."""
        return presentations(self._order, question_id, document_a, document_b, seed=self._seed)

    def order_columns(self, pairs: pa.Table) -> tuple[NDArray[np.int64], pa.Array]:
        """Return the same for a whole table of pairs."""
        return presentation_columns(self._order, pairs, seed=self._seed)

    def messages(self, pair: Pair) -> tuple[Message, ...]:
        """Return what the model would be sent for a pair."""
        first, second = (pair.a, pair.b) if pair.shown_first == "a" else (pair.b, pair.a)
        return self._renderer.render(
            question=pair.question.text.strip(), first_answer=self._shown(first), second_answer=self._shown(second)
        )

    def request(self, pair: Pair) -> Request:
        """Return the model's request for a pair."""
        names = (pair.question.question_id, pair.a.document_id, pair.b.document_id)
        identity = "\x1f".join((*names, pair.shown_first, str(pair.replicate)))
        return Request(identity, self.messages(pair), self._max_verdict_tokens, self._schema)

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        """Yield one judgement a pair, in completion order; pairs are drawn only as fast as the model takes requests."""
        waiting: dict[str, Pair] = {}

        def requests() -> Iterator[Request]:
            for pair in pairs:
                request = self.request(pair)
                waiting[request.id] = pair
                yield request

        for completion in self._model.generate(requests()):
            yield read_completion(completion, waiting.pop(completion.id))

    def close(self) -> None:
        """Release the model's memory."""
        self._model.close()

    def _shown(self, answer: Answer) -> str:
        return citations.strip(answer.text) if self._citations == "strip" else answer.text.strip()


def read_completion(completion: Completion, pair: Pair) -> Judgement:
    """Turn one completion into the pair's judgement; a failure of the engine's part stays that failure."""
    judgement = Judgement(
        question_id=pair.question.question_id,
        document_a=pair.a.document_id,
        document_b=pair.b.document_id,
        outcome=completion.outcome,
        shown_first=pair.shown_first,
        reasoning=completion.reasoning,
        raw=completion.raw or completion.text,
        prompt_tokens=completion.prompt_tokens,
        cached_tokens=completion.cached_tokens,
        completion_tokens=completion.completion_tokens,
        seconds=completion.seconds,
        replicate=pair.replicate,
        variant=pair.a.variant,
        error=completion.error,
    )
    if completion.outcome in FAILED_OUTCOMES:
        return judgement
    return _with(judgement, parse(completion.text))


def reparse(judgement: Judgement) -> Judgement:
    """Read a judgement's raw text again with the present parser, without a call; the engine's failures stay."""
    if judgement.outcome not in REREADABLE or not judgement.raw:
        return judgement
    return _with(judgement, parse(judgement.raw))


def _with(judgement: Judgement, parsed: Parsed) -> Judgement:
    return replace(
        judgement,
        outcome=parsed.outcome,
        label=parsed.label,
        silent_side=_side(parsed.silent_shown, judgement.shown_first),
        reasoning=parsed.reasoning or judgement.reasoning,
        divergence_topic=parsed.divergence_topic,
        significance=parsed.significance,
        error=parsed.error,
    )


def _side(silent_shown: str | None, shown_first: Side) -> SilentSide | None:
    if silent_shown == "both":
        return "both"
    if silent_shown is None:
        return None
    return "a" if (silent_shown == "first") == (shown_first == "a") else "b"
