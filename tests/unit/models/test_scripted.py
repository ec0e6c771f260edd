import json
from enum import StrEnum

import pytest
from pydantic import BaseModel, Field

from transplantqa.models import Message, Request, Scripted
from transplantqa.records import Outcome


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Inner(BaseModel):
    colour: Colour
    note: str | None


class Reply(BaseModel):
    inner: Inner
    tags: list[str] = Field(min_length=2)
    count: int = Field(ge=3)


def ask(text: str, *, schema: bool = False, max_tokens: int = 50) -> Request:
    return Request("q", (Message("user", text),), max_tokens, Reply.model_json_schema() if schema else None)


def text_of(model: Scripted, request: Request) -> str:
    return next(model.generate([request])).text


def test_the_first_pattern_found_gives_the_reply() -> None:
    assert text_of(Scripted(replies={"fev.r": "Call.", ".": "Wait."}), ask("a fever")) == "Call."


def test_a_schema_written_by_pydantic_is_obeyed() -> None:
    assert Reply.model_validate_json(text_of(Scripted(), ask("x", schema=True))).inner.colour is Colour.RED


def test_enum_values_vary_with_the_request_when_chosen_by_hash() -> None:
    model = Scripted(choose="by_hash")
    colours = {json.loads(text_of(model, ask(str(n), schema=True)))["inner"]["colour"] for n in range(20)}
    assert colours == {"red", "blue"}


@pytest.mark.parametrize(("share", "abstained"), [(0.0, 0), (1.0, 40)])
def test_the_share_of_abstentions_is_the_one_asked(share: float, abstained: int) -> None:
    model = Scripted(abstention_share=share)
    assert [text_of(model, ask(str(n))) for n in range(40)].count("NOT ADDRESSED") == abstained


def test_the_same_request_gets_the_same_reply() -> None:
    assert text_of(Scripted(), ask("x")) == text_of(Scripted(), ask("x"))


def test_calls_are_counted_without_those_refused() -> None:
    model = Scripted(context_tokens=10)
    list(model.generate([ask("x", max_tokens=5), ask("x " * 20, max_tokens=5)]))
    assert model.calls == 1


def test_scripted_reasoning_is_split_off() -> None:
    (reply,) = Scripted(replies={".": "<think>a</think>b"}).generate([ask("x")])
    assert (reply.text, reply.reasoning, reply.outcome) == ("b", "a", Outcome.OK)
