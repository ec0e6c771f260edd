from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from transplantqa.errors import ConfigError
from transplantqa.models import LateInteractionReranker

Vectors = NDArray[np.float32]
AXES = {"a": (1.0, 0.0), "b": (0.0, 1.0), "c": (0.6, 0.8)}


class Letters:
    """Each letter is a token with a vector in the plane."""

    def __init__(self) -> None:
        self.embedded: list[str] = []

    def identity(self) -> dict[str, str]:
        return {"embedder": "letters"}

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        raise NotImplementedError

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        raise NotImplementedError

    def embed_tokens(self, texts: Sequence[str]) -> list[Vectors]:
        self.embedded += texts
        return [np.array([AXES[letter] for letter in text], dtype=np.float32).reshape(-1, 2) for text in texts]


class OnlySentences:
    def identity(self) -> dict[str, str]:
        return {}

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        raise NotImplementedError

    embed_passages = embed_queries


def test_each_question_token_takes_its_best_match_and_the_mean_is_the_score() -> None:
    # a: best cosine with "c" is 0.6; b: 0.8; mean 0.7.
    assert LateInteractionReranker(embedder=Letters()).score("ab", ["c", "ab"]) == pytest.approx([0.7, 1.0])


def test_a_passage_without_tokens_scores_lowest() -> None:
    assert LateInteractionReranker(embedder=Letters()).score("a", [""]) == [-1.0]


def test_a_passage_seen_before_is_not_embedded_again() -> None:
    letters = Letters()
    reranker = LateInteractionReranker(embedder=letters)
    reranker.score("a", ["ab", "c"])
    reranker.score("b", ["c", "ab"])
    assert letters.embedded == ["a", "ab", "c", "b"]


def test_forgetting_passages_changes_no_score() -> None:
    forgetful = LateInteractionReranker(embedder=Letters(), cached_passages=0)
    assert forgetful.score("ab", ["c", "ab", "c"]) == LateInteractionReranker(embedder=Letters()).score(
        "ab", ["c", "ab", "c"]
    )


def test_an_embedder_without_token_vectors_is_refused() -> None:
    with pytest.raises(ConfigError, match="OnlySentences"):
        LateInteractionReranker(embedder=OnlySentences())
