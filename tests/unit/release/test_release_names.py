import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transplantqa.errors import StoreError
from transplantqa.release.names import Pseudonyms, split_names

DOCUMENT = {
    "document_id": "kidney_center_b",
    "institution": "Center B",
    "title": "Our Handbook",
    "source_file": "Kidney Handbook.PDF",
    "sha256": "a" * 64,
    "reasons": ["Kidney Handbook.PDF: page 3 has no text"],
}


def test_a_system_name_that_datasets_takes_is_its_split() -> None:
    assert split_names(["hero_qa_32b"]) == {"hero_qa_32b": "hero_qa_32b"}


def test_other_characters_become_underscores() -> None:
    assert split_names(["hybrid-14b (v2)"]) == {"hybrid-14b (v2)": "hybrid_14b_v2"}


@given(st.lists(st.text(alphabet="aA-_. é/", max_size=5), unique=True, max_size=30))
def test_split_names_never_meet_even_without_case(systems: list[str]) -> None:
    names = split_names(systems)
    assert len({name.casefold() for name in names.values()}) == len(systems)
    assert all(name.isascii() and name.replace("_", "a").isalnum() for name in names.values())


def test_a_split_name_does_not_depend_on_the_order_of_systems() -> None:
    assert split_names(["a-b", "a_b"]) == split_names(["a_b", "a-b"])


@pytest.mark.parametrize("system", ["all", "shared", "ALL"])
def test_a_reserved_name_is_not_taken(system: str) -> None:
    assert split_names([system])[system].casefold() not in {"all", "shared"}


def test_a_pseudonym_is_the_same_in_every_release(tmp_path: Path) -> None:
    names = Pseudonyms.load(tmp_path / "map.json")
    first = names.document("kidney_center_b")
    (tmp_path / "map.json").write_bytes(names.content())
    assert Pseudonyms.load(tmp_path / "map.json").document("kidney_center_b") == first


def test_two_maps_give_different_pseudonyms(tmp_path: Path) -> None:
    path = tmp_path / "none.json"
    assert Pseudonyms.load(path).document("kidney_a") != Pseudonyms.load(path).document("kidney_a")


def test_nothing_of_the_published_row_names_the_document(tmp_path: Path) -> None:
    row = Pseudonyms.load(tmp_path / "map.json").row(DOCUMENT)
    published = json.dumps(row)
    assert row["institution"] == "Center B"
    for word in ("kidney_center_b", "Our Handbook", "Kidney Handbook", "aaaa"):
        assert word not in published


def test_a_spoilt_map_is_not_silently_begun_anew(tmp_path: Path) -> None:
    (tmp_path / "map.json").write_text("{", encoding="utf-8")
    with pytest.raises(StoreError, match="Restore it"):
        Pseudonyms.load(tmp_path / "map.json")
