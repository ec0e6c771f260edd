"""Cosine of many questions to one document's passages, vectors checked."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transplantqa.models.protocols import Embedder
from transplantqa.retrieval.failures import RankerError, reported_as

Vectors = NDArray[np.float32]


class QuestionVectors:
    """Vectors of questions, embedded in one batch and remembered: a question is embedded once, however often asked."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, Vectors] = {}

    def of(self, texts: Sequence[str]) -> Vectors:
        """Return shape (len(texts), dimensions).

        Raises:
            RankerError: if the embedder fails or returns another number of vectors.
        """
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            with reported_as("embedder"):
                vectors = self._embedder.embed_queries(new)
            self._known.update(zip(new, _checked(vectors, len(new)), strict=True))
        return np.stack([self._known[text] for text in texts])


def passage_vectors(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    """Embed passages, equal texts once; shape (len(texts), dimensions).

    Raises:
        RankerError: if the embedder fails, or a vector is missing or not finite.
    """
    distinct = list(dict.fromkeys(texts))
    with reported_as("embedder"):
        vectors = embedder.embed_passages(distinct)
    checked = _checked(vectors, len(distinct))
    if not np.isfinite(checked).all():
        raise RankerError("embedder: a passage vector has values that are not finite")
    place = {text: at for at, text in enumerate(distinct)}
    return checked[[place[text] for text in texts]]


def cosines(questions: Vectors, passages: Vectors) -> NDArray[np.float64]:
    """Return the dot products of unit vectors, shape (questions, passages), rounded so that equal texts tie.

    Matrix products differ in the last bits with the size of the batch; seven decimals are the same for all.
    """
    with _linear_algebra().limit(limits=1):  # after so small a product its other threads would spin for longer
        products = questions.astype(np.float64) @ passages.astype(np.float64).T
    return np.round(products, 7)


@cache
def _linear_algebra() -> Any:
    """Return what limits the threads of the BLAS that NumPy uses; finding it takes milliseconds."""
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]  # noqa: PLC0415

    return ThreadpoolController().select(user_api="blas")


def _checked(vectors: Vectors, expected: int) -> Vectors:
    if vectors.ndim != 2 or len(vectors) != expected:
        raise RankerError(f"embedder: returned shape {vectors.shape} for {expected} texts")
    return vectors
