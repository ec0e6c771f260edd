"""vLLM's scheduling against a stand-in for the library: it shows what we ask of it, not that it answers so."""

import importlib.util
from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest

from transplantqa.errors import ModelError
from transplantqa.models import VLLM, Message, Request
from transplantqa.records import Outcome


@dataclass
class Engine:
    """Finishes what was added last first, one a step."""

    waiting: list[str] = field(default_factory=list)
    most: int = 0
    aborted: list[str] = field(default_factory=list)

    def add_request(self, identifier: str, _prompt: object, _params: object) -> None:
        self.waiting.append(identifier)
        self.most = max(self.most, len(self.waiting))

    def abort_request(self, identifiers: list[str]) -> None:
        self.aborted += identifiers

    def step(self) -> list[SimpleNamespace]:
        identifier = self.waiting.pop()
        reply = SimpleNamespace(text=f"<think>a</think>{identifier}", finish_reason="stop", token_ids=[1, 2])
        return [
            SimpleNamespace(
                request_id=identifier, finished=True, outputs=[reply], prompt_token_ids=[1] * 3, num_cached_tokens=None
            )
        ]


class Tokens:
    bos_token_id = 0
    ending = "assistant"

    def apply_chat_template(self, messages: list[dict[str, str]], **_arguments: object) -> str:
        return messages[-1]["content"]

    def encode(self, text: str, add_special_tokens: bool) -> list[int]:
        return [0] * len(text.split())

    def decode(self, tokens: list[int]) -> str:
        return self.ending


def engine_model(engine: Engine, **settings: int) -> VLLM:
    model = VLLM(model="m", context_tokens=100, **settings)  # type: ignore[arg-type]
    model.__dict__["_llm"] = SimpleNamespace(llm_engine=engine, get_tokenizer=Tokens)
    model._sampling_params = lambda request: None  # type: ignore[method-assign]
    return model


def ask(identifier: str, words: int = 3) -> Request:
    return Request(identifier, (Message("user", "w " * words),), 10)


@pytest.mark.skipif(importlib.util.find_spec("vllm") is not None, reason="vllm is installed")
def test_without_the_extra_the_remedy_is_named() -> None:
    with pytest.raises(ModelError, match=r"transplantqa\[vllm\]"):
        list(VLLM(model="m", context_tokens=100).generate([ask("a")]))


def test_replies_come_as_they_finish_with_reasoning_apart() -> None:
    replies = list(engine_model(Engine()).generate([ask("a"), ask("b")]))
    assert [(reply.id, reply.text, reply.reasoning) for reply in replies] == [("b", "b", "a"), ("a", "a", "a")]


def test_an_overlong_prompt_never_reaches_the_engine() -> None:
    replies = {reply.id: reply.outcome for reply in engine_model(Engine()).generate([ask("a"), ask("long", 95)])}
    assert replies == {"a": Outcome.OK, "long": Outcome.CONTEXT_OVERFLOW}


def test_the_queue_is_kept_full_and_no_fuller() -> None:
    engine = Engine()
    list(engine_model(engine, in_flight=4).generate(ask(str(number)) for number in range(20)))
    assert engine.most == 4


def test_an_engine_closed_is_let_go() -> None:
    model = engine_model(Engine())
    model.close()
    assert "_llm" not in model.__dict__


def test_a_caller_that_stops_early_leaves_nothing_in_the_engine() -> None:
    engine = Engine()
    stream = engine_model(engine, in_flight=3).generate(ask(str(number)) for number in range(5))
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    assert sorted(engine.aborted) == ["0", "1"]


def test_reasoning_that_the_template_opened_may_end_without_having_been_opened_in_the_reply() -> None:
    class Opens(Tokens):
        ending = "assistant\n<think>\n"

    class Cut(Engine):
        def step(self) -> list[SimpleNamespace]:
            (output,) = super().step()
            output.outputs[0].text, output.outputs[0].finish_reason = "still at it", "length"
            return [output]

    model = engine_model(Cut())
    model.__dict__["_tokenizer"] = Opens()
    assert [reply.outcome for reply in model.generate([ask("a")])] == [Outcome.REASONING_UNCLOSED]


def test_the_prompt_is_shown_with_its_token_of_beginning() -> None:
    shown = engine_model(Engine()).prompt_tokens(ask("a", words=3))
    assert shown is not None
    assert (shown.ids, shown.begin) == ((0, 0, 0), 0)
