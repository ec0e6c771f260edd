"""The embedded language model: a GGUF file run by llama.cpp in this process."""

import json
import time
from collections.abc import Iterable, Iterator
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, Literal

from pydantic import Field

from transplantqa.errors import ModelError
from transplantqa.models.chat_template import ChatTemplate, template_source
from transplantqa.models.cores import usable_cores
from transplantqa.models.gguf import GgufHeader, read_header
from transplantqa.models.llama_engine import LlamaEngine, block_tokens
from transplantqa.models.llama_vocabulary import LlamaVocabulary
from transplantqa.models.messages import plain_messages
from transplantqa.models.protocols import Completion, Identity, PromptTokens, Request
from transplantqa.models.reasoning import settle
from transplantqa.models.sampling import Sampling
from transplantqa.models.weights import locate
from transplantqa.records import Outcome
from transplantqa.store.hashing import file_sha256, text_sha256

Reasoning = Literal["default", "on", "off"]
OPEN_BLOCK, CLOSE_BLOCK = "<think>\n", "</think>"


class LlamaCpp:
    """One request at a time, in the order given: neighbours that share a prompt prefix cost only what differs.

    A schema is enforced token by token. A reply depends on its request alone, not on what came before: prefixes are
    reused in a way that keeps the arithmetic the same to the last bit. Another kind of processor may differ there.

    Args:
        weights: the GGUF (see ``weights.locate``): a path, ``package:NAME/FILE`` or ``hub:OWNER/REPO/FILE@REVISION``.
        context_tokens: room for prompt and reply; at most what the model was trained for.
        temperature: 0 is greedy.
        top_p: nucleus; of no effect when greedy.
        seed: of sampling; of no effect when greedy.
        reasoning: ``on`` makes the model think before it replies, also before a reply with a schema; ``off`` tells
            templates that know ``enable_thinking`` not to; ``default`` leaves it to the template.
        chat_template: ``chatml`` or a Jinja file, instead of the template inside the GGUF.
        threads: null takes every core this process may use.
        gpu_layers: layers put on a GPU, -1 for all; needs llama-cpp-python built for it.
    """

    def __init__(  # noqa: PLR0913 - a component's parameters are its configuration
        self,
        *,
        weights: str,
        context_tokens: Annotated[int, Field(ge=64)] = 4096,
        temperature: Annotated[float, Field(ge=0)] = 0.0,
        top_p: Annotated[float, Field(gt=0, le=1)] = 1.0,
        seed: Annotated[int, Field(ge=0, lt=2**32)] = 0,
        reasoning: Reasoning = "default",
        chat_template: str | None = None,
        threads: Annotated[int, Field(ge=1)] | None = None,
        gpu_layers: Annotated[int, Field(ge=-1)] = 0,
    ) -> None:
        self.context_tokens = context_tokens
        self._weights = weights
        self._sampling = Sampling(temperature, top_p, seed)
        self._reasoning: Reasoning = reasoning
        self._template_name = chat_template
        self._threads = threads
        self._gpu_layers = gpu_layers

    def identity(self) -> Identity:
        """File and chat template hashes, engine and version, sampling; weights on the Hub are downloaded first.

        Raises:
            ModelError: if the weights can't be found, have no chat template, or were trained for a shorter context.
        """
        self._check_context()
        return {
            "engine": "llama_cpp",
            "engine_version": _engine_version(),
            "weights_sha256": file_sha256(locate(self._weights)),
            "chat_template_sha256": text_sha256(self._template_source),
            "context_tokens": self.context_tokens,
            "block_tokens": block_tokens(self._gpu_layers),
            "reasoning": self._reasoning,
            **self._sampling.identity(),
        }

    def count_tokens(self, text: str) -> int:
        """Count the model's tokens of ``text``, without special tokens; the weights aren't loaded for it."""
        return self._vocabulary.count(text)

    def generate(self, requests: Iterable[Request]) -> Iterator[Completion]:
        """Reply in the order asked.

        Raises:
            ModelError: if the model can't be loaded.
        """
        for request in requests:
            self._engine  # noqa: B018 - loading the model is no part of a reply's time
            started = time.perf_counter()
            prompt = self._prompt(request)
            yield prompt if isinstance(prompt, Completion) else self._reply(request, prompt, started)

    def prompt_tokens(self, request: Request) -> PromptTokens | None:
        """Return what the model would read; null where the template refuses the messages."""
        tokens = self._prompt(request)
        return None if isinstance(tokens, Completion) else PromptTokens(tuple(tokens), self._engine.begin)

    def close(self) -> None:
        """Release the model's memory; the next ``generate`` loads it again."""
        engine = self.__dict__.pop("_engine", None)
        self.__dict__.pop("_template", None)
        vocabulary = self.__dict__.pop("_vocabulary", None)
        if vocabulary is not None:
            vocabulary.close()
        if engine is not None:
            engine.close()

    def _prompt(self, request: Request) -> list[int] | Completion:
        try:
            text = self._template.render(plain_messages(request.messages))
        except ValueError as error:
            return Completion(request.id, Outcome.ENGINE_ERROR, "", error=str(error))
        if self._reasoning == "on" and not text.rstrip().endswith(OPEN_BLOCK.strip()):
            text += OPEN_BLOCK
        tokens = self._engine.prompt_tokens(text)
        if len(tokens) + request.max_tokens <= self.context_tokens:
            return tokens
        reason = f"prompt {len(tokens)} + reply {request.max_tokens} tokens > context {self.context_tokens}"
        return Completion(request.id, Outcome.CONTEXT_OVERFLOW, "", prompt_tokens=len(tokens), error=reason)

    def _reply(self, request: Request, prompt: list[int], started: float) -> Completion:
        cached = self._engine.reusable_prefix(prompt)
        try:
            reply, ended = self._tokens(request, prompt)
        except (ValueError, RuntimeError) as error:
            return Completion(request.id, Outcome.ENGINE_ERROR, "", prompt_tokens=len(prompt), error=str(error))
        raw = self._engine.text(reply, after=prompt)
        finish_reason = "stop" if ended else "length"
        settled = settle(raw, finish_reason, opened=self._opened(prompt))
        return Completion(
            request.id,
            settled.outcome,
            settled.text,
            raw=raw,
            reasoning=settled.reasoning,
            finish_reason=finish_reason,
            prompt_tokens=len(prompt),
            cached_tokens=cached,
            completion_tokens=len(reply),
            seconds=time.perf_counter() - started,
            error=settled.error,
        )

    def _tokens(self, request: Request, prompt: list[int]) -> tuple[list[int], bool]:
        """Return the reply's tokens, and whether the model ended it; with a schema it thinks first, unconstrained."""
        schema = None if request.json_schema is None else _schema_text(request.json_schema)
        sampling = self._sampling.for_draw(request.draw)
        reply: list[int] = []
        if schema is not None and self._reasoning == "on":
            for token in self._engine.decode(prompt, sampling, None):
                reply.append(token)
                if CLOSE_BLOCK in self._engine.text(reply[-8:]):
                    break
                if len(reply) >= request.max_tokens:
                    return reply, False
            else:
                return reply, True
        for token in self._engine.decode(prompt, sampling, schema, written=reply):
            if len(reply) >= request.max_tokens:
                return reply, False
            reply.append(token)
        return reply, True

    def _opened(self, prompt: list[int]) -> bool:
        return self._reasoning == "on" or self._engine.text(prompt[-4:]).rstrip().endswith(OPEN_BLOCK.strip())

    @cached_property
    def _engine(self) -> LlamaEngine:
        self._check_context()
        return LlamaEngine(
            locate(self._weights),
            context_tokens=self.context_tokens,
            threads=self._threads or usable_cores(),
            gpu_layers=self._gpu_layers,
        )

    def _check_context(self) -> None:
        trained = self._header.trained_context_tokens
        if trained is not None and self.context_tokens > trained:
            raise ModelError(
                f"context_tokens={self.context_tokens}: the model {self._weights!r} was trained for {trained}.\n"
                f"Set context_tokens to {trained} or less."
            )

    @cached_property
    def _vocabulary(self) -> LlamaVocabulary:
        self._check_context()
        return LlamaVocabulary(locate(self._weights))

    @cached_property
    def _template(self) -> ChatTemplate:
        thinking = {} if self._reasoning == "default" else {"enable_thinking": self._reasoning == "on"}
        return ChatTemplate(self._template_source, special_tokens=self._engine.special_tokens, arguments=thinking)

    @cached_property
    def _template_source(self) -> str:
        named = self._template_name
        source = self._header.chat_template if named is None else template_source(named)
        if source is None:
            raise ModelError(
                f"the model {self._weights!r} has no chat template in its file.\n"
                "Set chat_template=chatml, or to the Jinja file that its authors publish."
            )
        return source

    @cached_property
    def _header(self) -> GgufHeader:
        return read_header(locate(self._weights))


def _schema_text(schema: object) -> str:
    return json.dumps(schema, ensure_ascii=False)


def _engine_version() -> str:
    try:
        return version("llama-cpp-python")
    except PackageNotFoundError as error:
        raise ModelError("llama-cpp-python is not installed.\nInstall it: pip install llama-cpp-python") from error
