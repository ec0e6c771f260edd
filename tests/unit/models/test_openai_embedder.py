import json
from collections.abc import Callable

import httpx
import numpy as np
import pytest

from transplantqa.errors import ModelError
from transplantqa.models import OpenAIEmbedder
from transplantqa.models.openai_embedder import RefusedTextError

Handler = Callable[[httpx.Request], httpx.Response]


def embedder(handler: Handler, **settings: object) -> OpenAIEmbedder:
    made = OpenAIEmbedder(**{"base_url": "http://x/v1", "model": "m", **settings})  # type: ignore[arg-type]
    made._transport = httpx.MockTransport(handler)
    made._sleep = lambda _seconds: None
    return made


class Lengths:
    """Answers each text with (its length, 1), last text first, and keeps what was sent."""

    def __init__(self) -> None:
        self.sent: list[list[str]] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        texts = json.loads(request.content)["input"]
        self.sent.append(texts)
        data = [{"index": at, "embedding": [float(len(text)), 1.0]} for at, text in enumerate(texts)]
        return httpx.Response(200, json={"data": data[::-1]})


def test_vectors_are_of_unit_length_and_in_the_order_of_the_texts() -> None:
    vectors = embedder(Lengths(), batch_texts=2).embed_passages(["aaa", "", "aaaa"])
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1, 1])
    assert vectors[:, 0] / vectors[:, 1] == pytest.approx([3, 0, 4])


def test_batches_hold_texts_of_near_equal_length() -> None:
    server = Lengths()
    embedder(server, batch_texts=2).embed_passages(["a", "aaaa", "aa", "aaa"])
    assert server.sent == [["aaaa", "aaa"], ["aa", "a"]]


def test_queries_and_passages_have_their_own_prefixes() -> None:
    server = Lengths()
    made = embedder(server, query_prefix="query: ", passage_prefix="passage: ")
    made.embed_queries(["a"])
    made.embed_passages(["a"])
    assert server.sent == [["query: a"], ["passage: a"]]


def test_nothing_to_embed_calls_nothing() -> None:
    server = Lengths()
    assert len(embedder(server).embed_passages([])) == 0
    assert server.sent == []


def test_a_busy_server_is_asked_again() -> None:
    answers = [httpx.Response(503), httpx.Response(200, json={"data": [{"index": 0, "embedding": [2.0]}]})]
    assert embedder(lambda _request: answers.pop(0)).embed_queries(["a"]).tolist() == [[1.0]]


def test_a_server_says_how_long_to_wait() -> None:
    answers = [
        httpx.Response(429, headers={"Retry-After": "7"}),
        httpx.Response(429, headers={"Retry-After": "Wed, 21 Oct 2015 07:28:00 -0000"}),
        httpx.Response(503),
        httpx.Response(200, json={"data": [{"index": 0, "embedding": [2.0]}]}),
    ]
    made = embedder(lambda _request: answers.pop(0))
    waited: list[float] = []
    made._sleep = waited.append
    made.embed_queries(["a"])
    assert waited == [7.0, 0.0, 2.0]  # as wished, as wished long ago, the third of doubling waits


def test_the_key_is_sent_from_the_environment_and_is_no_part_of_the_identity(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMBED_KEY", "s3cret")
    seen: list[str] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers["authorization"])
        return httpx.Response(200, json={"data": [{"index": 0, "embedding": [2.0]}]})

    made = embedder(handler, api_key_env="EMBED_KEY")
    made.embed_queries(["a"])
    assert seen == ["Bearer s3cret"]
    assert "s3cret" not in str(made.identity())


def test_the_address_is_no_part_of_the_identity_and_the_revision_is() -> None:
    plain = embedder(Lengths()).identity()
    assert embedder(Lengths(), base_url="http://y/v1").identity() == plain
    assert embedder(Lengths(), revision="2026-01").identity() != plain


@pytest.mark.parametrize(
    ("response", "words"),
    [
        (httpx.Response(401), "refuses the key"),
        (httpx.Response(404, text="no model m"), "no model m"),
        (httpx.Response(200, json={"error": "no such model"}), "no embeddings in its answer"),
        (httpx.Response(200, json={"data": []}), "0 vectors for 1 texts"),
        (httpx.Response(200, json={"data": [{"index": 0, "embedding": [None]}]}), "finite numbers"),
        (httpx.Response(200, text="<html>"), "no embeddings in its answer"),
        (httpx.Response(500), "HTTP 500"),
    ],
)
def test_an_unusable_answer_is_told_with_its_reason(response: httpx.Response, words: str) -> None:
    with pytest.raises(ModelError, match=words):
        embedder(lambda _request: response, retries=1).embed_queries(["a"])


def test_a_text_that_the_server_refuses_is_no_fault_of_the_server() -> None:
    with pytest.raises(RefusedTextError, match="HTTP 400: input is too long"):
        embedder(lambda _request: httpx.Response(400, text="input is  too long")).embed_queries(["a"])


def test_a_server_that_is_not_there_is_told_with_the_remedy() -> None:
    def handler(_request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    with pytest.raises(ModelError, match=r"can't be reached.*\n.*embedder\.base_url"):
        embedder(handler, retries=1).embed_queries(["a"])


def test_a_key_that_is_not_set_is_told_before_any_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EMBED_KEY", raising=False)
    with pytest.raises(ModelError, match="EMBED_KEY is not set"):
        embedder(Lengths(), api_key_env="EMBED_KEY").embed_queries(["a"])
