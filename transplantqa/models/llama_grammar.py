"""Greedy choice of tokens under a grammar, asking the grammar about few of them."""

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

Logits = NDArray[np.float32]

TOKEN_DATA = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])
"""llama.cpp's ``llama_token_data``."""

FIRST_ASKED = 128
"""Likeliest tokens put to the grammar before all of them are: a whole vocabulary takes longer than a token. Ours."""


class GreedyGrammar:
    """Chooses the likeliest token that a grammar allows next, exactly as if all had been put to it.

    Args:
        library: the ``llama_cpp`` module.
        vocabulary: the model's vocabulary.
        grammar: GBNF with the rule ``root``.

    Raises:
        ValueError: if llama.cpp refuses the grammar.
    """

    def __init__(self, library: Any, vocabulary: Any, grammar: str) -> None:
        self._library = library
        self._sampler = library.llama_sampler_init_grammar(vocabulary, grammar.encode(), b"root")
        if not self._sampler:
            raise ValueError("llama.cpp refused the grammar")

    def choose(self, logits: Logits) -> int:
        """Return the next token and go on behind it.

        Raises:
            RuntimeError: if the grammar allows no token.
        """
        token = self._likeliest(logits, np.argpartition(logits, -FIRST_ASKED)[-FIRST_ASKED:])
        if token is None:
            token = self._likeliest(logits, np.arange(len(logits)))
        if token is None:
            raise RuntimeError("the grammar allows no token here")
        self._library.llama_sampler_accept(self._sampler, token)
        return token

    def close(self) -> None:
        """Release the memory."""
        self._library.llama_sampler_free(self._sampler)

    def _likeliest(self, logits: Logits, tokens: NDArray[np.int64]) -> int | None:
        data = np.zeros(len(tokens), dtype=TOKEN_DATA)
        data["id"], data["logit"] = np.sort(tokens), logits[np.sort(tokens)]
        candidates = self._library.llama_token_data_array(
            data=ctypes.cast(data.ctypes.data, self._library.llama_token_data_p),
            size=len(data),
            selected=-1,
            sorted=False,
        )
        self._library.llama_sampler_apply(self._sampler, ctypes.byref(candidates))
        best = int(np.argmax(data["logit"]))
        return int(data["id"][best]) if np.isfinite(data["logit"][best]) else None
