"""What the stages ask of language models, embedders, rerankers and tokenizers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from transplantqa.records import Outcome

Vectors = NDArray[np.float32]
Identity = Mapping[str, Any]
"""JSON-safe facts that change what a component produces, and none that can't: hashed into stage fingerprints."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Request:
    """One generation. ``max_tokens`` is room reserved for the reply; ``json_schema`` constrains its shape.

    ``draw`` numbers independent replies to one prompt, from 0: it is added to the seed of sampling.
    """

    id: str
    messages: tuple[Message, ...]
    max_tokens: int
    json_schema: Mapping[str, Any] | None = None
    draw: int = 0


@dataclass(frozen=True, slots=True)
class Completion:
    """One reply. ``outcome`` is ``ok`` or a failure of the engine's part (overflow, cut, unclosed reasoning, error).

    ``text`` has the reasoning removed, ``raw`` is everything the model wrote. ``seconds`` are the request's share of
    the engine's wall clock: requests in flight together share it, so that many add up to the time they took.
    """

    id: str
    outcome: Outcome
    text: str
    raw: str = ""
    reasoning: str | None = None
    finish_reason: str | None = None
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    error: str | None = None


@dataclass(frozen=True, slots=True)
class PromptTokens:
    """What a model reads for a request. ``begin`` is its token of beginning, null where it has none or won't say."""

    ids: tuple[int, ...]
    begin: int | None

    @property
    def beginnings(self) -> int:
        """Tokens of beginning at the head of the prompt: one, where the model has such a token."""
        return next((place for place, token in enumerate(self.ids) if token != self.begin), len(self.ids))


@runtime_checkable
class ShowsPrompt(Protocol):
    """A language model that can show what it would read."""

    def prompt_tokens(self, request: Request) -> PromptTokens | None:
        """Return the tokens of a request's prompt, template applied; null where they can't be had after all."""
        ...


class LanguageModel(Protocol):
    """A stream of replies: ids in are ids out, in completion order, one ``Completion`` for every ``Request``."""

    context_tokens: int

    def identity(self) -> Identity:
        """Weights (repo and revision, or file hash), chat template hash, engine and version, sampling."""
        ...

    def count_tokens(self, text: str) -> int:
        """Count the tokens of ``text`` as this model would see them, without special tokens."""
        ...

    def generate(self, requests: Iterable[Request]) -> Iterator[Completion]:
        """Reply to each request; a bad one becomes its own failed completion and never stops the others."""
        ...

    def close(self) -> None:
        """Release memory; the next ``generate`` loads again."""
        ...


class Tokenizer(Protocol):
    """Counts and locates tokens, for chunk sizes and budgets."""

    def identity(self) -> Identity:
        """Name and content hash."""
        ...

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Return the character span of every token of ``text``, without special tokens and without truncation."""
        ...


class Embedder(Protocol):
    """Unit vectors whose dot product is cosine similarity."""

    def identity(self) -> Identity:
        """Weights' hash or revision, pooling, prefixes, window."""
        ...

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed questions: float32, shape (len(texts), dimensions)."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed passages: float32, shape (len(texts), dimensions)."""
        ...


class Reranker(Protocol):
    """Scores (question, passage) together."""

    def identity(self) -> Identity:
        """Weights' hash or revision and method."""
        ...

    def score(self, question: str, passages: Sequence[str]) -> list[float]:
        """Return one relevance score a passage, higher is better, in the order given."""
        ...
