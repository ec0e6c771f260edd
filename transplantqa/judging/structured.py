"""The structured judge: one call a pair, a reply constrained to the verdict's schema and read as if it were not."""

from collections.abc import Iterable, Iterator
from typing import Annotated

from pydantic import Field

from transplantqa.generation.prompts import Domain, Prompt, Renderer
from transplantqa.judging.parsing import parse
from transplantqa.judging.presentation import OrderPolicy
from transplantqa.judging.protocols import DisagreementPolicy, Pair
from transplantqa.judging.reading import can_be_reread, unread, with_parsed
from transplantqa.judging.showing import CitationView, ModelJudge, Replicates, Showing, request_id
from transplantqa.judging.verdict import reasoning_room, verdict_schema
from transplantqa.models.protocols import Completion, Identity, LanguageModel, Message, Request
from transplantqa.records import FAILED_OUTCOMES, Judgement

METHOD = "structured-1"
FIELDS = ("question", "first_answer", "second_answer")


class StructuredJudge(ModelJudge):
    """Labels a pair with one call of a language model.

    The pair says which answer is shown first (``orders`` gives the policy's choice). A reply that can't be read is a
    failed judgement with its raw text kept; ``reread`` reads it again.

    Args:
        model: the language model.
        prompt: templates and examples; calls fill ``$question``, ``$first_answer`` and ``$second_answer``.
        domain: the words of the domain.
        order: which answer is shown first: the one whose document id sorts first, one by seeded hash, or each once.
        seed: of the ``random`` order.
        disagreement: what is done where the two orders get different labels.
        replicates: times each order is judged; the first decides, the others measure the noise.
        citations: whether the judge sees the answers' citations; they tell sources apart but are not content.
        max_verdict_tokens: room reserved for the reply; the schema's reasoning is cut to fit it.
    """

    def __init__(  # noqa: PLR0913 - a component's parameters are its configuration
        self,
        *,
        model: LanguageModel,
        prompt: Prompt,
        domain: Domain,
        order: OrderPolicy = "random",
        seed: int = 0,
        disagreement: DisagreementPolicy = "a_first",
        replicates: Replicates = 1,
        citations: CitationView = "strip",
        max_verdict_tokens: Annotated[int, Field(ge=128, le=1_500)] = 512,
    ) -> None:
        super().__init__(model, Showing(order, seed, citations), disagreement, replicates)
        self._prompt = Prompt.model_validate(prompt)
        self._domain = Domain.model_validate(domain)
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
            **self._showing.identity(),
            "max_verdict_tokens": self._max_verdict_tokens,
            "model": dict(self._model.identity()),
        }

    def messages(self, pair: Pair) -> tuple[Message, ...]:
        """Return what the model would be sent for a pair."""
        first, second = self._showing.texts(pair)
        return self._renderer.render(question=pair.question.text.strip(), first_answer=first, second_answer=second)

    def request(self, pair: Pair) -> Request:
        """Return the model's request for a pair."""
        return Request(request_id(pair), self.messages(pair), self._max_verdict_tokens, self._schema, pair.replicate)

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

    def reread(self, judgement: Judgement, place: int = 1) -> Judgement:  # noqa: ARG002 - one pair a call
        """Read the kept reply again, without a call."""
        return with_parsed(judgement, parse(judgement.raw)) if can_be_reread(judgement) else judgement


def read_completion(completion: Completion, pair: Pair) -> Judgement:
    """Turn one completion into the pair's judgement; a failure of the engine's part stays that failure."""
    judgement = unread(completion, pair)
    return judgement if completion.outcome in FAILED_OUTCOMES else with_parsed(judgement, parse(completion.text))
