"""The generator that asks a language model to answer from the evidence alone, and checks what it says."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated

from pydantic import Field

from transplantqa.generation import citations
from transplantqa.generation.prompts import Domain, Prompt, Renderer
from transplantqa.generation.protocols import Cell, ResolvedPassage
from transplantqa.generation.reading import CitationPolicy, read_completion, reread
from transplantqa.generation.skipped import without_call
from transplantqa.models.protocols import Identity, LanguageModel, Message, Request
from transplantqa.records import Answer

METHOD = "grounded-1"
FIELDS = ("evidence", "question")


class Grounded:
    """Answers a question from one document's evidence with a language model.

    The prompt puts the evidence before the question, so that calls about one document share the longest prefix. A
    prompt too long for the model, a cut reply, unclosed reasoning are the model's outcomes and stay the cell's.

    Args:
        model: the language model.
        prompt: templates and examples; calls fill ``$evidence`` and ``$question``.
        domain: the words of the domain, and the standard reply of a silent document.
        max_answer_tokens: room reserved for the reply.
        citations: ``required`` makes an answer that names no section ``parse_failed``; ``checked`` lets it stand. An
            answer that names only sections it was not given is ``parse_failed`` under both.
    """

    def __init__(
        self,
        *,
        model: LanguageModel,
        prompt: Prompt,
        domain: Domain,
        max_answer_tokens: Annotated[int, Field(ge=8, le=32_768)] = 512,
        citations: CitationPolicy = "checked",
    ) -> None:
        self._model = model
        self._prompt = Prompt.model_validate(prompt)
        self._domain = Domain.model_validate(domain)
        self._max_answer_tokens = max_answer_tokens
        self._citations: CitationPolicy = citations
        self._renderer = Renderer(self._prompt, self._domain, FIELDS)

    def identity(self) -> Identity:
        """The words of prompt and domain, the model, the room for a reply and the citation policy."""
        return {
            "method": METHOD,
            "prompt": self._prompt.text(),
            "domain": self._domain.placeholders(),
            "max_answer_tokens": self._max_answer_tokens,
            "citations": self._citations,
            "model": dict(self._model.identity()),
        }

    def messages(self, cell: Cell) -> tuple[Message, ...]:
        """Return what the model would be sent for a cell: for counting tokens before paying for them."""
        return self._renderer.render(evidence=render_evidence(cell.passages), question=cell.question.text.strip())

    def request(self, cell: Cell) -> Request:
        """Return the model's request for a cell."""
        identity = f"{cell.question.question_id}\x1f{cell.document_id}"
        return Request(identity, self.messages(cell), self._max_answer_tokens)

    def answer(self, cells: Iterable[Cell]) -> Iterator[Answer]:
        """Yield one answer a cell, in completion order; cells are drawn only as fast as the model takes requests."""
        waiting: dict[str, Cell] = {}
        decided: deque[Answer] = deque()

        def requests() -> Iterator[Request]:
            for cell in cells:
                answer = without_call(cell, self._domain.abstention)
                if answer is not None:
                    decided.append(answer)
                    continue
                request = self.request(cell)
                waiting[request.id] = cell
                yield request

        for completion in self._model.generate(requests()):
            while decided:
                yield decided.popleft()
            cell = waiting.pop(completion.id)
            yield read_completion(completion, cell, self._domain, self._citations)
        yield from decided

    def reread(self, answer: Answer, passages: Sequence[ResolvedPassage]) -> Answer:
        """Read an answer's raw text again with the present rules, without a call."""
        return reread(answer, passages, self._domain, self._citations)

    def close(self) -> None:
        """Release the model's memory."""
        self._model.close()


def render_evidence(passages: Sequence[ResolvedPassage]) -> str:
    """Show passages in the order given, each under the reference it is to be cited by."""
    return "\n\n".join(f"[{citations.reference(passage)}]\n{passage.text.strip()}" for passage in passages)
