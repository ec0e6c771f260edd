"""The policy around the engine, on an engine that plays back letters."""

import string
from collections.abc import Iterator, Sequence

import pytest

from transplantqa.models import Completion, LlamaCpp, Message, Request
from transplantqa.models.chat_template import CHATML, ChatTemplate
from transplantqa.models.llama_cpp import Reasoning
from transplantqa.models.sampling import Sampling
from transplantqa.records import Outcome

SCHEMA = {"type": "object"}


class Playback:
    """A token is a character; free replies and replies under a schema are given texts."""

    def __init__(self, free: str, constrained: str = "{}") -> None:
        self.free, self.constrained = free, constrained
        self.written: list[str] = []

    def tokens(self, text: str) -> list[int]:
        return [ord(letter) for letter in text]

    prompt_tokens = tokens

    def text(self, tokens: Sequence[int], after: Sequence[int] = ()) -> str:
        return "".join(map(chr, tokens))

    def reusable_prefix(self, tokens: Sequence[int]) -> int:
        return 0

    def decode(
        self, prompt: Sequence[int], sampling: Sampling, schema: str | None, written: Sequence[int] = ()
    ) -> Iterator[int]:
        self.written.append(self.text(written))
        yield from self.tokens(self.free if schema is None else self.constrained)


def reply(
    engine: Playback, *, reasoning: Reasoning = "default", max_tokens: int = 40, schema: bool = False
) -> Completion:
    model = LlamaCpp(weights="unused", context_tokens=256, reasoning=reasoning)
    model.__dict__["_engine"] = engine
    model.__dict__["_template"] = ChatTemplate(CHATML, special_tokens={}, arguments={})
    request = Request("q", (Message("user", "Hi"),), max_tokens, SCHEMA if schema else None)
    (completion,) = model.generate([request])
    return completion


def test_a_thinking_model_thinks_freely_and_then_obeys_the_schema() -> None:
    engine = Playback("hm</think> and much more", '{"a":1}')
    completion = reply(engine, reasoning="on", schema=True)
    assert (completion.text, completion.reasoning, engine.written) == ('{"a":1}', "hm", ["", "hm</think>"])


def test_without_thinking_the_schema_holds_from_the_first_token() -> None:
    assert reply(Playback("never", '{"a":1}'), schema=True).raw == '{"a":1}'


def test_thinking_up_to_the_limit_is_unclosed() -> None:
    assert reply(Playback("a" * 99), reasoning="on", schema=True).outcome is Outcome.REASONING_UNCLOSED


def test_a_reply_of_exactly_the_limit_that_the_model_ended_is_whole() -> None:
    assert reply(Playback(string.ascii_letters[:40])).outcome is Outcome.OK


@pytest.mark.parametrize("length", [41, 60])
def test_a_longer_reply_is_cut_at_the_limit(length: int) -> None:
    completion = reply(Playback("a" * length))
    assert (completion.outcome, completion.completion_tokens) == (Outcome.OUTPUT_TRUNCATED, 40)
