import asyncio
import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import pytest

from transplantqa.models import Completion, Message, Request
from transplantqa.models.openai_client import ChatClient, Retries, Room
from transplantqa.records import Outcome

Handler = Callable[[httpx.Request], httpx.Response]
SCHEMA = {"type": "object", "properties": {"label": {"enum": ["A", "B"]}}, "required": ["label"]}


def ask(identifier: str = "q", schema: Mapping[str, object] | None = None) -> Request:
    return Request(identifier, (Message("user", "Hi"),), 16, schema)


def reply(content: str = "Yes.", finish_reason: str = "stop", **message: object) -> httpx.Response:
    choice = {"message": {"content": content, **message}, "finish_reason": finish_reason}
    usage = {"prompt_tokens": 7, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 3}}
    return httpx.Response(200, json={"choices": [choice], "usage": usage})


class Server:
    """A server that answers by a list of handlers, the last for ever, and remembers bodies and waits."""

    def __init__(self, *handlers: Handler, counted: int | None = None) -> None:
        self.bodies: list[dict[str, object]] = []
        self.counted: list[str] = []
        self._count = counted
        self.waits: list[float] = []
        self._handlers = list(handlers)

    def ask(self, *requests: Request, retries: int = 3, context_tokens: int = 100) -> list[Completion]:
        async def run() -> list[Completion]:
            async with httpx.AsyncClient(base_url="http://x/v1/", transport=httpx.MockTransport(self._handle)) as http:
                room = Room(context_tokens, self._counted)
                client = ChatClient(http, {"model": "m"}, room=room, retries=Retries(retries), sleep=self._sleep)
                return [await client.complete(request) for request in requests]

        return asyncio.run(run())

    def formats(self) -> list[str]:
        return [body["response_format"]["type"] for body in self.bodies]  # type: ignore[index]

    def _handle(self, request: httpx.Request) -> httpx.Response:
        self.bodies.append(json.loads(request.content))
        handler = self._handlers.pop(0) if len(self._handlers) > 1 else self._handlers[0]
        return handler(request)

    async def _counted(self, request: Request) -> int | None:
        self.counted.append(request.id)
        return self._count

    async def _sleep(self, seconds: float) -> None:
        self.waits.append(seconds)


def status(code: int, body: str = "no", **headers: str) -> Handler:
    return lambda _request: httpx.Response(code, text=body, headers=headers)


def good(_request: httpx.Request) -> httpx.Response:
    return reply()


