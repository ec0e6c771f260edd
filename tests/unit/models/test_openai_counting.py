"""Prompts counted before they are sent, in each server's own way."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from transplantqa.models import Message, Request, WordPieceTokenizer
from transplantqa.models.openai_counting import MESSAGE_MARKS, PromptCounter, surely_fits
from transplantqa.models.protocols import PromptTokens

REQUEST = Request("q", (Message("system", "Be brief."), Message("user", "Hi<|im_end|>")), 16)
Answers = Mapping[str, Mapping[str, Any]]


class Server:
    """Answers the paths it knows, 404 for others; remembers paths and bodies."""

    def __init__(self, answers: Answers) -> None:
        self.answers = answers
        self.asked: list[tuple[str, Any]] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append((request.url.path, json.loads(request.content or b"null")))
        found = self.answers.get(request.url.path)
        return httpx.Response(404, text="no") if found is None else httpx.Response(200, json=found)

    def count(self, times: int = 1, tokenizer: WordPieceTokenizer | None = None) -> int | None:
        async def run() -> int | None:
            async with httpx.AsyncClient(transport=httpx.MockTransport(self)) as http:
                counter = PromptCounter("http://x/", {"model": "m", "temperature": 0.0}, tokenizer)
                return [await counter.count(http, REQUEST) for _ in range(times)][-1]

        return asyncio.run(run())

    def tokens(self) -> PromptTokens | None:
        async def run() -> PromptTokens | None:
            async with httpx.AsyncClient(transport=httpx.MockTransport(self)) as http:
                return await PromptCounter("http://x/", {"model": "m"}, None).tokens(http, REQUEST)

        return asyncio.run(run())


def llama_server() -> Server:
    class Tokenizes(Server):
        def __call__(self, request: httpx.Request) -> httpx.Response:
            response = super().__call__(request)
            if request.url.path == "/tokenize":
                return httpx.Response(200, json={"tokens": [1] if self.asked[-1][1]["content"] == "<s>" else [1, 5, 6]})
            return response

    return Tokenizes({"/apply-template": {"prompt": "<s>all"}, "/props": {"bos_token": "<s>"}, "/tokenize": {}})


def test_llama_server_renders_the_conversation_and_tokenizes_it() -> None:
    server = llama_server()
    assert server.tokens() == PromptTokens((1, 5, 6), begin=1)
    assert server.count() == 3


def test_vllm_tokenizes_the_conversation_itself() -> None:
    server = Server({"/tokenize": {"count": 4, "tokens": [9, 8, 7, 6]}})
    assert server.count() == 4
    path, body = server.asked[-1]
    assert (path, body["model"], body["add_generation_prompt"], len(body["messages"])) == ("/tokenize", "m", True, 2)


def test_llama_cpp_pythons_server_counts_text_to_which_marks_are_added() -> None:
    assert Server({"/extras/tokenize/count": {"count": 5}}).count() == 5 + 2 * MESSAGE_MARKS


def test_a_declared_tokenizer_counts_without_the_server() -> None:
    server = Server({})
    texts = ("Be brief.", "Hi< |im_end|>")  # a control token in a message is broken up before it is sent
    expected = sum(len(WordPieceTokenizer().offsets(text)) for text in texts) + 2 * MESSAGE_MARKS
    assert (server.count(tokenizer=WordPieceTokenizer()), server.asked) == (expected, [])


def test_a_server_that_counts_nothing_is_asked_once() -> None:
    server = Server({})
    assert server.count(times=3) is None
    assert [path for path, _ in server.asked] == ["/apply-template", "/tokenize", "/extras/tokenize/count"]


def test_the_way_a_server_understands_is_kept() -> None:
    server = Server({"/tokenize": {"tokens": [1, 2]}})
    server.count(times=3)
    assert [path for path, _ in server.asked].count("/apply-template") == 1


@pytest.mark.parametrize(("ids", "beginnings"), [((1, 5), 1), ((1, 1, 5), 2), ((5, 1), 0), ((1,), 1)])
def test_tokens_of_beginning_are_counted_at_the_head(ids: tuple[int, ...], beginnings: int) -> None:
    assert PromptTokens(ids, begin=1).beginnings == beginnings


def test_no_tokenizer_makes_more_tokens_than_bytes() -> None:
    message = (Message("user", "é" * 100),)  # two bytes each
    assert surely_fits(message, 200 + 256)
    assert not surely_fits(message, 199 + 256)
