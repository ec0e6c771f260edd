"""The annotation page in a real headless Chromium: keyboard, progress, saving, going on, hostile text."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from transplantqa.records import Label
from transplantqa.validation.annotations import read_annotations
from transplantqa.validation.items import Item
from transplantqa.validation.page import annotation_page

HOSTILE = "<script>window.attacked=1</script></script><img src=x onerror='window.attacked=1'> \u2028 ${attack()}"
CONFIG = {"domain": {"document_noun": "handbook", "reader": "patient"}}


@pytest.fixture
def page(tmp_path: Path) -> Path:
    items = [Item(f"i{place}", f"Question {place}?", f"First {place}", f"Second {place}") for place in (1, 2, 3)]
    path = tmp_path / "annotate.html"
    path.write_bytes(annotation_page(items, "s1", CONFIG))
    return path


def press(browser: Any, *keys: str) -> None:
    """Press real keys."""
    for key in keys:
        text = {"text": key} if len(key) == 1 else {}
        browser.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        browser.call("Input.dispatchKeyEvent", type="keyUp", key=key)


def text(browser: Any, element: str) -> str:
    return str(browser.evaluate(f"document.getElementById('{element}').innerText"))


@pytest.mark.parametrize("width", [1200, 390])
def test_it_opens_without_an_error_a_request_or_a_sideways_scroll(browser: Any, page: Path, width: int) -> None:
    browser.open(page, width)
    assert browser.problems == []
    assert set(browser.requests) == {page.as_uri()}
    assert browser.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert text(browser, "place") == "Pair 1 of 3"
    assert text(browser, "answer_2") == "Second 1"


def test_keys_label_move_and_show_progress(browser: Any, page: Path) -> None:
    browser.open(page)
    press(browser, "2", "ArrowRight", "4", "h")
    assert text(browser, "place") == "Pair 2 of 3"
    assert text(browser, "count") == "2 of 3 labelled, not saved yet"
    checked = "[...document.querySelectorAll('input:checked')].map(input => input.value)"
    assert browser.evaluate(checked) == ["DIVERGENT", "high"]
    press(browser, "3")
    assert browser.evaluate(checked) == ["COMPLEMENTARY"]
    assert browser.evaluate("document.getElementById('significances').disabled")
    press(browser, "0", "u")
    assert text(browser, "place") == "Pair 3 of 3"
    press(browser, "u")
    assert text(browser, "place") == "Pair 2 of 3"
    assert text(browser, "count") == "1 of 3 labelled, not saved yet"


def test_keys_typed_into_a_field_are_text(browser: Any, page: Path) -> None:
    browser.open(page)
    press(browser, "c", "1", "s")
    assert browser.evaluate("document.getElementById('note').value") == "1s"
    assert text(browser, "count").startswith("0 of 3 labelled")


def test_labels_are_there_again_after_the_page_is_opened_again(browser: Any, page: Path) -> None:
    browser.open(page)
    press(browser, "5", "l")
    leaving = "new Event('beforeunload', {cancelable: true})"
    assert browser.evaluate(f"!window.dispatchEvent({leaving})")  # unsaved labels: the browser asks first
    browser.open(page)
    assert text(browser, "count") == "1 of 3 labelled, not saved yet"
    assert text(browser, "place") == "Pair 2 of 3"  # the first without a label


def test_another_annotator_at_the_same_browser_sees_no_labels(browser: Any, page: Path) -> None:
    browser.open(page)
    press(browser, "5", "l")
    browser.evaluate("document.getElementById('fresh').click()")
    assert text(browser, "count") == "0 of 3 labelled"
    assert browser.evaluate("document.querySelector('input:checked') === null")


def test_what_is_saved_is_a_file_that_the_program_reads(browser: Any, page: Path, tmp_path: Path) -> None:
    downloads = tmp_path / "downloads"
    downloads.mkdir()
    browser.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(downloads))
    browser.open(page)
    press(browser, "s")
    assert text(browser, "status") == "Give your code first."
    press(browser, "r", "1", "Escape", "4", "m", "ArrowRight", "1", "s")
    file = _downloaded(downloads)
    assert file.name == "annotations-s1-r1.json"
    said = read_annotations([file], {"i1": "", "i2": "", "i3": ""}, "s1", {}).said["r1"]
    assert (said["i1"].label, said["i1"].significance) == (Label.DIVERGENT, "medium")
    assert (said["i2"].label, said["i3"].label) == (Label.ABSENT, None)
    assert text(browser, "count") == "2 of 3 labelled"
    assert browser.problems == []


def test_one_can_go_on_from_a_saved_file_and_no_other_samples(browser: Any, page: Path, tmp_path: Path) -> None:
    rows = [
        {"sample": "s1", "item": "i2", "annotator": "r7", "label": "CONSISTENT", "significance": None, "note": "why"}
    ]
    for name, sample in {"own.json": "s1", "other.json": "s2"}.items():
        (tmp_path / name).write_text(json.dumps([{**rows[0], "sample": sample}]))
    browser.open(page)
    _choose(browser, tmp_path / "other.json")
    assert _eventually(browser, "status", "other.json isn't of this sample.")
    assert text(browser, "count") == "0 of 3 labelled"
    _choose(browser, tmp_path / "own.json")
    assert _eventually(browser, "status", "Read own.json")
    assert text(browser, "count") == "1 of 3 labelled"
    assert browser.evaluate("document.getElementById('annotator').value") == "r7"


def test_hostile_text_is_shown_and_does_nothing(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "annotate.html"
    config = {"domain": {"document_noun": HOSTILE, "reader": HOSTILE}}
    path.write_bytes(annotation_page([Item("i1", HOSTILE, HOSTILE, HOSTILE)], "s1", config))
    browser.open(path)
    assert browser.evaluate("document.getElementById('answer_1').textContent") == HOSTILE
    assert browser.evaluate("window.attacked === undefined && document.images.length === 0")
    assert browser.problems == []


def _downloaded(folder: Path) -> Path:
    for _ in range(200):
        files = [file for file in folder.iterdir() if file.suffix == ".json"]
        if files and files[0].stat().st_size:
            return files[0]
        time.sleep(0.05)
    raise AssertionError(f"nothing was saved: {list(folder.iterdir())}")


def _choose(browser: Any, file: Path) -> None:
    document = browser.call("DOM.getDocument")
    node = browser.call("DOM.querySelector", nodeId=document["root"]["nodeId"], selector="#load")
    browser.call("DOM.setFileInputFiles", files=[str(file)], nodeId=node["nodeId"])


def _eventually(browser: Any, element: str, wanted: str) -> bool:
    for _ in range(100):
        if text(browser, element) == wanted:
            return True
        time.sleep(0.05)
    return False
