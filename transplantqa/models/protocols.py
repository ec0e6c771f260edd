"""What the stages ask of language models, embedders, rerankers and tokenizers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

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
    """One generation. ``max_tokens`` is room reserved for the reply; ``json_schema`` constrains its shape."""

    id: str
    messages: tuple[Message, ...]
    max_tokens: int
    json_schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Completion:
    """One reply. ``outcome`` is ``ok`` or a failure of the engine's part (overflow, cut, unclosed reasoning, error).

    ``text`` has the reasoning removed, ``raw`` is everything the model wrote. Seconds are wall clock.
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
