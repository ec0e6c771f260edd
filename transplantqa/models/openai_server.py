"""Any OpenAI-compatible endpoint: ``vllm serve``, llama.cpp's server, a hosted one."""

import asyncio
import queue
import threading
from collections.abc import Coroutine, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeVar

from pydantic import Field

from transplantqa.errors import ModelError
from transplantqa.models.clock import SharedClock
from transplantqa.models.openai_client import ChatClient, Retries, Room
from transplantqa.models.openai_counting import PromptCounter
from transplantqa.models.openai_endpoint import Endpoint
from transplantqa.models.protocols import Completion, Identity, PromptTokens, Request, Tokenizer
from transplantqa.models.sampling import Sampling

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")


class OpenAIServer:
    """Keeps ``concurrency`` requests in flight and yields replies as they come.

    The server is asked once which models it serves. A request that fails is its own failed completion.

    Args:
        base_url: up to and including the version, e.g. ``http://127.0.0.1:8000/v1``.
        model: the model's name as the server knows it.
        context_tokens: room for prompt and reply, as the server was started with.
        tokenizer: counts tokens for budgets; null asks the server, which vLLM and llama.cpp's servers answer.
        temperature: 0 is greedy, as far as the server's arithmetic goes: other batches, other last bits.
        top_p: nucleus; of no effect when greedy.
        seed: of sampling; sent always, honoured by most.
        reasoning: ``on`` or ``off`` sets ``enable_thinking`` for chat templates that know it.
        api_key_env: NAME of the environment variable that holds the key; the key itself is never configured.
        concurrency: requests in flight.
        timeout_seconds: longest wait for one reply.
        retries: further tries of a call that fails for a reason that may pass.
    """

    def __init__(  # noqa: PLR0913 - a component's parameters are its configuration
        self,
        *,
        base_url: str,
        model: str,
        context_tokens: Annotated[int, Field(ge=64)],
        tokenizer: Tokenizer | None = None,
        temperature: Annotated[float, Field(ge=0)] = 0.0,
        top_p: Annotated[float, Field(gt=0, le=1)] = 1.0,
        seed: Annotated[int, Field(ge=0, lt=2**32)] = 0,
        reasoning: Literal["default", "on", "off"] = "default",
        api_key_env: str | None = None,
        concurrency: Annotated[int, Field(ge=1)] = 32,
        timeout_seconds: Annotated[float, Field(gt=0)] = 600.0,
        retries: Annotated[int, Field(ge=0)] = 5,
    ) -> None:
        self.context_tokens = context_tokens
        self._endpoint = Endpoint("model", base_url.rstrip("/") + "/", api_key_env, timeout_seconds)
        self._model = model
        self._tokenizer = tokenizer
        self._sampling = Sampling(temperature, top_p, seed)
        self._reasoning = reasoning
        self._concurrency = concurrency
        self._retries = Retries(retries)
        self._transport: httpx.AsyncBaseTransport | None = None
        self._counter: str | None = None

    def identity(self) -> Identity:
        """Model name, what the server says it is, sampling; the address is no part of it.

        Raises:
            ModelError: if the server can't be reached, refuses the key, or doesn't serve the model.
        """
        return {
            "engine": "openai_server",
            "model": self._model,
            "served": self._served,
            "context_tokens": self.context_tokens,
            "reasoning": self._reasoning,
            **self._sampling.identity(),
        }

    def count_tokens(self, text: str) -> int:
        """Count with the configured tokenizer, else by asking the server.

        Raises:
            ModelError: if there is no tokenizer and the server counts no tokens.
        """
        if self._tokenizer is not None:
            return len(self._tokenizer.offsets(text))
        return self._counted_by_server(text)

    def generate(self, requests: Iterable[Request]) -> Iterator[Completion]:
        """Reply in completion order, reading requests only as fast as the server takes them.

        Raises:
            ModelError: if the server can't be used at all.
        """
        self._served  # noqa: B018 - a server that can't be used is said before the first request
        replies: queue.Queue[Completion] = queue.Queue()
        clock = SharedClock()

        def reply() -> Completion:
            completion = replies.get()
            return replace(completion, seconds=clock.stop(completion.id))

        with _Loop() as loop:
            http = self._http()
            client = self._client(http)
            in_flight = 0
            try:
                for request in requests:
                    clock.start(request.id)
                    loop.start(_deliver(client, request, replies))
                    in_flight += 1
                    if in_flight >= self._concurrency:
                        yield reply()
                        in_flight -= 1
                for _ in range(in_flight):
                    yield reply()
            finally:
                loop.stop(http)

    def prompt_tokens(self, request: Request) -> PromptTokens | None:
        """Return what the server would read, where it shows it (llama-server and vLLM do)."""

        async def ask() -> PromptTokens | None:
            async with self._http() as http:
                return await self._prompt_counter().tokens(http, request)

        return self._asked(ask())

    def close(self) -> None:
        """Forget what the server said; the next call asks again."""
        self.__dict__.pop("_served", None)

    def _body(self) -> dict[str, Any]:
        sampling = self._sampling
        body: dict[str, Any] = {
            "model": self._model,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "seed": sampling.seed,
        }
        if self._reasoning != "default":
            body["chat_template_kwargs"] = {"enable_thinking": self._reasoning == "on"}
        return body

    def _client(self, http: "httpx.AsyncClient") -> ChatClient:
        counter = self._prompt_counter()
        room = Room(self.context_tokens, lambda request: counter.count(http, request))
        return ChatClient(http, self._body(), room=room, retries=self._retries)

    def _prompt_counter(self) -> PromptCounter:
        return PromptCounter(self._root, self._body(), self._tokenizer)

    @property
    def _root(self) -> str:
        """The server's address without the API's version: what it offers beside the API lies there."""
        return "/".join(self._endpoint.base_url.rstrip("/").split("/")[:-1]) + "/"

    def _http(self) -> "httpx.AsyncClient":
        import httpx  # noqa: PLC0415

        return httpx.AsyncClient(
            **self._endpoint.client_settings(),
            limits=httpx.Limits(max_connections=self._concurrency),
            transport=self._transport,
        )

    @cached_property
    def _served(self) -> dict[str, Any] | None:
        """What ``/models`` says of the model; null where a server lists none."""
        status, answer = self._call("GET", "models")
        if status in {401, 403}:
            raise self._endpoint.key_refused(status)
        entries = answer.get("data") if isinstance(answer, Mapping) else None
        if status != 200 or not isinstance(entries, list):
            return None
        by_name = {str(entry.get("id")): entry for entry in entries if isinstance(entry, Mapping)}
        if self._model not in by_name:
            raise ModelError(
                f"{self._endpoint.base_url}: no model {self._model!r} there.\n"
                f"Served: {', '.join(sorted(by_name)) or 'none'}. Set model.model to one of them."
            )
        return _facts(by_name[self._model])

    def _counted_by_server(self, text: str) -> int:
        dialects: dict[str, dict[str, Any]] = {
            "tokenize": {"model": self._model, "prompt": text, "content": text, "add_special_tokens": False},
            "extras/tokenize/count": {"model": self._model, "input": text},
        }
        for path in [self._counter] if self._counter else list(dialects):
            status, answer = self._call("POST", self._root + path, dialects[path])
            if status == 200 and isinstance(answer, Mapping) and ("count" in answer or "tokens" in answer):
                self._counter = path
                return int(answer["count"]) if "count" in answer else len(answer["tokens"])
        raise ModelError(
            f"{self._endpoint.base_url}: the server counts no tokens.\n"
            "Declare a tokenizer: +model.tokenizer._target_=transplantqa.models.WordPieceTokenizer"
        )

    def _call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> tuple[int, object]:
        async def call() -> tuple[int, object]:
            async with self._http() as http:
                response = await http.request(method, path, json=body)
                is_json = "json" in response.headers.get("content-type", "")
                return response.status_code, response.json() if is_json else None

        return self._asked(call())

    def _asked(self, question: Coroutine[object, object, T]) -> T:
        import httpx  # noqa: PLC0415

        try:
            with _Loop() as loop:
                return loop.result(question)
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise self._endpoint.unreachable(error) from error


