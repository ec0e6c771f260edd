"""vLLM with a reasoning parser: a schema holds from the end of the reasoning on, and replies repeat themselves.

The tiny model wants to end its reasoning at every token, and nothing but a grammar keeps it from that.
"""

import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from transplantqa.models import VLLM, Completion, Message, Request

pytestmark = [
    pytest.mark.timeout(900),
    pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="NOT TESTED: vllm is not installed here"),
]
SCHEMA = {
    "type": "object",
    "properties": {"colour": {"type": "string", "enum": ["RED", "GREEN", "BLUE"]}},
    "required": ["colour"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def thinking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VLLM]:
    folder = tmp_path_factory.mktemp("closes")
    script = Path(__file__).parent / "tiny_model.py"
    subprocess.run([sys.executable, str(script), str(folder), "closes_reasoning"], check=True)
    model = VLLM(
        model=str(folder),
        context_tokens=512,
        dtype="float32",
        reasoning="on",
        reasoning_parser="qwen3",
        temperature=0.0,
    )
    yield model
    model.close()


@pytest.fixture(scope="module")
def unthinking(thinking: VLLM) -> VLLM:
    """The same engine, told not to think: there is one a process."""
    model = VLLM(model=thinking._model, context_tokens=512, dtype="float32", reasoning="off", reasoning_parser="qwen3")
    model.__dict__["_llm"] = thinking._llm
    return model


def ask(text: str, schema: dict[str, object] | None = None, draw: int = 0) -> Request:
    return Request(text, (Message("user", text),), 40, schema, draw=draw)


def reply(model: VLLM, request: Request) -> Completion:
    (found,) = model.generate([request])
    return found


def test_a_schema_holds_after_the_reasoning_has_ended(thinking: VLLM) -> None:
    found = reply(thinking, ask("A colour, please.", SCHEMA))
    before, _, after = found.raw.partition("</think>")
    assert (before.strip(), json.loads(after), found.text) == ("", json.loads(found.text), after.strip())
    assert json.loads(found.text)["colour"] in SCHEMA["properties"]["colour"]["enum"]  # type: ignore[index]


def test_without_a_schema_nothing_holds_it_back(thinking: VLLM) -> None:
    assert "</think>" * 5 in reply(thinking, ask("A colour, please.")).raw


def test_told_not_to_think_a_reply_has_no_reasoning_and_obeys_the_schema_at_once(unthinking: VLLM) -> None:
    found = reply(unthinking, ask("A colour, please.", SCHEMA))
    assert (found.reasoning, found.raw) == (None, found.text)
    assert json.loads(found.raw)["colour"] in SCHEMA["properties"]["colour"]["enum"]  # type: ignore[index]


def test_replies_repeat_themselves(unthinking: VLLM) -> None:
    asked = [ask(f"Colour {number}?", SCHEMA) for number in range(8)]
    first, again = ({found.id: found.raw for found in unthinking.generate(asked)} for _ in range(2))
    assert first == again


def test_draws_of_one_request_repeat_themselves_at_any_temperature(unthinking: VLLM) -> None:
    model = VLLM(model=unthinking._model, context_tokens=512, dtype="float32", temperature=1.0, seed=7)
    model.__dict__["_llm"] = unthinking._llm
    schema = {**SCHEMA, "properties": {"word": {"type": "string", "maxLength": 12}}, "required": ["word"]}
    first, again = ([reply(model, ask("A word.", schema, draw)).raw for draw in range(3)] for _ in range(2))
    assert first == again
    assert len(set(first)) > 1, "draws are to differ from each other"
