from pathlib import Path

import numpy as np
import pytest

from transplantqa.errors import ModelError
from transplantqa.models import LateInteractionReranker, OnnxEmbedder

QUESTION = "When should I call my transplant coordinator?"
RIGHT = "Phone the coordinator at once for a fever above 38 C."
WRONG = "Boil the rice for twenty minutes in salted water."


@pytest.fixture(scope="module")
def embedder() -> OnnxEmbedder:
    return OnnxEmbedder()


def test_the_relevant_passage_is_nearer(embedder: OnnxEmbedder) -> None:
    right, wrong = embedder.embed_passages([RIGHT, WRONG]) @ embedder.embed_queries([QUESTION])[0]
    assert right > wrong + 0.2


def test_vectors_have_unit_length_also_of_nothing_and_of_long_texts(embedder: OnnxEmbedder) -> None:
    vectors = embedder.embed_passages(["", RIGHT, "word " * 1000])
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1, 1], abs=1e-6)


def test_a_vector_does_not_depend_on_its_company(embedder: OnnxEmbedder) -> None:
    texts = [RIGHT, WRONG, RIGHT + " " + WRONG, "fever " * 300, QUESTION]
    alone = np.concatenate([embedder.embed_passages([text]) for text in texts])
    assert np.array_equal(embedder.embed_passages(texts), alone)


def test_the_end_of_a_long_text_counts(embedder: OnnxEmbedder) -> None:
    filler = "water " * 400
    one, other = embedder.embed_passages([filler + RIGHT, filler + WRONG])
    assert float(one @ other) < 0.999


def test_no_texts_give_no_rows(embedder: OnnxEmbedder) -> None:
    assert embedder.embed_queries([]).shape == (0, 384)


def test_token_vectors_are_one_a_token(embedder: OnnxEmbedder) -> None:
    assert [matrix.shape for matrix in embedder.embed_tokens(["two words", "", "word " * 600])] == [
        (2, 384),
        (0, 384),
        (600, 384),
    ]


def test_late_interaction_prefers_the_relevant_passage(embedder: OnnxEmbedder) -> None:
    wrong, right = LateInteractionReranker(embedder=embedder).score(QUESTION, [WRONG, RIGHT])
    assert right > wrong


def test_a_file_that_is_no_model_is_refused_by_name(tmp_path: Path) -> None:
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(b"not a model")
    with pytest.raises(ModelError, match=r"broken\.onnx"):
        OnnxEmbedder(weights=str(broken)).embed_queries(["x"])


def test_a_question_longer_than_the_window_is_said_and_read_to_its_end(
    embedder: OnnxEmbedder, capsys: pytest.CaptureFixture[str]
) -> None:
    start = "What should I do when I feel unwell? " * 40
    first, second = embedder.embed_queries([f"{start} aspirin", f"{start} grapefruit"])
    assert "2 questions are longer than its window of 256 tokens and are read in several windows" in (
        capsys.readouterr().err
    )
    assert not np.array_equal(first, second)
    embedder.embed_queries(["aspirin"])
    assert capsys.readouterr().err == ""