class _Loop:
    """An event loop in a thread of its own, so that callers stay synchronous, inside notebooks too."""

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="openai_server", daemon=True)
        self._thread.start()
        return self

    def start(self, coroutine: Coroutine[object, object, None]) -> None:
        asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def result(self, coroutine: Coroutine[object, object, T]) -> T:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    def stop(self, http: "httpx.AsyncClient") -> None:
        self.result(_wind_down(http))

    def __exit__(self, *_exception: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _wind_down(http: "httpx.AsyncClient") -> None:
    """Cancel what is in flight, for a caller that stopped early, and close the connections."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await http.aclose()


async def _deliver(client: ChatClient, request: Request, replies: "queue.Queue[Completion]") -> None:
    replies.put(await client.complete(request))


def _facts(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Keep what identifies weights: id, the base model's id unless it is a path, and sizes that llama.cpp reports."""
    facts: dict[str, Any] = {"id": entry.get("id"), "owned_by": entry.get("owned_by")}
    root = entry.get("root")
    if isinstance(root, str) and not root.startswith(("/", ".", "~")):
        facts["root"] = root
    meta = entry.get("meta")
    if isinstance(meta, Mapping):
        facts.update({key: meta[key] for key in ("n_params", "n_vocab", "size") if key in meta})
    return facts
