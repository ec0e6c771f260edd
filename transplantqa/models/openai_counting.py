"""How many tokens a conversation has, asked of whichever OpenAI-compatible server answers, before it is sent.

Servers offer this beside the API, each in its own way:

- llama-server renders a conversation (``/apply-template``) and tokenizes text (``/tokenize``);
- vLLM tokenizes a conversation (``/tokenize``);
- llama-cpp-python's server counts text (``/extras/tokenize/count``), to which the marks of the chat template are added
  by rule of thumb, as they are for a declared tokenizer.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from transplantqa.models.messages import plain_messages
from transplantqa.models.protocols import Message, PromptTokens, Request, Tokenizer

if TYPE_CHECKING:
    import httpx

MESSAGE_MARKS = 8
"""Tokens of a chat template around a message, at most; Qwen's are five, SmolLM2's six, Llama 3's five. Ours."""

TEMPLATE_BYTES = 256
"""What a chat template may add to a conversation besides, in bytes, before its tokens are worth counting; ours."""

Dialect = Callable[["httpx.AsyncClient", Request], Awaitable[PromptTokens | int | None]]


class PromptCounter:
    """Counts the tokens of requests; the way that a server understands is found at the first and kept.

    Args:
        root: the server's address without the API's version, with a slash at the end.
        body: what every request sends: the model's name and the arguments of its chat template.
        tokenizer: counts instead of the server.
    """

    def __init__(self, root: str, body: Mapping[str, Any], tokenizer: Tokenizer | None) -> None:
        self._root = root
        self._body = body
        self._tokenizer = tokenizer
        self._dialects: Sequence[Dialect] = (self._llama_server, self._vllm, self._llama_cpp_python)

    async def count(self, http: "httpx.AsyncClient", request: Request) -> int | None:
        """Return the tokens of a request's prompt; null where nobody can count them."""
        if self._tokenizer is not None:
            texts = (message["content"] for message in plain_messages(request.messages))
            return sum(len(self._tokenizer.offsets(text)) + MESSAGE_MARKS for text in texts)
        found = await self._asked(http, request)
        return len(found.ids) if isinstance(found, PromptTokens) else found

    async def tokens(self, http: "httpx.AsyncClient", request: Request) -> PromptTokens | None:
        """Return the tokens of a request's prompt; null where the server doesn't show them."""
        found = await self._asked(http, request)
        return found if isinstance(found, PromptTokens) else None

    async def _asked(self, http: "httpx.AsyncClient", request: Request) -> PromptTokens | int | None:
        for dialect in self._dialects:
            found = await dialect(http, request)
            if found is not None:
                self._dialects = (dialect,)
                return found
        self._dialects = ()  # this server counts nothing: it isn't asked again
        return None

    async def _llama_server(self, http: "httpx.AsyncClient", request: Request) -> PromptTokens | None:
        conversation = {**self._body, "messages": plain_messages(request.messages)}
        rendered = await self._post(http, "apply-template", conversation)
        if not isinstance(rendered.get("prompt"), str):
            return None
        text = {"content": rendered["prompt"], "add_special": True, "parse_special": True}
        ids = (await self._post(http, "tokenize", text)).get("tokens")
        return PromptTokens(tuple(ids), await self._begin(http)) if isinstance(ids, list) else None

    async def _begin(self, http: "httpx.AsyncClient") -> int | None:
        """Return llama-server's token of beginning."""
        mark = (await self._get(http, "props")).get("bos_token")
        if not mark:
            return None
        text = {"content": mark, "add_special": False, "parse_special": True}
        ids = (await self._post(http, "tokenize", text)).get("tokens") or []
        return ids[0] if len(ids) == 1 else None

    async def _vllm(self, http: "httpx.AsyncClient", request: Request) -> PromptTokens | None:
        names = ("model", "chat_template_kwargs")
        asked = {name: self._body[name] for name in names if name in self._body}
        conversation = {**asked, "messages": plain_messages(request.messages), "add_generation_prompt": True}
        ids = (await self._post(http, "tokenize", conversation)).get("tokens")
        return PromptTokens(tuple(ids), None) if ids else None

    async def _llama_cpp_python(self, http: "httpx.AsyncClient", request: Request) -> int | None:
        texts = [message["content"] for message in plain_messages(request.messages)]
        asked = {"model": self._body.get("model"), "input": "\n".join(texts)}
        count = (await self._post(http, "extras/tokenize/count", asked)).get("count")
        return count + MESSAGE_MARKS * len(texts) if isinstance(count, int) else None

    async def _post(self, http: "httpx.AsyncClient", path: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        return _mapping(await http.post(self._root + path, json=body))

    async def _get(self, http: "httpx.AsyncClient", path: str) -> Mapping[str, Any]:
        return _mapping(await http.get(self._root + path))


def surely_fits(messages: Sequence[Message], room: int) -> bool:
    """Say whether a conversation has no more tokens than ``room``, whatever the tokenizer: none is less than a byte."""
    return sum(len(message.content.encode("utf-8", "replace")) + TEMPLATE_BYTES for message in messages) <= room


def _mapping(response: "httpx.Response") -> Mapping[str, Any]:
    if not response.is_success or "json" not in response.headers.get("content-type", ""):
        return {}
    found = response.json()
    return found if isinstance(found, Mapping) else {}
