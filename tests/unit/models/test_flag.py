"""The FlagEmbedding adapters against a stand-in of the library."""

import sys
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import transplantqa.models.flag
from transplantqa.errors import ModelError
from transplantqa.models import FlagEmbedder, FlagReranker


def tokenizer(texts: Sequence[str], truncation: bool) -> dict[str, list[list[int]]]:
    """A token a word."""
    assert not truncation
    return {"input_ids": [list(range(len(text.split()))) for text in texts]}


class Model:
    """Stands in for ``FlagModel`` and ``FlagReranker``: keeps what it was made with and asked."""

    made: list["Model"]
    scores: Any

    def __init__(self, folder: str, **settings: Any) -> None:
        self.folder = folder
        self.settings = settings
        self.tokenizer = tokenizer
        self.asked: list[tuple[list[Any], dict[str, Any]]] = []
        type(self).made.append(self)

    def encode(self, texts: list[str], **settings: Any) -> Any:
        self.asked.append((texts, settings))
        return np.array([[len(text), 0.0] for text in texts], dtype=np.float16)

    def compute_score(self, pairs: list[Any], **settings: Any) -> Any:
        self.asked.append((pairs, settings))
        return self.scores


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> type[Model]:
    """The library, as if it were installed."""
    Model.made = []
    module = types.ModuleType("FlagEmbedding")
    module.FlagModel = module.FlagReranker = Model  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "FlagEmbedding", module)
    monkeypatch.setattr(transplantqa.models.flag, "version", lambda _name: "1.4.2")
    return Model


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text("{}", encoding="utf-8")
    return folder


def test_queries_get_the_instruction_and_passages_none(library: type[Model], weights: Path) -> None:
    embedder = FlagEmbedder(model=str(weights))
    embedder.embed_queries(["fluids"])
    embedder.embed_passages(["Drink water."])
    (model,) = library.made
    instruction = "Represent this sentence for searching relevant passages: "
    assert [texts for texts, _ in model.asked] == [[f"{instruction}fluids"], ["Drink water."]]


def test_vectors_are_float32_of_unit_length(library: type[Model], weights: Path) -> None:
    vectors = FlagEmbedder(model=str(weights)).embed_passages(["a", "bb"])
    assert vectors.dtype == np.float32
    assert vectors.tolist() == [[1.0, 0.0], [1.0, 0.0]]


def test_the_library_is_told_pooling_window_and_batch_and_never_to_run_foreign_code(
    library: type[Model], weights: Path
) -> None:
    FlagEmbedder(model=str(weights), pooling="mean", window_tokens=64, batch_texts=3).embed_passages(["a"])
    (model,) = library.made
    assert model.folder == str(weights)
    assert model.settings["pooling_method"] == "mean"
    assert model.settings["trust_remote_code"] is False
    assert model.asked[0][1] == {"batch_size": 3, "max_length": 64}


def test_a_query_longer_than_the_window_is_said(
    library: type[Model], weights: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    embedder = FlagEmbedder(model=str(weights), window_tokens=8, query_prefix="")
    embedder.embed_queries(["one two three", " ".join(["word"] * 20)])
    assert (
        "1 questions are longer than its window of 8 tokens and are cut, the longest of 20" in capsys.readouterr().err
    )


def test_nothing_to_embed_or_to_score_loads_nothing(library: type[Model], weights: Path) -> None:
    assert len(FlagEmbedder(model=str(weights)).embed_passages([])) == 0
    assert FlagReranker(model=str(weights)).score("q", []) == []
    assert library.made == []


@pytest.mark.parametrize(("scores", "expected"), [([0.5, -2.0], [0.5, -2.0]), (np.float32(0.5), [0.5])])
def test_scores_come_in_the_order_of_the_passages_also_a_single_one(
    library: type[Model], weights: Path, scores: Any, expected: list[float]
) -> None:
    library.scores = scores
    assert FlagReranker(model=str(weights)).score("q", ["a", "b"][: len(expected)]) == expected


def test_a_folder_counts_by_its_files_and_not_by_its_place(library: type[Model], weights: Path, tmp_path: Path) -> None:
    before = FlagEmbedder(model=str(weights)).identity()
    weights.rename(tmp_path / "moved")
    assert FlagEmbedder(model=str(tmp_path / "moved")).identity() == before
    (tmp_path / "moved" / "config.json").write_text('{"x": 1}', encoding="utf-8")
    assert FlagEmbedder(model=str(tmp_path / "moved")).identity() != before


def test_a_hub_model_counts_by_its_revision(library: type[Model]) -> None:
    assert FlagReranker(model="a/b", revision="c1").identity() != FlagReranker(model="a/b", revision="c2").identity()


def test_what_can_not_change_a_vector_is_no_part_of_the_identity(library: type[Model], weights: Path) -> None:
    plain = FlagEmbedder(model=str(weights)).identity()
    assert FlagEmbedder(model=str(weights), batch_texts=1, device="cuda:0").identity() == plain


def test_without_the_library_the_message_names_the_extra(monkeypatch: pytest.MonkeyPatch, weights: Path) -> None:
    monkeypatch.setitem(sys.modules, "FlagEmbedding", None)
    with pytest.raises(ModelError, match=r"transplantqa\[flag\]"):
        FlagReranker(model=str(weights)).score("q", ["a"])


def test_a_library_that_can_not_be_imported_names_the_reason(monkeypatch: pytest.MonkeyPatch, weights: Path) -> None:
    def refuse(_name: str) -> Any:
        raise ImportError("cannot import name 'is_torch_fx_available'")

    monkeypatch.setattr(transplantqa.models.flag, "import_module", refuse)
    with pytest.raises(ModelError, match="is_torch_fx_available"):
        FlagEmbedder(model=str(weights)).embed_passages(["a"])
