"""Cells and models made by hand."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import pytest

from transplantqa.generation import Cell, Domain, ResolvedPassage
from transplantqa.models.protocols import Completion, Request
from transplantqa.records import Evidence, Outcome, Question

MakeCell = Callable[..., Cell]


def passage(heading: str, text: str, page: int = 1, last_page: int | None = None) -> ResolvedPassage:
    return ResolvedPassage(f"s-{heading}", ("Handbook", heading), page, last_page or page, text)


@pytest.fixture
def make_cell() -> MakeCell:
    def make(
        question: str,
        passages: Sequence[tuple[str, str]] = (),
        *,
        question_id: str = "q1",
        document_id: str = "d1",
        outcome: Outcome = Outcome.OK,
        error: str | None = None,
    ) -> Cell:
        evidence = Evidence(question_id, document_id, "retrieved", (), (), None, 0, outcome, error)
        resolved = tuple(passage(heading, text, page) for page, (heading, text) in enumerate(passages, start=1))
        return Cell(Question(question_id, question), evidence, resolved)

    return make


@pytest.fixture
def domain() -> Domain:
    return Domain(
        name="test",
        document_noun="leaflet",
        institution_noun="office",
        group_noun="branch",
        general_label="general",
        role="a clerk",
        reader="visitor",
        abstention="NOT ADDRESSED",
    )


class Replies:
    """A model that replies by the first key found in the last message, in reverse order of asking."""

    context_tokens = 4096

    def __init__(self, replies: Mapping[str, Completion | str]) -> None:
        self.replies = replies
        self.requests: list[Request] = []

    def identity(self) -> dict[str, Any]:
        return {"engine": "replies"}

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def generate(self, requests: Iterable[Request]) -> Iterator[Completion]:
        self.requests = list(requests)
        for request in reversed(self.requests):
            last = request.messages[-1].content
            reply = next((value for key, value in self.replies.items() if key in last), "")
            if isinstance(reply, Completion):
                yield Completion(request.id, reply.outcome, reply.text, raw=reply.raw, error=reply.error)
            else:
                yield Completion(request.id, Outcome.OK, reply, raw=reply)

    def close(self) -> None:
        self.requests = []


@pytest.fixture
def replies() -> type[Replies]:
    return Replies
