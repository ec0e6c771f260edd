"""One chat completion over HTTP, in the dialect of whichever OpenAI-compatible server answers."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from transplantqa.models.messages import plain_messages
from transplantqa.models.openai_counting import surely_fits
from transplantqa.models.openai_endpoint import LONGEST_WAIT_SECONDS, RETRIED_STATUSES, wished_wait
from transplantqa.models.protocols import Completion, Request
from transplantqa.models.reasoning import settle
from transplantqa.records import Outcome
from transplantqa.store.hashing import text_sha256

if TYPE_CHECKING:
    import httpx

SchemaDialect = Literal["json_schema", "json_object"]
DIALECTS: tuple[SchemaDialect, ...] = ("json_schema", "json_object")
OVERFLOW_SIGNS = (
    "maximum context length",
    "context_length_exceeded",
    "exceed_context_size",
    "context size",
    "context window",
)


class _RefusedError(Exception):
    """The server answered, and its answer is no."""

    def __init__(self, status: int, body: str) -> None:
        super().__init__(f"HTTP {status}: {_reason(body)}")
        self.status = status
        self.overflow = status in {400, 413, 422, 500} and any(sign in body.lower() for sign in OVERFLOW_SIGNS)


@dataclass(frozen=True, slots=True)
class Retries:
    """How often a failing call is tried again, and how long the first wait is; each next wait doubles."""

    times: int
    first_wait_seconds: float = 0.5


@dataclass(frozen=True, slots=True)
class Room:
    """The context that prompt and reserved reply must fit, and who counts a prompt: null where nobody can."""

    context_tokens: int
    count: Callable[[Request], Awaitable[int | None]]

    def exceeded(self, prompt_tokens: int, request: Request) -> str | None:
        """Return why a request doesn't fit; null where it does."""
        if prompt_tokens + request.max_tokens <= self.context_tokens:
            return None
        return f"prompt {prompt_tokens} + reply {request.max_tokens} tokens > context {self.context_tokens}"


