"""The folder as ``datasets`` reads it, offline."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from transplantqa.release import ReleaseSettings, build_release
from transplantqa.release.features import features

CONFIGS = ("questions", "documents", "answers", "evidence", "comparisons")
SPLITS = {"questions": {"shared"}, "documents": {"shared"}}


@pytest.fixture
def release(write_run: Any, tmp_path: Path) -> Path:
    runs = {"baseline": write_run(), "hybrid-14b": write_run("hybrid-14b")}
    settings = ReleaseSettings(folder="unused", name="sample", title="Sample")
    return build_release(runs, tmp_path / "release", settings).folder


def _load(release: Path, config: str) -> Any:
    import datasets

    return datasets.load_dataset(str(release), config, cache_dir=str(release.parent / "cache"))


@pytest.mark.parametrize("config", CONFIGS)
def test_every_config_loads_with_its_splits_and_its_features(release: Path, config: str) -> None:
    loaded = _load(release, config)
    assert set(loaded) == SPLITS.get(config, {"baseline", "hybrid_14b"})
    assert all(split.features == features()[config] for split in loaded.values())


@pytest.mark.parametrize("config", CONFIGS)
def test_a_file_says_its_features_without_the_card(release: Path, config: str) -> None:
    import pyarrow.parquet as pq
    from datasets import Features

    for path in (release / config).iterdir():
        assert Features.from_arrow_schema(pq.read_schema(path)) == features()[config]


def test_texts_with_line_separators_come_back_as_they_were(release: Path) -> None:
    questions = _load(release, "questions")["shared"]
    assert questions["text"][1] == "May I drive?\u2028Soon?"


def test_columns_whose_first_values_are_null_come_back_typed(release: Path) -> None:
    assert list(_load(release, "answers")["baseline"]["reasoning"]) == [None, "It says six.", None, None]


def test_empty_lists_come_back_empty(release: Path) -> None:
    first = _load(release, "evidence")["baseline"][0]
    assert (first["passages"], first["candidates"]) == ([], [])


def test_labels_come_back_as_class_labels(release: Path) -> None:
    split = _load(release, "comparisons")["baseline"]
    assert split.features["label"].int2str(list(split["label"])) == ["ABSENT", "CONTRADICTORY"]


def test_it_loads_offline_in_a_process_of_its_own(release: Path, tmp_path: Path) -> None:
    script = "import sys, datasets; print(len(datasets.load_dataset(sys.argv[1], 'comparisons', split='baseline')))"
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "home")}
    command = [sys.executable, "-c", script, str(release)]
    result = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=200, check=False)
    assert result.stdout.strip() == "2", result.stderr
