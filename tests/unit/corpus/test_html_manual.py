"""A folder of linked HTML files as one document: its order, its nesting, and links that lead nowhere good."""

from pathlib import Path

import pytest

from transplantqa.corpus.extraction import Extraction
from transplantqa.corpus.html_manual import read_manual
from transplantqa.corpus.manifest import find_sources
from transplantqa.corpus.worker import read_document
from transplantqa.errors import InputError

INDEX = """<title>Guide</title><h1>Guide</h1><p>Welcome.</p><div class="toc"><dl><dt><a href="z.html">One</a></dt>
<dd><dl><dt><a href="m.html#top">One point one</a></dt></dl></dd><dt><a href="a.html">Two</a></dt></dl></div>"""
PAGES = {
    "index.html": INDEX,
    "z.html": "<div class='navheader'>Next</div><h2>One</h2><p>Drink.</p><a href='index.html'>Home</a>",
    "m.html": "<h2>One point one</h2><p>Rest.</p><a href='z.html'>Prev</a>",
    "a.html": "<h2>Two</h2><p>Call.</p>",
}


def manual(folder: Path, **changes: str) -> Path:
    folder.mkdir()
    for name, text in (PAGES | {f"{name}.html": text for name, text in changes.items()}).items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def labels(extraction: Extraction) -> list[str | None]:
    return [page.label for page in extraction.pages]


def test_its_files_are_pages_in_the_order_of_the_contents(tmp_path: Path) -> None:
    extraction = read_document(manual(tmp_path / "guide"), 100)
    assert labels(extraction) == ["index.html", "z.html", "m.html", "a.html"]
    assert [(part.heading_path, part.text, part.page_start) for part in extraction.parts] == [
        (("Guide",), "Welcome.", 1),
        (("One",), "Drink.\nHome", 2),
        (("One", "One point one"), "Rest.\nPrev", 3),
        (("Two",), "Call.", 4),
    ]
    assert (extraction.title, extraction.notes, extraction.removed["left_out"]) == ("Guide", (), 4)


def test_a_page_that_is_not_there_and_one_that_nothing_links_to_are_doubts(tmp_path: Path) -> None:
    folder = manual(tmp_path / "guide", a="<p>Call.</p><a href='gone.html'>x</a>", search="<p>Search</p>")
    assert read_manual(folder, 100).notes == (
        "its pages link to files that aren't there: gone.html",
        "files of its folder that no page links to aren't read: search.html",
    )


@pytest.mark.parametrize(
    "href", ["../secret.html", "http://example.org/a.html", "//example.org/b.html", "http://[", "mailto:a"]
)
def test_nothing_outside_the_folder_is_followed(tmp_path: Path, href: str) -> None:
    (tmp_path / "secret.html").write_text("<p>secret</p>", encoding="utf-8")
    extraction = read_manual(manual(tmp_path / "guide", a=f"<p>Call.</p><a href='{href}'>x</a>"), 100)
    assert (len(extraction.pages), extraction.notes) == (4, ())


def test_a_link_of_the_file_system_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.html").write_text("<p>secret</p>", encoding="utf-8")
    folder = manual(tmp_path / "guide", a="<p>Call.</p><a href='out.html'>x</a>")
    (folder / "out.html").symlink_to(tmp_path / "secret.html")
    assert len(read_manual(folder, 100).pages) == 4


def test_more_pages_than_the_limit_are_a_failure(tmp_path: Path) -> None:
    failure = read_manual(manual(tmp_path / "guide"), 3).failure
    assert failure == "more than 3 linked pages (corpus.max_pages)"


def test_a_manifest_may_name_the_folder_and_its_hash_follows_each_page(tmp_path: Path) -> None:
    folder = manual(tmp_path / "guide")
    (tmp_path / "manifest.csv").write_text("path,institution\nguide,A\n", encoding="utf-8")
    (before,) = find_sources(tmp_path, None)
    (folder / "m.html").write_text("<p>Other.</p>", encoding="utf-8")
    (after,) = find_sources(tmp_path, None)
    assert (before.document_id, before.path) == ("guide", folder)
    assert before.sha256 != after.sha256


def test_a_folder_without_an_index_is_told(tmp_path: Path) -> None:
    (tmp_path / "guide").mkdir()
    (tmp_path / "manifest.csv").write_text("path,institution\nguide,A\n", encoding="utf-8")
    with pytest.raises(InputError, match=r'file "guide" is a folder without index.html'):
        find_sources(tmp_path, None)
