"""How sure the retriever is that a document addresses a question: a logistic of a few signals."""

from collections.abc import Iterable, Mapping
from typing import Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from transplantqa.errors import ConfigError

Signal = Literal["cosine", "cosine_margin", "coverage", "document_coverage", "rerank"]
"""What rankers say of a whole (question, document).

cosine: the best cosine of the question to a piece of the document. cosine_margin: by how much that is above the mean
over all pieces. coverage: the largest share, by idf, of the question's terms found in one chunk. document_coverage: the
share found anywhere in the document. rerank: the best rerank score.
"""
SIGNALS: tuple[Signal, ...] = get_args(Signal)
Weights = Mapping[Literal["intercept", "cosine", "cosine_margin", "coverage", "document_coverage", "rerank"], float]


class Signaller(Protocol):
    """What confidence asks of a ranker."""

    signals: frozenset[Signal]


class Confidence:
    """A logistic regression with given weights: ``1 / (1 + exp(-(intercept + Σ weight · signal)))``.

    Args:
        weights: by signal, and the ``intercept``.
        available: the signals that the retriever can give.

    Raises:
        ConfigError: if a weight names a signal that isn't available.
    """

    def __init__(self, weights: Weights, available: frozenset[Signal]) -> None:
        lost = sorted(set(weights) - available - {"intercept"})
        if lost:
            raise ConfigError(
                f"retriever.confidence: this retriever has no signal {', '.join(lost)}.\n"
                f"It has: {', '.join(sorted(available)) or 'none'}."
            )
        self.weights = dict(weights)
        self._signals = tuple(signal for signal in SIGNALS if signal in weights)

    def of(self, signals: Mapping[Signal, NDArray[np.float64]]) -> NDArray[np.float64]:
        """Return the confidence in [0, 1] of each question, rounded to six decimals; signals have a value a question.

        NaN where a signal is.
        """
        weighed = sum((self.weights[name] * signals[name] for name in self._signals), np.zeros(1))
        logit = self.weights.get("intercept", 0.0) + weighed
        confidence: NDArray[np.float64] = np.round(1.0 / (1.0 + np.exp(-np.clip(logit, -60.0, 60.0))), 6)
        return confidence


def confidence_from(
    weights: Weights | None, rankers: Iterable[Signaller], reranker: object | None, silence_below: float
) -> Confidence | None:
    """Make the confidence a configuration asks for, from what the rankers and the reranker signal.

    Raises:
        ConfigError: if a weight names a signal that isn't available, or ``silence_below`` has nothing to compare with.
    """
    if weights is None:
        if silence_below > 0:
            raise ConfigError(
                f"retriever.silence_below: {silence_below:g} needs a confidence to compare with.\n"
                "Set retriever.confidence, or retriever.silence_below=0."
            )
        return None
    available = frozenset[Signal]().union(*(ranker.signals for ranker in rankers))
    return Confidence(weights, available | ({"rerank"} if reranker is not None else frozenset()))
