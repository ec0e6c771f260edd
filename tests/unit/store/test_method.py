"""Fingerprints and what tells two of them apart."""

import json

import pytest

from transplantqa.store import ABSENT, Difference, Method, digest, explain


def test_a_fingerprint_is_the_digest_of_stage_and_identity() -> None:
    method = Method("answers", {"temperature": 0.0, "model": {"sha256": "ab"}})
    assert method.fingerprint == digest(
        {"stage": "answers", "identity": {"model": {"sha256": "ab"}, "temperature": 0.0}}
    )


def test_the_order_of_ingredients_does_not_change_a_fingerprint() -> None:
    assert Method("a", {"x": 1, "y": 2}).fingerprint == Method("a", {"y": 2, "x": 1}).fingerprint


@pytest.mark.parametrize("other", [{"k": 5}, {"k": "4"}, {"k": 4, "seed": 0}, {}])
def test_a_changed_added_or_dropped_ingredient_changes_the_fingerprint(other: dict[str, object]) -> None:
    assert Method("retrieve", other).fingerprint != Method("retrieve", {"k": 4}).fingerprint


def test_the_same_identity_in_another_stage_is_another_method() -> None:
    assert Method("answers", {"v": 1}).fingerprint != Method("judgements", {"v": 1}).fingerprint


def test_something_that_is_not_json_is_refused() -> None:
    with pytest.raises(TypeError):
        _ = Method("answers", {"device": object()}).fingerprint


def test_differences_are_named_by_dotted_path_with_both_values() -> None:
    a = {"model": {"name": "m", "revision": "1"}, "rankers": ["bm25", "dense"], "k": 4}
    b = {"model": {"name": "m", "revision": "2"}, "rankers": ["bm25", "title"], "k": 4}
    assert explain(a, b) == [Difference("model.revision", "1", "2"), Difference("rankers.1", "dense", "title")]


def test_an_ingredient_of_one_side_only_is_absent_on_the_other() -> None:
    assert explain({"seed": None}, {}) == [Difference("seed", None, ABSENT)]


def test_lists_of_unequal_length_differ_as_a_whole() -> None:
    assert explain({"rankers": ["bm25"]}, {"rankers": []}) == [Difference("rankers", ["bm25"], [])]


def test_equal_identities_have_no_differences() -> None:
    identity = {"a": {"b": [1, {"c": "ü"}]}}
    assert explain(identity, json.loads(json.dumps(identity))) == []


def test_a_difference_reads_as_path_and_both_values() -> None:
    assert str(Difference("model.revision", "1", ABSENT)) == 'model.revision: "1" / absent'
