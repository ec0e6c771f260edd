import asyncio
import json
import threading

import httpx
import pytest

from transplantqa.errors import ModelError
from transplantqa.models import Message, OpenAIServer, Request, WordPieceTokenizer
from transplantqa.records import Outcome


def model(handler: object, **settings: object) -> OpenAIServer:
    given: dict[str, object] = {"base_url": "http://x/v1", "model": "m", "context_tokens": 1000, **settings}
    server = OpenAIServer(**given)  # type: ignore[arg-type]
    server._transport = httpx.MockTransport(handler)  # type: ignore[arg-type]
    return server


def ask(number: int) -> Request:
    return Request(f"q{number}", (Message("user", str(number)),), 16)


def listing(*entries: dict[str, object]) -> httpx.Response:
    return httpx.Response(200, json={"data": list(entries)})


def answer(text: str) -> httpx.Response:
    return httpx.Response(200, json={"choices": [{"message": {"content": text}, "finish_reason": "stop"}]})


class Echo:
    """Serves model m; the reply is the question, later questions sooner; counts what is in flight."""

    def __init__(self) -> None:
        self.in_flight = 0
        self.most = 0
        self.lock = threading.Lock()

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/models"):
            return listing({"id": "m", "owned_by": "vllm", "root": "/srv/weights"})
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        question = json.loads(request.content)["messages"][-1]["content"]
        await asyncio.sleep(0.05 - 0.002 * int(question))
        self.in_flight -= 1
        return httpx.Response(500, text="broken") if question == "3" else answer(question)


def test_replies_keep_their_ids_when_they_come_out_of_order() -> None:
    replies = {reply.id: reply.text for reply in model(Echo(), concurrency=8, retries=0).generate(map(ask, range(12)))}
    assert replies == {f"q{n}": "" if n == 3 else str(n) for n in range(12)}


def test_one_failing_request_leaves_the_others() -> None:
    outcomes = {reply.id: reply.outcome for reply in model(Echo(), retries=0).generate(map(ask, range(6)))}
    assert [identifier for identifier, outcome in outcomes.items() if outcome is not Outcome.OK] == ["q3"]


def test_no_more_than_the_configured_number_are_in_flight() -> None:
    echo = Echo()
    list(model(echo, concurrency=3, retries=0).generate(map(ask, range(12))))
    assert echo.most == 3


def test_a_caller_that_stops_early_leaves_no_thread_behind() -> None:
    stream = model(Echo(), concurrency=3).generate(map(ask, range(12)))
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    assert [thread.name for thread in threading.enumerate() if thread.name == "openai_server"] == []


def test_identity_has_the_served_model_and_neither_address_nor_path() -> None:
    identity = json.dumps(model(Echo()).identity())
    assert ("vllm" in identity, "http" in identity, "/srv" in identity) == (True, False, False)


def test_a_model_that_is_not_served_is_named_with_those_that_are() -> None:
    with pytest.raises(ModelError, match="Served: other"):
        model(lambda _request: listing({"id": "other"})).identity()


def test_a_refused_key_is_said_before_any_request() -> None:
    with pytest.raises(ModelError, match="refuses the key"):
        model(lambda _request: httpx.Response(401)).generate([]).__next__()


def test_a_server_that_lists_no_models_is_used_all_the_same() -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        return httpx.Response(404) if request.url.path.endswith("/models") else answer("Yes.")

    assert [reply.text for reply in model(handler).generate([ask(1)])] == ["Yes."]


def test_a_server_out_of_reach_is_a_users_error_with_its_remedy() -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused", request=request)

    with pytest.raises(ModelError, match="base_url"):
        model(handler).identity()


def test_the_key_comes_from_the_environment_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THE_KEY", "s3cret")
    seen = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers["authorization"])
        return listing({"id": "m"})

    identity = json.dumps(model(handler, api_key_env="THE_KEY").identity())
    assert (seen, "s3cret" in identity) == (["Bearer s3cret"], False)


def test_a_key_that_is_not_set_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("THE_KEY", raising=False)
    with pytest.raises(ModelError, match="THE_KEY"):
        model(Echo(), api_key_env="THE_KEY").identity()


@pytest.mark.parametrize(
    ("path", "counted"), [("/tokenize", {"count": 5}), ("/tokenize", {"tokens": [1] * 5}), ("/v1/extras", {"count": 5})]
)
def test_tokens_are_counted_by_the_server_in_its_own_dialect(path: str, counted: dict[str, object]) -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        known = request.url.path == path or (path == "/v1/extras" and request.url.path == "/extras/tokenize/count")
        return httpx.Response(200, json=counted) if known else httpx.Response(404)

    assert model(handler).count_tokens("some text") == 5


def test_a_declared_tokenizer_counts_without_the_server() -> None:
    def handler(_request: httpx.Request) -> httpx.Response:
        raise AssertionError

    assert model(handler, tokenizer=WordPieceTokenizer()).count_tokens("two words") == 2
