"""The baseline of language-model judges: a label alone, and for conflicts a second call for topic and significance."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Annotated

from pydantic import Field

from transplantqa.generation.prompts import Domain, Prompt, Renderer
from transplantqa.judging.parsing import parse, parse_details
from transplantqa.judging.presentation import OrderPolicy
from transplantqa.judging.protocols import DisagreementPolicy, Pair
from transplantqa.judging.reading import can_be_reread, unread, with_parsed
from transplantqa.judging.showing import CitationView, ModelJudge, Replicates, Showing, request_id
from transplantqa.judging.verdict import details_schema, label_schema
from transplantqa.models.protocols import Completion, Identity, LanguageModel, Request
from transplantqa.records import CONFLICT_LABELS, FAILED_OUTCOMES, Judgement, Outcome

METHOD = "label-only-1"
LABEL_FIELDS = ("question", "first_answer", "second_answer")
DETAIL_FIELDS = (*LABEL_FIELDS, "label")
LABEL_TOKENS = 24
"""Room for ``{"label":"COMPLEMENTARY"}`` in any tokenizer. Ours."""

CHUNK = 512
"""Pairs labelled before the conflicts among them are asked about; it changes no row. Ours."""

SECOND_REPLY = "\x1e"
"""Stands in ``raw`` between the two replies."""


class LabelOnlyJudge(ModelJudge):
    """Labels a pair without reasons; where the label is a conflict, a second call names its topic and significance.

    A label that can't be read is a failed judgement. A second reply that can't be read leaves the label, without topic
    and significance, and says so.

    Args:
        model: the language model.
        prompt: of the label; calls fill ``$question``, ``$first_answer`` and ``$second_answer``.
        details_prompt: of the second call, which fills ``$label`` too.
        domain: the words of the domain.
        order: which answer is shown first: the one whose document id sorts first, one by seeded hash, or each once.
        seed: of the ``random`` order.
        disagreement: what is done where the two orders get different labels.
        replicates: times each order is judged; the first decides.
        citations: whether the judge sees the answers' citations.
        max_details_tokens: room reserved for the second reply.
    """

    def __init__(  # noqa: PLR0913 - a component's parameters are its configuration
        self,
        *,
        model: LanguageModel,
        prompt: Prompt,
        details_prompt: Prompt,
        domain: Domain,
        order: OrderPolicy = "random",
        seed: int = 0,
        disagreement: DisagreementPolicy = "a_first",
        replicates: Replicates = 1,
        citations: CitationView = "strip",
        max_details_tokens: Annotated[int, Field(ge=32, le=1_000)] = 64,
    ) -> None:
        super().__init__(model, Showing(order, seed, citations), disagreement, replicates)
        self._prompts = (Prompt.model_validate(prompt), Prompt.model_validate(details_prompt))
        self._domain = Domain.model_validate(domain)
        self._label = Renderer(self._prompts[0], self._domain, LABEL_FIELDS)
        self._details = Renderer(self._prompts[1], self._domain, DETAIL_FIELDS)
        self._max_details_tokens = max_details_tokens

    def identity(self) -> Identity:
        """Both prompts, domain's words, what is shown and in what order, and the model."""
        return {
            "method": METHOD,
            "prompt": self._prompts[0].text(),
            "details_prompt": self._prompts[1].text(),
            "domain": self._domain.placeholders(),
            **self._showing.identity(),
            "max_details_tokens": self._max_details_tokens,
            "model": dict(self._model.identity()),
        }

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        """Yield one judgement a pair; conflicts come after the other pairs of their chunk."""
        waiting = iter(pairs)
        while chunk := list(islice(waiting, CHUNK)):
            yield from self._chunk(chunk)

    def reread(self, judgement: Judgement, place: int = 1) -> Judgement:  # noqa: ARG002 - one pair a call
        """Read both replies again, without a call."""
        if not can_be_reread(judgement):
            return judgement
        label, _, details = judgement.raw.partition(SECOND_REPLY)
        return _with_details(with_parsed(judgement, parse(label)), details)

    def _chunk(self, chunk: list[Pair]) -> Iterator[Judgement]:
        by_id = {request_id(pair): pair for pair in chunk}
        labelled: dict[str, Judgement] = {}
        for completion in self._model.generate(self.request(pair) for pair in chunk):
            judgement = unread(completion, by_id[completion.id])
            if completion.outcome not in FAILED_OUTCOMES:
                judgement = with_parsed(judgement, parse(completion.text))
            if judgement.label in CONFLICT_LABELS:
                labelled[completion.id] = judgement
            else:
                yield judgement
        asked = (self._details_request(by_id[name], judgement) for name, judgement in labelled.items())
        for completion in self._model.generate(asked):
            yield _both(labelled[completion.id], completion)

    def request(self, pair: Pair) -> Request:
        """Return the model's first request for a pair."""
        first, second = self._showing.texts(pair)
        messages = self._label.render(question=pair.question.text.strip(), first_answer=first, second_answer=second)
        return Request(request_id(pair), messages, LABEL_TOKENS, label_schema(), pair.replicate)

    def _details_request(self, pair: Pair, judgement: Judgement) -> Request:
        first, second = self._showing.texts(pair)
        messages = self._details.render(
            question=pair.question.text.strip(),
            first_answer=first,
            second_answer=second,
            label=str(judgement.label),
        )
        return Request(request_id(pair), messages, self._max_details_tokens, details_schema(), pair.replicate)


def _both(labelled: Judgement, details: Completion) -> Judgement:
    """Return a labelled judgement with what the second call said and cost."""
    said = replace(
        labelled,
        raw=labelled.raw + SECOND_REPLY + (details.raw or details.text),
        prompt_tokens=labelled.prompt_tokens + details.prompt_tokens,
        cached_tokens=labelled.cached_tokens + details.cached_tokens,
        completion_tokens=labelled.completion_tokens + details.completion_tokens,
        seconds=labelled.seconds + details.seconds,
    )
    if details.outcome is not Outcome.OK:
        return replace(said, error=f"the second call, for topic and significance: {details.error or details.outcome}")
    return _with_details(said, details.text)


def _with_details(judgement: Judgement, details: str) -> Judgement:
    if judgement.label not in CONFLICT_LABELS:
        return judgement
    topic, significance = parse_details(details)
    unreadable = topic is None and significance is None
    error = "the second reply, for topic and significance, can't be read" if unreadable else None
    return replace(judgement, divergence_topic=topic, significance=significance, error=error)
