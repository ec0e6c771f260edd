"""Inspection pages: what stands on each page, what was taken out and why, and nothing foreign that could act."""

import base64
import re
import string
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transplantqa.corpus import SourceFile
from transplantqa.report.inspection import index_page, inspection_page
from transplantqa.report.inspection_files import page_name, write_inspection

EVIL = "<script>alert(1)</script>\"'&\u202e"
SECTION = {"section_id": "d#1", "heading_path": ["Care", EVIL], "page_start": 1, "page_end": 2, "tokens": 9}
CHUNK = {"section_id": "d#1", "order": 1, "page_start": 1, "page_end": 2, "text": EVIL, "tokens": 9}
FACTS = {"page": 1, "characters": 40, "text_from": "ocr", "verdict": "review", "reasons": [EVIL], "text": EVIL}


def document(**changes: object) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys(("document_id", "title", "source_file", "institution", "group"), EVIL)
    row |= {"verdict": "review", "reasons": [EVIL], "pages": 3, "characters": 40, "tokens": 9, "headings_from": "tags"}
    row |= {"sections": [SECTION], "chunks": [CHUNK], "page_labels": [EVIL, None, None]}
    row["removed"] = [{"kind": "page_numbers", "count": 3}, {"kind": "ligatures", "count": 7}]
    spans = [{"start": 3, "end": 9}]
    row["removed_texts"] = [{"page": 2, "kind": "page_numbers", "text": EVIL, "became": EVIL, "spans": spans}]
    row["page_facts"] = [FACTS]
    return row | changes


def page_of(html: str, number: int) -> str:
    return html.split(f'id="page-{number}"')[1].split('<div class="page"', maxsplit=1)[0]


def test_foreign_text_is_escaped_wherever_it_stands() -> None:
    html = inspection_page(document(), {1: EVIL}, EVIL) + index_page([document()], {EVIL: EVIL})
    assert "<script" not in html
    assert "\u202e" not in html


@given(st.text())
def test_no_text_opens_a_tag_or_ends_an_attribute(text: str) -> None:
    chunk, label = {**CHUNK, "text": f"<{text}>"}, f"{text}<\"'"
    html = inspection_page(document(chunks=[chunk], title=f"<{text}", page_labels=[label] * 3), {}, "x")
    tags = re.findall(r"<[^>]*>", html)
    plain = inspection_page(document(chunks=[{**CHUNK, "text": ""}], title="", page_labels=["x"] * 3), {}, "x")
    assert tags == re.findall(r"<[^>]*>", plain)


def test_a_page_forbids_scripts_and_foreign_addresses() -> None:
    assert "default-src 'none'; img-src data:" in inspection_page(document(), {}, "x")


def test_a_chunk_stands_on_its_first_page_and_is_named_on_the_next() -> None:
    html = inspection_page(document(chunks=[{**CHUNK, "text": "Drink water."}]), {}, "x")
    found = [("Drink water." in page_of(html, n), "shown on" in page_of(html, n)) for n in (1, 2, 3)]
    assert found == [(True, False), (False, True), (False, False)]


def test_a_page_with_nothing_read_says_so() -> None:
    assert "Nothing that was read stands on this page." in page_of(inspection_page(document(), {}, "x"), 3)


def test_what_was_taken_out_stands_on_its_page_with_the_reason() -> None:
    removed = [{"page": 2, "kind": "page_numbers", "text": "ii"}]
    page = page_of(inspection_page(document(removed_texts=removed), {}, "x"), 2)
    assert re.search(r">ii</td><td>page number:", page)


def test_a_page_label_stands_beside_the_pages_place() -> None:
    html = inspection_page(document(page_labels=["iv", None, None]), {}, "x")
    assert ["its label: iv" in page_of(html, n) for n in (1, 2)] == [True, False]


def test_a_document_of_an_older_ledger_has_a_page_too() -> None:
    older = document(headings_from=None, removed=None, removed_texts=None, page_labels=None)
    assert "Page 3 of 3" in inspection_page(older, {}, "x")


@given(st.text(max_size=300))
def test_a_file_name_is_safe(document_id: str) -> None:
    name = page_name(document_id)
    assert set(name) <= set(string.ascii_lowercase + string.digits + "-.")
    assert re.fullmatch(r"[a-z0-9-]{1,70}\.html", name)


def test_documents_of_like_names_have_files_of_their_own() -> None:
    assert len({page_name(name) for name in ("a/b", "a-b", "A b", "../a b", "con", "CON")}) == 6


class Drawn:
    """A corpus whose pictures are counted."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def sources(self) -> Sequence[SourceFile]:
        return [SourceFile("d", Path("d.pdf"), "d.pdf", "A", "kidney", "0" * 64)]

    def pictures(self, source: SourceFile, pages: int) -> Mapping[int, str]:
        self.asked.append(pages)
        return {1: base64.b64encode(b"png").decode()}

    def close(self) -> None:
        self.asked.append(-1)


@pytest.fixture
def corpus() -> Any:
    return Drawn()


def test_a_page_is_made_once(corpus: Any, tmp_path: Path) -> None:
    rows = [document(document_id="d")]
    for _ in range(2):
        index = write_inspection(rows, corpus, tmp_path / "inspection")
    assert (index.name, corpus.asked) == ("index.html", [3, -1, -1])


def test_a_page_is_made_again_when_its_document_is_read_anew(corpus: Any, tmp_path: Path) -> None:
    for pages in (3, 4):
        write_inspection([document(document_id="d", pages=pages)], corpus, tmp_path)
    assert corpus.asked == [3, -1, 4, -1]


def test_the_table_links_to_every_page(corpus: Any, tmp_path: Path) -> None:
    index = write_inspection([document(document_id="d")], corpus, tmp_path)
    (link,) = re.findall(r'<a href="([^"]+)">', index.read_text(encoding="utf-8"))
    assert "data:image/png;base64,cG5n" in (tmp_path / link).read_text(encoding="utf-8")


def test_a_page_shows_its_own_verdict_and_its_text_before_cleaning() -> None:
    facts = {**FACTS, "reasons": ["read off its picture"], "text": "Drink the\r\nwater."}
    html = page_of(inspection_page(document(page_facts=[facts]), {}, "x"), 1)
    assert '<span class="review">review</span>: read off its picture; 40 characters by OCR' in html
    assert "Drink the\nwater.</pre>" in html


def test_a_piece_written_another_way_shows_what_it_became_and_where_it_stood() -> None:
    hyphen = {"page": 1, "kind": "line_end_hyphens", "text": "wa-\nter", "became": "water"}
    places = [{"spans": [{"start": start, "end": start + 3}]} for start in (3, 90)]
    html = page_of(inspection_page(document(removed_texts=[hyphen | place for place in places]), {}, "x"), 1)
    assert "\u2192 water (2 times)" in html
    assert "at 3-6; 90-93" in html


def test_white_space_is_named_since_nobody_sees_it() -> None:
    spans = [{"start": 3, "end": 5}, {"start": 9, "end": 11}]
    change = {"page": 1, "kind": "white_space", "text": " \u00a0", "became": " ", "spans": spans}
    page = inspection_page(document(removed_texts=[change]), {}, "x")
    assert "U+0020 U+00A0 \u2192 U+0020 (2 times)" in page
    assert "at 3-5; 9-11" in page