class ChatClient:
    """Sends requests to ``/chat/completions`` and turns every answer, also a refusal, into a completion.

    Room for the reply is reserved before the call: a prompt that leaves none is never sent, unless nobody can count
    it; then the server's own count decides afterwards. A schema is sent as ``json_schema`` first and as ``json_object``
    with a schema when a server refuses or ignores it; what a server obeyed is remembered. Waits honour ``Retry-After``.

    Args:
        http: the client, with its base address, headers and timeouts.
        body: what every request sends: model, sampling, template arguments.
        room: what prompt and reserved reply must fit.
        retries: of calls that fail for a reason that may pass.
        sleep: waits between tries.
    """

    def __init__(
        self,
        http: "httpx.AsyncClient",
        body: Mapping[str, Any],
        *,
        room: Room,
        retries: Retries,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._http = http
        self._body = dict(body)
        self._room = room
        self._retries = retries
        self._sleep = sleep
        self._dialect: SchemaDialect | None = None
        self._thinks = bool(self._body.get("chat_template_kwargs", {}).get("enable_thinking"))

    async def complete(self, request: Request) -> Completion:
        """Return the completion of ``request``; whatever fails is its outcome, never an exception."""
        import httpx  # noqa: PLC0415

        started = time.perf_counter()
        try:
            overflow = await self._overflow(request)
            if overflow is not None:
                return overflow
            answer = await self._answer(request)
            return self._read(request, answer, time.perf_counter() - started)
        except _RefusedError as error:
            outcome = Outcome.CONTEXT_OVERFLOW if error.overflow else Outcome.ENGINE_ERROR
            return Completion(request.id, outcome, "", error=str(error))
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            detail = f"{type(error).__name__}: {error}".rstrip(": ")
            return Completion(request.id, Outcome.ENGINE_ERROR, "", error=detail)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            detail = f"the server's answer is not a chat completion ({type(error).__name__}: {error})"
            return Completion(request.id, Outcome.ENGINE_ERROR, "", error=detail)

    async def _overflow(self, request: Request) -> Completion | None:
        """Return the outcome of a request that won't fit; prompts that can't but fit aren't counted."""
        if surely_fits(request.messages, self._room.context_tokens - request.max_tokens):
            return None
        counted = await self._room.count(request)
        reason = None if counted is None else self._room.exceeded(counted, request)
        if counted is None or reason is None:
            return None
        return Completion(request.id, Outcome.CONTEXT_OVERFLOW, "", prompt_tokens=counted, error=reason)

    async def _answer(self, request: Request) -> dict[str, Any]:
        """Return the server's JSON, in the first schema dialect that it accepts and obeys."""
        body = {**self._body, "messages": plain_messages(request.messages), "max_tokens": request.max_tokens}
        if request.draw:
            body["seed"] = int(body.get("seed", 0)) + request.draw
        if request.json_schema is None:
            return await self._post(request.id, body, retried=RETRIED_STATUSES)
        if self._dialect is not None:
            body["response_format"] = _response_format(self._dialect, request.json_schema)
            return await self._post(request.id, body, retried=RETRIED_STATUSES)
        first: dict[str, Any] | None = None
        refusal: _RefusedError | None = None
        for dialect in DIALECTS:
            body["response_format"] = _response_format(dialect, request.json_schema)
            try:
                # A server that can't read a dialect may say so with a 500, which therefore isn't tried again here.
                answer = await self._post(request.id, body, retried=RETRIED_STATUSES - {500})
            except _RefusedError as error:
                if error.overflow or error.status in {401, 403}:
                    raise
                refusal = refusal or error
                continue
            if _obeys(answer, request.json_schema):
                self._dialect = dialect
                return answer
            first = first or answer
        if first is not None:
            return first
        assert refusal is not None  # noqa: S101 - neither an answer nor a refusal is impossible
        raise refusal

    async def _post(self, request_id: str, body: Mapping[str, Any], *, retried: frozenset[int]) -> dict[str, Any]:
        import httpx  # noqa: PLC0415

        for tried in range(self._retries.times + 1):
            last = tried == self._retries.times
            retry_after = None
            try:
                response = await self._http.post("chat/completions", json=body)
            except httpx.TransportError:
                if last:
                    raise
            else:
                if response.is_success:
                    return response.json()  # type: ignore[no-any-return]
                refused = _RefusedError(response.status_code, response.text)
                if last or response.status_code not in retried or refused.overflow:
                    raise refused
                retry_after = response.headers.get("retry-after")
            await self._sleep(self._wait(request_id, tried, retry_after))
        raise AssertionError  # unreachable: the last try returns or raises

    def _wait(self, request_id: str, tried: int, retry_after: str | None) -> float:
        """Return the server's wish, or a doubling wait spread by request so that they don't all come back at once."""
        wished = wished_wait(retry_after)
        if wished is not None:
            return wished
        spread = 0.5 + int(text_sha256(f"{request_id}/{tried}")[:8], 16) / 0xFFFFFFFF
        return min(float(self._retries.first_wait_seconds * 2**tried * spread), LONGEST_WAIT_SECONDS)

    def _read(self, request: Request, answer: Mapping[str, Any], seconds: float) -> Completion:
        choice = answer["choices"][0]
        message = choice["message"]
        content = message.get("content") or ""
        thought = message.get("reasoning_content") or message.get("reasoning")
        usage = answer.get("usage") or {}
        prompt_tokens = int(usage.get("prompt_tokens") or 0)
        finish_reason = choice.get("finish_reason")
        # A server that doesn't take reasoning apart shows none of the mark with which its template began it.
        opened = self._thinks and finish_reason == "length" and not thought
        settled = settle(content, finish_reason, reasoning=thought, opened=opened)
        outcome, text, error = settled.outcome, settled.text, settled.error
        exceeded = self._room.exceeded(prompt_tokens, request)
        if exceeded is not None:
            outcome, text, error = Outcome.CONTEXT_OVERFLOW, "", exceeded
        return Completion(
            request.id,
            outcome,
            text,
            raw=f"<think>{thought}</think>{content}" if thought else content,
            reasoning=settled.reasoning,
            finish_reason=finish_reason,
            prompt_tokens=prompt_tokens,
            cached_tokens=int((usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0),
            completion_tokens=int(usage.get("completion_tokens") or 0),
            seconds=seconds,
            error=error,
        )


def _response_format(dialect: SchemaDialect, schema: Mapping[str, Any]) -> dict[str, Any]:
    if dialect == "json_object":
        return {"type": "json_object", "schema": schema}
    return {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": schema}}


def _obeys(answer: Mapping[str, Any], schema: Mapping[str, Any]) -> bool:
    """Tell whether a reply is a JSON object with the schema's required keys, or was cut before it could be."""
    choice = answer["choices"][0]
    try:
        value = json.loads(settle(choice["message"].get("content") or "", None).text, strict=False)
    except ValueError:
        return choice.get("finish_reason") == "length" and (choice["message"].get("content") or "").lstrip().startswith(
            "{"
        )
    return isinstance(value, dict) and set(schema.get("required", ())) <= set(value)


def _reason(body: str) -> str:
    try:
        value = json.loads(body)
    except ValueError:
        return body[:300].strip()
    detail = value.get("error", value) if isinstance(value, dict) else value
    detail = detail.get("message", detail) if isinstance(detail, dict) else detail
    return str(detail)[:300]
