"""What every language model must do alike, whatever runs it."""

import json
from collections.abc import Iterable

import pytest

from tests.integration.models.conftest import EXACT
from transplantqa.models import Completion, LanguageModel, Message, Request
from transplantqa.models.protocols import ShowsPrompt
from transplantqa.records import Outcome

pytestmark = pytest.mark.timeout(900)  # a busy machine answers a few tokens a second

COLOURS = ["RED", "GREEN", "BLUE"]
SCHEMA = {
    "type": "object",
    "properties": {"colour": {"type": "string", "enum": COLOURS}, "sure": {"type": "boolean"}},
    "required": ["colour", "sure"],
    "additionalProperties": False,
}
TOO_LONG = "word " * 3000


def ask(identifier: str, text: str, max_tokens: int = 12, schema: dict[str, object] | None = None) -> Request:
    return Request(identifier, (Message("system", "Be brief."), Message("user", text)), max_tokens, schema)


def outcomes(replies: Iterable[Completion]) -> dict[str, Outcome]:
    return {reply.id: reply.outcome for reply in replies}


def test_every_request_is_answered_once_under_its_own_id(backend: LanguageModel) -> None:
    requests = [ask(f"q{number}", f"Name a fruit that starts with {letter}.") for number, letter in enumerate("abcdef")]
    assert sorted(reply.id for reply in backend.generate(requests)) == [request.id for request in requests]


def test_a_reply_belongs_to_its_own_request(backend: LanguageModel) -> None:
    """Each schema allows one word only, so a reply under another's id would show."""
    requests = [
        ask(
            f"q{number}",
            "Say something.",
            24,
            {
                "type": "object",
                "properties": {"n": {"const": f"word{number}"}},
                "required": ["n"],
                "additionalProperties": False,
            },
        )
        for number in range(6)
    ]
    replies = {reply.id: json.loads(reply.text)["n"] for reply in backend.generate(requests)}
    assert replies == {f"q{number}": f"word{number}" for number in range(6)}


@pytest.mark.parametrize("asked", ["Write a haiku about rain. No JSON.", "Reply with the colour PINK, in plain words."])
def test_a_schema_holds_even_when_something_else_is_asked(backend: LanguageModel, asked: str) -> None:
    (reply,) = backend.generate([ask("haiku", asked, 80, SCHEMA)])
    value = json.loads(reply.text)
    assert (value["colour"] in COLOURS, set(value), reply.outcome) == (True, {"colour", "sure"}, Outcome.OK)


def test_only_the_prompt_that_does_not_fit_overflows(backend: LanguageModel) -> None:
    requests = [ask("short", "Say yes.", 40, SCHEMA), ask("long", TOO_LONG), ask("after", "Say no.", 40, SCHEMA)]
    expected = {"short": Outcome.OK, "long": Outcome.CONTEXT_OVERFLOW, "after": Outcome.OK}
    assert outcomes(backend.generate(requests)) == expected


def test_of_200_requests_one_overflows_and_199_are_answered(backend: LanguageModel) -> None:
    requests = [ask(f"q{number}", TOO_LONG if number == 100 else "Say yes.", 1) for number in range(200)]
    replies = {reply.id: reply for reply in backend.generate(requests)}
    assert replies.pop("q100").outcome is Outcome.CONTEXT_OVERFLOW
    assert len(replies) == 199
    assert {reply.completion_tokens for reply in replies.values()} == {1}


def test_room_for_the_reply_counts_towards_the_context(backend: LanguageModel) -> None:
    (reply,) = backend.generate([ask("greedy", "Say yes.", backend.context_tokens)])
    assert reply.outcome is Outcome.CONTEXT_OVERFLOW
    assert reply.completion_tokens == 0


def test_a_reply_that_reaches_its_limit_is_truncated(backend: LanguageModel) -> None:
    (reply,) = backend.generate([ask("story", "Tell a long story about a dog and a boat.", 1)])
    assert reply.outcome is Outcome.OUTPUT_TRUNCATED


def test_a_reply_that_ends_inside_its_reasoning_is_its_own_outcome(thinking: LanguageModel) -> None:
    (reply,) = thinking.generate([ask("deep", "Is water wet?", 8)])
    assert (reply.outcome, reply.text) == (Outcome.REASONING_UNCLOSED, "")
    assert reply.reasoning or not reply.raw.strip()  # random weights may write nothing but line breaks


def test_a_reply_without_content_is_its_own_outcome(ended: LanguageModel) -> None:
    (reply,) = ended.generate([ask("mute", "Say yes.", 12)])
    assert (reply.outcome, reply.text, reply.error) == (Outcome.PARSE_FAILED, "", "the reply is empty")


def test_a_prompt_begins_with_exactly_one_token_of_beginning(backend: LanguageModel, backend_name: str) -> None:
    request = ask("one", "Name a fruit.", 1)
    shown = backend.prompt_tokens(request) if isinstance(backend, ShowsPrompt) else None
    if shown is None:
        pytest.skip(f"NOT TESTED: {backend_name} shows no prompts")
    (reply,) = backend.generate([request])
    assert shown.beginnings == 1
    assert reply.prompt_tokens == len(shown.ids)  # what is shown is what was read


def test_a_schema_that_cannot_be_enforced_does_not_stop_the_others(backend: LanguageModel) -> None:
    requests = [ask("broken", "Say yes.", 40, {"$ref": "#/nowhere"}), ask("sound", "Say yes.", 40, SCHEMA)]
    found = outcomes(backend.generate(requests))
    assert (set(found), found["sound"]) == ({"broken", "sound"}, Outcome.OK)


def test_tokens_and_time_are_accounted_for(backend: LanguageModel) -> None:
    (reply,) = backend.generate([ask("one", "Name a fruit.", 1)])
    assert reply.prompt_tokens > 0
    assert reply.completion_tokens == 1
    assert reply.seconds >= 0


def test_nothing_asked_is_nothing_answered(backend: LanguageModel) -> None:
    assert list(backend.generate([])) == []


def test_a_reply_is_the_same_when_asked_again_after_another(backend: LanguageModel) -> None:
    first = ask("first", "Name a fruit.", 40, SCHEMA)
    replies = list(backend.generate([first])) + list(backend.generate([ask("other", "Say no."), first]))
    assert len({reply.text for reply in replies if reply.id == "first"}) == 1


def test_64_at_once_are_answered_as_one_at_a_time(backend: LanguageModel, backend_name: str) -> None:
    requests = [ask(f"q{number}", f"What is {number} and {number % 7}?", 2) for number in range(64)]
    together = {reply.id: reply for reply in backend.generate(requests)}
    alone = {request.id: next(iter(backend.generate([request]))) for request in requests}
    assert outcomes(together.values()) == outcomes(alone.values())
    if backend_name in EXACT:
        assert {name: reply.raw for name, reply in together.items()} == {
            name: reply.raw for name, reply in alone.items()
        }
    else:
        differing = sum(together[name].raw != alone[name].raw for name in alone)
        assert differing <= len(requests) // 4, "far more than last bits can explain"


def test_requests_are_read_no_faster_than_replies_are_taken(backend: LanguageModel, backend_name: str) -> None:
    if backend_name == "vllm":
        pytest.skip("its queue is kept full by design: in_flight says how many (tested in tests/unit)")
    read = []

    def watched() -> Iterable[Request]:
        for number in range(40):
            read.append(number)
            yield ask(f"q{number}", "Say yes.", 1)

    stream = backend.generate(watched())
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    assert len(read) <= 4
