"""Reranking by late interaction: each token of the question finds its best match in the passage (MaxSim)."""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Annotated, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from transplantqa.errors import ConfigError
from transplantqa.models.protocols import Embedder, Identity
from transplantqa.store.hashing import text_sha256

Vectors = NDArray[np.float32]


@runtime_checkable
class TokenEmbedder(Embedder, Protocol):
    """An embedder that also gives a vector a token."""

    def embed_tokens(self, texts: Sequence[str]) -> list[Vectors]:
        """Return a matrix a text: one unit row a token, in order."""
        ...


class LateInteractionReranker:
    """ColBERT's MaxSim (Khattab and Zaharia, SIGIR 2020) over token vectors of an embedder not trained for it.

    The score is the mean over question tokens of the highest cosine with any passage token: in [-1, 1], no threshold
    of a trained cross-encoder applies. A question or passage without tokens scores -1.

    Args:
        embedder: one that has ``embed_tokens``; ``OnnxEmbedder`` does.
        cached_passages: passages whose token vectors are kept for the next question; one takes about 0.8 MB.
    """

    def __init__(self, *, embedder: Embedder, cached_passages: Annotated[int, Field(ge=0)] = 512) -> None:
        if not isinstance(embedder, TokenEmbedder):
            raise ConfigError(
                f"reranker.embedder: {type(embedder).__name__} gives no token vectors.\n"
                "Use embedder=minilm, or another reranker: reranker=none"
            )
        self._embedder: TokenEmbedder = embedder
        self._cached_passages = cached_passages
        self._matrices: OrderedDict[str, Vectors] = OrderedDict()

    def identity(self) -> Identity:
        """Method and the embedder's identity."""
        return {"reranker": "late_interaction", "embedder": dict(self._embedder.identity())}

    def score(self, question: str, passages: Sequence[str]) -> list[float]:
        """Return one score a passage, higher is better, in the order given."""
        asked = self._embedder.embed_tokens([question])[0]
        return [_max_sim(asked, passage) for passage in self._passage_matrices(passages)]

    def _passage_matrices(self, passages: Sequence[str]) -> list[Vectors]:
        keys = [text_sha256(passage) for passage in passages]
        missing = {key: text for key, text in zip(keys, passages, strict=True) if key not in self._matrices}
        fresh = dict(zip(missing, self._embedder.embed_tokens(list(missing.values())), strict=True))
        found = []
        for key in keys:
            matrix = fresh[key] if key in fresh else self._matrices[key]
            self._matrices[key] = matrix
            self._matrices.move_to_end(key)
            found.append(matrix)
        while len(self._matrices) > self._cached_passages:
            self._matrices.popitem(last=False)
        return found


def _max_sim(question: Vectors, passage: Vectors) -> float:
    if not len(question) or not len(passage):
        return -1.0
    return float((question @ passage.T).max(axis=1).mean())
