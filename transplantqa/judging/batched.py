"""The judge that compares one answer with several others in one call, so that instructions are paid for once."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from typing import Annotated

from pydantic import Field

from transplantqa.generation.prompts import Domain, Prompt, Renderer
from transplantqa.judging.group_parsing import parse_group
from transplantqa.judging.presentation import OrderPolicy, shown
from transplantqa.judging.protocols import DisagreementPolicy, Pair
from transplantqa.judging.reading import can_be_reread, unread, with_parsed
from transplantqa.judging.showing import CitationView, ModelJudge, Replicates, Showing, request_id
from transplantqa.judging.verdict import group_schema
from transplantqa.models.protocols import Completion, Identity, LanguageModel, Message, Request
from transplantqa.records import FAILED_OUTCOMES, Judgement, Outcome

METHOD = "batched-2"
FIELDS = ("question", "first_answer", "other_answers")


class BatchedJudge(ModelJudge):
    """Labels the pairs of one answer with several others by one call of a language model.

    Which pairs share a call is the plan's: those of a question that show the same answer first, in order of the other
    document, ``group_size`` at a time. A verdict depends on its whole group, so a pair is judged anew when any answer
    of its group changes; and a pair judged again is judged in the same company.

    Args:
        model: the language model.
        prompt: templates and examples; calls fill ``$question``, ``$first_answer`` and ``$other_answers``.
        domain: the words of the domain.
        group_size: the most answers that one answer is compared with in a call.
        order: which answer is the one: that whose document id sorts first, one by seeded hash, or each once.
        seed: of the ``random`` order.
        disagreement: what is done where the two orders get different labels.
        replicates: times each order is judged; the first decides.
        citations: whether the judge sees the answers' citations.
        reasoning_chars: room for each verdict's reasoning; 0 asks for none. Most of a call's time goes into writing it.
        max_verdict_tokens: room reserved for each verdict.
    """

    def __init__(  # noqa: PLR0913 - a component's parameters are its configuration
        self,
        *,
        model: LanguageModel,
        prompt: Prompt,
        domain: Domain,
        group_size: Annotated[int, Field(ge=2, le=64)] = 8,
        order: OrderPolicy = "random",
        seed: int = 0,
        disagreement: DisagreementPolicy = "a_first",
        replicates: Replicates = 1,
        citations: CitationView = "strip",
        reasoning_chars: Annotated[int, Field(ge=0, le=1_000)] = 0,
        max_verdict_tokens: Annotated[int, Field(ge=24, le=500)] = 120,
    ) -> None:
        super().__init__(model, Showing(order, seed, citations), disagreement, replicates)
        self.group_size = group_size
        self._prompt = Prompt.model_validate(prompt)
        self._domain = Domain.model_validate(domain)
        self._renderer = Renderer(self._prompt, self._domain, FIELDS)
        self._reasoning_chars = reasoning_chars
        self._max_verdict_tokens = max_verdict_tokens

    def identity(self) -> Identity:
        """Prompt, domain's words, size of a group, what is shown and in what order, room for replies, and the model."""
        return {
            "method": METHOD,
            "prompt": self._prompt.text(),
            "domain": self._domain.placeholders(),
            "group_size": self.group_size,
            **self._showing.identity(),
            "reasoning_chars": self._reasoning_chars,
            "max_verdict_tokens": self._max_verdict_tokens,
            "model": dict(self._model.identity()),
        }

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        """Yield one judgement a pair; neighbours that name the same group are one call, and must be whole groups."""
        waiting: dict[str, list[Pair]] = {}

        def requests() -> Iterator[Request]:
            for _, members in groupby(pairs, key=_group):
                group = list(members)
                request = self.group_request(group)
                waiting[request.id] = group
                yield request

        for completion in self._model.generate(requests()):
            yield from _judgements(completion, waiting.pop(completion.id))

    def request(self, pair: Pair) -> Request:
        """Return the model's request for a pair in no company: what an estimate of the cost may count with."""
        return self.group_request([pair])

    def group_request(self, group: list[Pair]) -> Request:
        """Return the model's request for a group."""
        room = 8 + len(group) * self._max_verdict_tokens
        schema = group_schema(len(group), self._reasoning_chars)
        return Request(request_id(group[0]), self.messages(group), room, schema, group[0].replicate)

    def messages(self, group: list[Pair]) -> tuple[Message, ...]:
        """Return what the model would be sent for a group."""
        texts = [self._showing.texts(pair) for pair in group]
        others = "\n".join(f"Answer {place}: {other}" for place, (_, other) in enumerate(texts, start=1))
        return self._renderer.render(
            question=group[0].question.text.strip(), first_answer=texts[0][0], other_answers=others
        )

    def reread(self, judgement: Judgement, place: int = 1) -> Judgement:
        """Read the verdict numbered ``place`` of the kept reply again, without a call."""
        if not can_be_reread(judgement):
            return judgement
        return with_parsed(judgement, parse_group(judgement.raw, max(place, self.group_size))[place - 1])


def _group(pair: Pair) -> tuple[str, str, int, int]:
    return (pair.question.question_id, shown(pair)[0], pair.replicate, pair.group)


def _judgements(completion: Completion, group: list[Pair]) -> Iterator[Judgement]:
    """Yield the judgements of a group; what the call cost is shared out, the remainder to the first."""
    cut = completion.outcome is Outcome.OUTPUT_TRUNCATED
    failed = completion.outcome in FAILED_OUTCOMES and not cut
    parsed = None if failed else parse_group(completion.text, len(group), cut=cut)
    for place, pair in enumerate(group):
        judgement = unread(_share(completion, len(group), place), pair)
        yield judgement if parsed is None else with_parsed(judgement, parsed[place])


def _share(completion: Completion, size: int, place: int) -> Completion:
    def part(total: int) -> int:
        return total // size + (total % size if place == 0 else 0)

    return replace(
        completion,
        prompt_tokens=part(completion.prompt_tokens),
        cached_tokens=part(completion.cached_tokens),
        completion_tokens=part(completion.completion_tokens),
        seconds=completion.seconds / size,
    )
