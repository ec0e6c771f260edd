"""Markdown and plain text: headings, code, lists, tables, encodings."""

from pathlib import Path

from transplantqa.corpus.extraction import Extraction
from transplantqa.corpus.text_files import read_markdown, read_plain


def markdown(tmp_path: Path, text: str | bytes) -> Extraction:
    path = tmp_path / "my_guide.md"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_markdown(path)


def parts(extraction: Extraction) -> list[tuple[tuple[str, ...], str]]:
    return [(part.heading_path, part.text) for part in extraction.parts]


def test_headings_give_the_path(tmp_path: Path) -> None:
    text = "# Guide\n\n## Salt\n\nUse little.\n\n## Water\n\nDrink *much*.\n"
    assert parts(markdown(tmp_path, text)) == [(("Guide", "Salt"), "Use little."), (("Guide", "Water"), "Drink much.")]


def test_underlined_headings_are_headings(tmp_path: Path) -> None:
    text = "Guide\n=====\n\nSalt\n----\n\nUse little.\n"
    assert parts(markdown(tmp_path, text)) == [(("Guide", "Salt"), "Use little.")]


def test_a_hash_in_a_code_block_is_no_heading(tmp_path: Path) -> None:
    text = "# Guide\n\n```\n# not a heading\n```\n\nText.\n"
    assert parts(markdown(tmp_path, text)) == [(("Guide",), "# not a heading\nText.")]


def test_a_fence_of_four_holds_a_fence_of_three(tmp_path: Path) -> None:
    text = "# Guide\n\n````\n```\n# no\n```\n````\n"
    assert parts(markdown(tmp_path, text)) == [(("Guide",), "```\n# no\n```")]


def test_wrapped_lines_are_one_paragraph_and_blank_lines_part_them(tmp_path: Path) -> None:
    assert parts(markdown(tmp_path, "# G\n\nOne\ntwo.\n\nThree.\n")) == [(("G",), "One two.\nThree.")]


def test_list_items_and_table_rows_are_lines(tmp_path: Path) -> None:
    text = "# G\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    assert parts(markdown(tmp_path, text)) == [(("G",), "• one\n• two\na | b\n1 | 2")]


def test_text_before_the_first_heading_is_named_by_the_file(tmp_path: Path) -> None:
    assert parts(markdown(tmp_path, "Hello.\n")) == [(("my guide",), "Hello.")]


def test_front_matter_comments_and_links_leave_only_words(tmp_path: Path) -> None:
    text = "---\nauthor: x\n---\n# G\n\n<!-- no -->See [the page](http://a.b) and ![a picture](p.png).\n"
    assert parts(markdown(tmp_path, text)) == [(("G",), "See the page and a picture.")]


def test_windows_line_ends_are_line_ends(tmp_path: Path) -> None:
    assert parts(markdown(tmp_path, "# G\r\n\r\nOne.\r\n")) == [(("G",), "One.")]


def test_a_line_separator_is_white_space(tmp_path: Path) -> None:
    assert parts(markdown(tmp_path, "# G\n\nOne\u2028two.\n")) == [(("G",), "One two.")]


def test_a_file_that_is_not_utf_8_is_read_with_a_note(tmp_path: Path) -> None:
    extraction = markdown(tmp_path, "# Größe\n\nText.\n".encode("cp1252"))
    assert (extraction.title, len(extraction.notes)) == ("Größe", 1)


def test_capitals_and_numbers_alone_on_a_line_are_headings_of_plain_text(tmp_path: Path) -> None:
    path = tmp_path / "guide.txt"
    path.write_text("FLUIDS\n\nDrink much.\n\n1.1 Salt\n\nUse little.\n", encoding="utf-8")
    assert [(part.heading, part.text) for part in read_plain(path).parts] == [
        ("FLUIDS", "Drink much."),
        ("1.1 Salt", "Use little."),
    ]


def test_a_form_feed_starts_a_page(tmp_path: Path) -> None:
    path = tmp_path / "guide.txt"
    path.write_text("One.\n\fTwo.\n", encoding="utf-8")
    assert read_plain(path).parts[0].page_marks == ((0, 1), (5, 2))


def test_front_matter_and_comments_are_left_out_and_kept_with_their_places(tmp_path: Path) -> None:
    path = tmp_path / "guide.md"
    path.write_text("---\ntitle: x\n---\n# Salt\nUse <!-- not\nreally --> little.\n", encoding="utf-8")
    extraction = read_markdown(path)
    source = extraction.page_texts[0]
    assert [source[slice(*one.spans[0])].strip() for one in extraction.removed_texts] == [
        "---\ntitle: x\n---",
        "<!-- not\nreally -->",
    ]
