"""The Croissant metadata as MLCommons' own library reads it."""

import json
from pathlib import Path
from typing import Any

import mlcroissant
import pyarrow.parquet as pq
import pytest

from transplantqa.release import ReleaseSettings, build_release
from transplantqa.release.croissant import CROISSANT_FILE


@pytest.fixture(scope="module")
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("croissant")


@pytest.fixture
def release(write_run: Any, _folder: Path) -> Path:
    """A release of two systems."""
    runs = {"baseline": write_run(), "hybrid-14b": write_run("hybrid-14b")}
    return build_release(
        runs, _folder / "release", ReleaseSettings(folder="unused", name="sample", title="Sample")
    ).folder


def test_it_is_valid_without_errors(release: Path) -> None:
    found = mlcroissant.Dataset(jsonld=str(release / CROISSANT_FILE))
    assert list(found.metadata.ctx.issues.errors) == []
    names = {record_set.name for record_set in found.metadata.record_sets}
    assert {"questions/shared", "answers/baseline", "comparisons/hybrid_14b"} <= names


def test_records_read_by_it_are_the_rows(release: Path) -> None:
    found = mlcroissant.Dataset(jsonld=str(release / CROISSANT_FILE))
    rows = pq.read_table(release / "comparisons/baseline.parquet").to_pylist()
    records = list(found.records("comparisons/baseline"))
    assert [record["comparisons/baseline/label"] for record in records] == [row["label"] for row in rows]
    read = [record["comparisons/baseline/question_id"].decode() for record in records]
    assert read == [row["question_id"] for row in rows]


def test_every_column_is_described_or_named(release: Path) -> None:
    content = json.loads((release / CROISSANT_FILE).read_text(encoding="utf-8"))
    for record_set in content["recordSet"]:
        described = {field["name"] for field in record_set["field"]}
        columns = pq.read_schema(release / f"{record_set['name']}.parquet").names
        assert all(column in described or column in record_set["description"] for column in columns)


def test_every_file_is_listed_with_its_hash(release: Path) -> None:
    import hashlib

    content = json.loads((release / CROISSANT_FILE).read_text(encoding="utf-8"))
    listed = {entry["contentUrl"]: entry["sha256"] for entry in content["distribution"]}
    files = {str(path.relative_to(release)): path for path in release.rglob("*.parquet")}
    assert listed == {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in files.items()}