def refuse_connection(request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("refused", request=request)


def test_text_reasoning_and_usage_are_read() -> None:
    (answer,) = Server(lambda _request: reply(reasoning_content="hm")).ask(ask())
    assert answer == Completion(
        "q", Outcome.OK, "Yes.", "<think>hm</think>Yes.", "hm", "stop", 7, 3, 2, answer.seconds, None
    )


def test_a_busy_server_is_asked_again_after_the_wait_it_wishes() -> None:
    server = Server(status(429, **{"retry-after": "7"}), good)
    assert (server.ask(ask())[0].outcome, server.waits) == (Outcome.OK, [7.0])


def test_a_wish_given_as_a_date_is_honoured() -> None:
    moment = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    server = Server(status(503, **{"retry-after": moment}), good)
    server.ask(ask())
    assert server.waits == [pytest.approx(60, abs=5)]


def test_waits_without_a_wish_double_around_half_a_second() -> None:
    server = Server(status(503))
    server.ask(ask(), retries=3)
    assert all(0.25 * 2**n <= wait <= 0.75 * 2**n for n, wait in enumerate(server.waits))


def test_tries_end_with_the_servers_words() -> None:
    server = Server(status(503, '{"error": {"message": "loading"}}'))
    (answer,) = server.ask(ask(), retries=2)
    assert (answer.outcome, answer.error, len(server.bodies)) == (Outcome.ENGINE_ERROR, "HTTP 503: loading", 3)


def test_a_lost_connection_is_tried_again() -> None:
    assert Server(refuse_connection, good).ask(ask())[0].outcome is Outcome.OK


def test_a_connection_lost_for_good_is_an_engine_error() -> None:
    assert Server(refuse_connection).ask(ask())[0].outcome is Outcome.ENGINE_ERROR


def test_a_bad_request_is_not_tried_again() -> None:
    server = Server(status(400))
    assert (server.ask(ask())[0].outcome, len(server.bodies)) == (Outcome.ENGINE_ERROR, 1)


@pytest.mark.parametrize("body", ["maximum context length is 8", '{"error": {"code": "context_length_exceeded"}}'])
def test_a_prompt_refused_for_its_length_overflows(body: str) -> None:
    server = Server(status(400, body))
    assert (server.ask(ask(schema=SCHEMA))[0].outcome, len(server.bodies)) == (Outcome.CONTEXT_OVERFLOW, 1)


def test_a_reply_whose_room_was_cut_overflows() -> None:
    assert Server(good).ask(ask(), context_tokens=22)[0].outcome is Outcome.CONTEXT_OVERFLOW


def test_a_prompt_that_leaves_no_room_is_never_sent() -> None:
    server = Server(good, counted=85)
    (reply,) = server.ask(ask(), context_tokens=100)
    assert (reply.outcome, reply.prompt_tokens, server.bodies) == (Outcome.CONTEXT_OVERFLOW, 85, [])
    assert reply.error == "prompt 85 + reply 16 tokens > context 100"


def test_a_prompt_that_fits_exactly_is_sent() -> None:
    server = Server(good, counted=84)
    assert (server.ask(ask(), context_tokens=100)[0].outcome, len(server.bodies)) == (Outcome.OK, 1)


def test_a_prompt_that_cannot_but_fit_is_not_counted() -> None:
    server = Server(good, counted=85)
    server.ask(ask(), context_tokens=10_000)
    assert server.counted == []


@pytest.mark.parametrize("code", [400, 500])
def test_a_refused_dialect_gives_way_to_the_other_for_good(code: int) -> None:
    server = Server(status(code), lambda _request: reply('{"label": "A"}'))
    server.ask(ask(schema=SCHEMA), ask("next", schema=SCHEMA))
    assert server.formats() == ["json_schema", "json_object", "json_object"]


def test_an_ignored_dialect_gives_way_to_the_other() -> None:
    server = Server(good, lambda _request: reply('{"label": "A"}'))
    assert (server.ask(ask(schema=SCHEMA))[0].text, server.formats()) == (
        '{"label": "A"}',
        ["json_schema", "json_object"],
    )


def test_an_obeyed_dialect_is_kept() -> None:
    server = Server(lambda _request: reply('{"label": "A"}'))
    server.ask(ask(schema=SCHEMA), ask("next", schema=SCHEMA))
    assert server.formats() == ["json_schema", "json_schema"]


@pytest.mark.parametrize("body", ["[]", "{}", '{"choices": []}', '{"choices": [{"message": null}]}', "<html>"])
def test_an_answer_of_another_shape_is_an_engine_error(body: str) -> None:
    assert Server(status(200, body)).ask(ask())[0].outcome is Outcome.ENGINE_ERROR


def test_a_cut_reply_is_truncated() -> None:
    assert Server(lambda _request: reply("Ye", "length")).ask(ask())[0].outcome is Outcome.OUTPUT_TRUNCATED


def test_documents_cannot_send_control_tokens() -> None:
    server = Server(good)
    server.ask(Request("q", (Message("user", "a<|im_end|>b"),), 16))
    assert server.bodies[0]["messages"] == [{"role": "user", "content": "a< |im_end|>b"}]


@pytest.mark.parametrize(
    ("thinks", "finish_reason", "outcome"),
    [
        (True, "length", Outcome.REASONING_UNCLOSED),
        (True, "stop", Outcome.OK),
        (False, "length", Outcome.OUTPUT_TRUNCATED),
    ],
)
def test_a_model_told_to_think_and_cut_before_it_closed_is_still_thinking(
    thinks: bool, finish_reason: str, outcome: Outcome
) -> None:
    async def run() -> Completion:
        handler = httpx.MockTransport(lambda _request: reply("well, water", finish_reason))
        async with httpx.AsyncClient(base_url="http://x/v1/", transport=handler) as http:
            body = {"model": "m", "chat_template_kwargs": {"enable_thinking": thinks}}
            room = Room(10_000, lambda _request: asyncio.sleep(0, None))
            return await ChatClient(http, body, room=room, retries=Retries(0)).complete(ask())

    assert asyncio.run(run()).outcome is outcome
