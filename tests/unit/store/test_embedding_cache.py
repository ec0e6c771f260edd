"""Passages are embedded once by content, whoever asks; nothing wrong is ever kept."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from transplantqa.models.protocols import Identity
from transplantqa.store.embedding_cache import CachedEmbedder
from transplantqa.store.hashing import text_sha256


class Counting:
    """A vector of three numbers a text; keeps what it was asked. ``model`` is its identity."""

    def __init__(self, model: str = "m") -> None:
        self.model = model
        self.asked: list[str] = []

    def identity(self) -> Identity:
        return {"embedder": self.model}

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self.embed_passages(texts)

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += texts
        return np.array([[len(text), int(text_sha256(text)[:4], 16), 0.5] for text in texts], dtype=np.float32)


class Wrong(Counting):
    """Leaves the last vector out, or makes it not finite."""

    def __init__(self, fault: str) -> None:
        super().__init__()
        self.fault = fault

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = super().embed_passages(texts)
        if self.fault == "short":
            return vectors[:-1]
        vectors[-1, 0] = np.nan
        return vectors


def test_a_text_is_embedded_once_for_all_who_share_the_folder(tmp_path: Path) -> None:
    first, second = Counting(), Counting()
    wanted = CachedEmbedder(first, tmp_path).embed_passages(["a", "bb", "a"])
    found = CachedEmbedder(second, tmp_path).embed_passages(["bb", "ccc", "a"])
    assert (first.asked, second.asked) == (["a", "bb"], ["ccc"])
    assert np.array_equal(found[[2, 0]], wanted[:2])
    assert np.array_equal(wanted[0], wanted[2])


def test_another_embedder_embeds_anew(tmp_path: Path) -> None:
    other = Counting("other")
    CachedEmbedder(Counting(), tmp_path).embed_passages(["a"])
    CachedEmbedder(other, tmp_path).embed_passages(["a"])
    assert other.asked == ["a"]


def test_what_another_process_has_stored_since_is_taken_from_it(tmp_path: Path) -> None:
    mine, theirs = Counting(), Counting()
    cached = CachedEmbedder(mine, tmp_path)
    cached.embed_passages(["a"])
    CachedEmbedder(theirs, tmp_path).embed_passages(["bb"])
    assert cached.embed_passages(["bb", "ccc"])[:, 0].tolist() == [2.0, 3.0]
    assert mine.asked == ["a", "ccc"]


def test_many_texts_keep_their_order(tmp_path: Path) -> None:
    texts = [f"text {number}" for number in range(700)]
    expected = Counting().embed_passages(texts)
    assert np.array_equal(CachedEmbedder(Counting(), tmp_path).embed_passages(texts), expected)
    assert np.array_equal(CachedEmbedder(Counting(), tmp_path).embed_passages(texts[::-1]), expected[::-1])


@pytest.mark.parametrize("fault", ["short", "not finite"])
def test_a_batch_with_a_wrong_vector_is_not_kept(tmp_path: Path, fault: str) -> None:
    with pytest.raises(ValueError, match=r"returned shape|not finite"):
        CachedEmbedder(Wrong(fault), tmp_path).embed_passages(["a", "bb"])
    right = Counting()
    CachedEmbedder(right, tmp_path).embed_passages(["a", "bb"])
    assert right.asked == ["a", "bb"]
