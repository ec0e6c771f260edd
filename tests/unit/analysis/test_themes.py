"""Clusters are scikit-learn's; themes count what they are made of."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import adjusted_rand_score

from transplantqa.analysis import Analysis, audit, with_further_findings
from transplantqa.analysis.linkage import average_linkage, cut
from transplantqa.analysis.sketch import Sketch
from transplantqa.analysis.themes import theme_findings
from transplantqa.errors import ModelError


def unit_vectors(size: int, dimensions: int, centres: int, noise: float, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    centre = rng.normal(size=(centres, dimensions))
    vectors = centre[rng.integers(centres, size=size)] + noise * rng.normal(size=(size, dimensions))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 120), st.integers(2, 40), st.floats(0.1, 1.0), st.integers(0, 10_000))
def test_clusters_are_scikit_learns_at_every_distance(size: int, dimensions: int, noise: float, seed: int) -> None:
    vectors = unit_vectors(size, dimensions, max(1, size // 8), noise, seed)
    merges = average_linkage(vectors, 0.4)
    for distance in (0.3, 0.35, 0.4):
        theirs = AgglomerativeClustering(
            n_clusters=None, metric="cosine", linkage="average", distance_threshold=distance
        ).fit_predict(vectors.astype(np.float64))
        assert adjusted_rand_score(theirs, cut(merges, distance)) == pytest.approx(1.0)


def test_clusters_do_not_depend_on_the_order_of_the_vectors() -> None:
    vectors = unit_vectors(200, 16, 20, 0.5, 3)
    order = np.random.default_rng(4).permutation(200)
    labels = cut(average_linkage(vectors, 0.35), 0.35)
    assert adjusted_rand_score(labels[order], cut(average_linkage(vectors[order], 0.35), 0.35)) == pytest.approx(1.0)


@pytest.mark.parametrize("size", [0, 1])
def test_fewer_than_two_vectors_are_clusters_of_their_own(size: int) -> None:
    assert cut(average_linkage(np.ones((size, 1), np.float32), 0.35), 0.35).tolist() == list(range(size))


def test_equal_vectors_are_one_cluster() -> None:
    assert set(cut(average_linkage(np.ones((50, 1), np.float32), 0.35), 0.35).tolist()) == {0}


class Table:
    """An embedder whose vectors are written down: angles in degrees by folded text."""

    def __init__(self, angles: Mapping[str, float]) -> None:
        self.angles = angles

    def identity(self) -> Mapping[str, Any]:
        return {"angles": dict(self.angles)}

    def embed_queries(self, texts: Sequence[str]) -> Any:
        return self.embed_passages(texts)

    def embed_passages(self, texts: Sequence[str]) -> Any:
        radians = np.radians([self.angles[text.casefold()] for text in texts])
        return np.column_stack([np.cos(radians), np.sin(radians)]).astype(np.float32)


def audit_about(topics: Sequence[tuple[str | None, str | None]], label: str = "DIVERGENT") -> pa.Table:
    """Return comparisons of one pair of documents, one question a topic and significance."""
    sketch = Sketch().document("x").document("y")
    for number, (topic, significance) in enumerate(topics):
        sketch.question(f"q{number}", {"x": "ok", "y": "ok"})
        sketch.compare(f"q{number}", "x", "y", label, divergence_topic=topic, significance=significance)
    return sketch.tables().comparisons


def test_a_theme_is_named_by_its_most_frequent_string_and_counts_its_instances() -> None:
    said = [("lifting limit", "high"), ("lifting limit", "low"), ("weight  to lift", None), ("driving", "high")]
    embedder = Table({"lifting limit": 0.0, "weight to lift": 20.0, "driving": 90.0})
    found = theme_findings(audit_about(said), embedder, 0.35, (0.3, 0.4))
    first, second = found.tables["themes"].to_pylist()
    assert (first["theme"], first["instances"], first["strings"], first["questions"]) == ("lifting limit", 3, 2, 3)
    assert (first["rated"], first["high"], first["high_share"]) == (2, 1, 0.5)
    assert first["paraphrases"] == ["lifting limit", "weight to lift"]
    assert (second["theme"], second["instances"], second["high_share"], second["stability"]) == ("driving", 1, 1.0, 1.0)
    assert found.tables["theme_strings"]["theme"].to_pylist() == ["driving", "lifting limit", "lifting limit"]
    assert found.metrics["themes"] == 2


def test_strings_that_differ_in_case_alone_are_one_string() -> None:
    said = [("Driving", None), ("driving", None), ("driving", None)]
    found = theme_findings(audit_about(said), Table({"driving": 0.0}), 0.35, ())
    assert found.tables["themes"].to_pylist()[0]["paraphrases"] == ["driving"]
    assert found.tables["themes"].to_pylist()[0]["stability"] is None


def test_a_theme_that_another_distance_would_split_is_less_stable() -> None:
    # 1 - cos(48 degrees) is 0.33: one theme at 0.35, two at 0.30; the half that is left overlaps it by 1 of 2
    found = theme_findings(audit_about([("a", None), ("b", None)]), Table({"a": 0.0, "b": 48.0}), 0.35, (0.3, 0.4))
    assert found.tables["themes"].to_pylist()[0]["stability"] == 0.5
    assert (found.metrics["themes"], found.metrics["themes_at/0.3"], found.metrics["themes_at/0.4"]) == (1, 2, 1)


@pytest.mark.parametrize("topics", [[], [(None, "high")], [("  ", "low")]])
def test_without_topics_there_are_no_themes(topics: list[tuple[str | None, str | None]]) -> None:
    found = theme_findings(audit_about(topics), Table({}), 0.35, (0.3,))
    assert (found.metrics["themes"], found.tables["themes"].num_rows) == (0, 0)


def test_agreeing_pairs_have_no_part_in_themes() -> None:
    assert theme_findings(audit_about([("a", None)], "CONSISTENT"), Table({}), 0.35, ()).metrics["themes"] == 0


class Unreachable(Table):
    def embed_passages(self, texts: Sequence[str]) -> Any:
        raise ModelError("no answer from the server")


def test_an_embedder_that_fails_is_told_with_the_way_to_do_without_themes() -> None:
    tables = Sketch().document("x").document("y").question("q", {"x": "ok", "y": "ok"})
    tables.compare("q", "x", "y", "DIVERGENT", divergence_topic="driving")
    settings_ = Analysis(embedder=Unreachable({}), bootstrap_replicates=0, permutations=0)
    with pytest.raises(ModelError, match=r"analysis\.embedder=null"):
        with_further_findings(tables.tables(), audit(tables.tables(), settings_), settings_)
