"""FlagEmbedding's encoders and cross-encoders (the BGE family): an extra (``pip install 'transplantqa[flag]'``).

It brings torch, so ``.ci/flag`` tests it with real weights in an environment of its own; the test suite has a stand-in.
Known of the library: 1.4.2 can't be imported with transformers 5.24 or later.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from transplantqa.errors import ModelError
from transplantqa.models.protocols import Identity
from transplantqa.models.weights import model_facts, revision_to_load

Vectors = NDArray[np.float32]
Precision = Literal["float32", "float16"]
Count = Annotated[int, Field(ge=1)]


class FlagEmbedder:
    """Sentence vectors of an encoder such as ``BAAI/bge-base-en-v1.5``, of unit length.

    Texts longer than the window are cut, which is said on the error stream with their number.

    Args:
        model: a folder, or a Hub id.
        revision: branch, tag or commit of a Hub id; a commit makes the identity exact.
        pooling: ``cls`` for BGE; ``mean`` for MiniLM and others trained so.
        query_prefix: the instruction put before each query; the default is BGE's for English.
        passage_prefix: put before each passage; empty for BGE.
        window_tokens: the most tokens read of a text.
        precision: float16 needs a GPU.
        device: ``cpu``, ``cuda:0`` and so on; null lets the library choose, which takes every GPU there is.
        batch_texts: texts run through the model at once, of near-equal length.
    """

    def __init__(  # noqa: PLR0913 - a component's parameters are its configuration
        self,
        *,
        model: str,
        revision: str | None = None,
        pooling: Literal["cls", "mean"] = "cls",
        query_prefix: str = "Represent this sentence for searching relevant passages: ",
        passage_prefix: str = "",
        window_tokens: Annotated[int, Field(ge=8)] = 512,
        precision: Precision = "float32",
        device: str | None = None,
        batch_texts: Count = 32,
    ) -> None:
        self._library = _Library(model, revision, precision, device)
        self._pooling = pooling
        self._query_prefix = query_prefix
        self._passage_prefix = passage_prefix
        self._window_tokens = window_tokens
        self._batch_texts = batch_texts

    def identity(self) -> Identity:
        """Weights, library version, pooling, prefixes, window, precision.

        Raises:
            ModelError: if the library is not installed.
        """
        return {
            "embedder": "flag",
            **self._library.identity(),
            "pooling": self._pooling,
            "query_prefix": self._query_prefix,
            "passage_prefix": self._passage_prefix,
            "window_tokens": self._window_tokens,
        }

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed questions: float32, shape (len(texts), dimensions), rows of unit length."""
        return self._embed([self._query_prefix + text for text in texts], "questions")

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed passages: float32, shape (len(texts), dimensions), rows of unit length."""
        return self._embed([self._passage_prefix + text for text in texts], "passages")

    def _embed(self, texts: list[str], what: str) -> Vectors:
        if not texts:
            return np.zeros((0, 0), dtype=np.float32)
        _say_cut(self._engine.tokenizer, texts, self._window_tokens, what)
        found = self._engine.encode(texts, batch_size=self._batch_texts, max_length=self._window_tokens)
        vectors = np.asarray(found, dtype=np.float32)
        unit: Vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.float32(1e-12))
        return unit

    @cached_property
    def _engine(self) -> Any:
        return self._library.load("FlagModel", pooling_method=self._pooling, normalize_embeddings=True)


class FlagReranker:
    """Scores of a cross-encoder such as ``BAAI/bge-reranker-base``: logits, comparable within a question.

    A question is cut to three quarters of the window, and the passage to what the question leaves of it.

    Args:
        model: a folder, or a Hub id.
        revision: branch, tag or commit of a Hub id; a commit makes the identity exact.
        window_tokens: the most tokens of question and passage together.
        precision: float16 needs a GPU.
        device: ``cpu``, ``cuda:0`` and so on; null lets the library choose, which takes every GPU there is.
        batch_texts: pairs run through the model at once, of near-equal length.
    """

    def __init__(
        self,
        *,
        model: str,
        revision: str | None = None,
        window_tokens: Annotated[int, Field(ge=8)] = 512,
        precision: Precision = "float32",
        device: str | None = None,
        batch_texts: Count = 32,
    ) -> None:
        self._library = _Library(model, revision, precision, device)
        self._window_tokens = window_tokens
        self._batch_texts = batch_texts

    def identity(self) -> Identity:
        """Weights, library version, window, precision.

        Raises:
            ModelError: if the library is not installed.
        """
        return {
            "reranker": "flag",
            **self._library.identity(),
            "window_tokens": self._window_tokens,
        }

    def score(self, question: str, passages: Sequence[str]) -> list[float]:
        """Return one score a passage, higher is better, in the order given."""
        if not passages:
            return []
        pairs = [(question, passage) for passage in passages]
        found = self._engine.compute_score(pairs, batch_size=self._batch_texts, max_length=self._window_tokens)
        return [float(score) for score in np.atleast_1d(np.asarray(found, dtype=np.float64))]

    @cached_property
    def _engine(self) -> Any:
        return self._library.load("FlagReranker")


@dataclass(frozen=True, slots=True)
class _Library:
    """How FlagEmbedding loads a model, of either kind."""

    model: str
    revision: str | None
    precision: Precision
    device: str | None

    def identity(self) -> Identity:
        facts = model_facts(self.model, self.revision)
        return {"engine_version": _library_version(), **facts, "precision": self.precision}

    def load(self, kind: str, **settings: Any) -> Any:
        try:
            library = import_module("FlagEmbedding")
        except ImportError as error:
            raise _missing(error) from error
        try:
            return getattr(library, kind)(
                _folder(self.model, self.revision),
                use_fp16=self.precision == "float16",
                devices=self.device,
                trust_remote_code=False,
                **settings,
            )
        except (OSError, ValueError, RuntimeError) as error:
            reason = str(error).strip().partition("\n")[0]
            raise ModelError(
                f"FlagEmbedding can't load {self.model!r} ({reason}).\n"
                "Give a folder with the model's files, or its Hub id."
            ) from error


def _folder(model: str, revision: str | None) -> str:
    """Return the model's folder; a Hub repository is fetched at its revision, which the library can't be told."""
    if Path(model).expanduser().is_dir():
        return str(Path(model).expanduser())
    from huggingface_hub import errors, snapshot_download  # noqa: PLC0415

    try:
        return snapshot_download(model, revision=revision_to_load(model, revision))
    except (errors.HfHubHTTPError, errors.OfflineModeIsEnabled) as error:
        raise OSError(str(error)) from error


def _say_cut(tokenizer: Any, texts: list[str], window_tokens: int, what: str) -> None:
    lengths = [len(ids) for ids in tokenizer(texts, truncation=False)["input_ids"]]
    cut = sum(length > window_tokens for length in lengths)
    if cut:
        sys.stderr.write(
            f"embedder: {cut:,} {what} are longer than its window of {window_tokens:,} tokens and are cut, "
            f"the longest of {max(lengths):,}\n"
        )


def _library_version() -> str:
    try:
        return version("FlagEmbedding")
    except PackageNotFoundError as error:
        raise _missing(error) from error


def _missing(error: Exception) -> ModelError:
    return ModelError(
        f"FlagEmbedding can't be used ({str(error).partition(chr(10))[0]}).\n"
        "Install the extra: pip install 'transplantqa[flag]'; it needs transformers below 5.24."
    )
