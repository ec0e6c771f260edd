"""What every language model must do alike, whatever runs it."""

import json

from transplantqa.models import LanguageModel, Message, Request
from transplantqa.records import Outcome

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


def test_every_request_is_answered_once_under_its_own_id(backend: LanguageModel) -> None:
    requests = [ask(f"q{number}", f"Name a fruit that starts with {letter}.") for number, letter in enumerate("abcdef")]
    assert sorted(reply.id for reply in backend.generate(requests)) == [request.id for request in requests]


def test_a_schema_holds_even_when_something_else_is_asked(backend: LanguageModel) -> None:
    (reply,) = backend.generate([ask("haiku", "Write a haiku about rain. No JSON.", 80, SCHEMA)])
    value = json.loads(reply.text)
    assert (value["colour"] in COLOURS, set(value), reply.outcome) == (True, {"colour", "sure"}, Outcome.OK)


def test_only_the_prompt_that_does_not_fit_overflows(backend: LanguageModel) -> None:
    requests = [ask("short", "Say yes.", 40, SCHEMA), ask("long", TOO_LONG), ask("after", "Say no.", 40, SCHEMA)]
    outcomes = {reply.id: reply.outcome for reply in backend.generate(requests)}
    assert outcomes == {"short": Outcome.OK, "long": Outcome.CONTEXT_OVERFLOW, "after": Outcome.OK}


def test_room_for_the_reply_counts_towards_the_context(backend: LanguageModel) -> None:
    (reply,) = backend.generate([ask("greedy", "Say yes.", backend.context_tokens)])
    assert reply.outcome is Outcome.CONTEXT_OVERFLOW


def test_a_reply_that_reaches_its_limit_is_truncated(backend: LanguageModel) -> None:
    (reply,) = backend.generate([ask("story", "Tell a long story about a dog and a boat.", 1)])
    assert reply.outcome is Outcome.OUTPUT_TRUNCATED


def test_a_schema_that_cannot_be_enforced_does_not_stop_the_others(backend: LanguageModel) -> None:
    requests = [ask("broken", "Say yes.", 40, {"$ref": "#/nowhere"}), ask("sound", "Say yes.", 40, SCHEMA)]
    outcomes = {reply.id: reply.outcome for reply in backend.generate(requests)}
    assert (set(outcomes), outcomes["sound"]) == ({"broken", "sound"}, Outcome.OK)


def test_tokens_are_accounted_for(backend: LanguageModel) -> None:
    (reply,) = backend.generate([ask("one", "Name a fruit.", 1)])
    assert reply.prompt_tokens > 0
    assert reply.completion_tokens == 1


def test_nothing_asked_is_nothing_answered(backend: LanguageModel) -> None:
    assert list(backend.generate([])) == []


def test_a_reply_is_the_same_when_asked_again_after_another(backend: LanguageModel) -> None:
    first = ask("first", "Name a fruit.", 40, SCHEMA)
    replies = list(backend.generate([first])) + list(backend.generate([ask("other", "Say no."), first]))
    assert len({reply.text for reply in replies if reply.id == "first"}) == 1


def test_requests_are_read_no_faster_than_replies_are_taken(backend: LanguageModel) -> None:
    read = []

    def requests() -> "list[Request]":
        return [ask(f"q{number}", "Say yes.", 1) for number in range(40)]

    def watched() -> "object":
        for request in requests():
            read.append(request.id)
            yield request

    stream = backend.generate(watched())  # type: ignore[arg-type]
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    assert len(read) <= 4
