"""HTML and Word files: headings, lists and tables; nothing of menus, scripts and tracked deletions."""

import zipfile
from pathlib import Path

from transplantqa.corpus.docx_files import read_docx
from transplantqa.corpus.extraction import Extraction
from transplantqa.corpus.html_files import read_html

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
STYLES = f"""<w:styles {W}><w:style w:styleId="Tit"><w:name w:val="Title"/></w:style>
<w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style></w:styles>"""


def html(tmp_path: Path, text: str) -> Extraction:
    path = tmp_path / "guide.html"
    path.write_text(text, encoding="utf-8")
    return read_html(path)


def docx(tmp_path: Path, body: str) -> Extraction:
    path = tmp_path / "guide.docx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("word/document.xml", f"<w:document {W}><w:body>{body}</w:body></w:document>")
        archive.writestr("word/styles.xml", STYLES)
    return read_docx(path)


def paragraph(text: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def parts(extraction: Extraction) -> list[tuple[tuple[str, ...], str]]:
    return [(part.heading_path, part.text) for part in extraction.parts]


def test_html_headings_give_the_path_and_the_title_tag_the_title(tmp_path: Path) -> None:
    extraction = html(
        tmp_path, "<title>My Guide</title><h1>Food</h1><h2>Salt</h2><p>Use <b>little</b>.</p><p>Read labels."
    )
    assert (extraction.title, parts(extraction)) == ("My Guide", [(("Food", "Salt"), "Use little.\nRead labels.")])


def test_html_menus_scripts_and_styles_are_no_text(tmp_path: Path) -> None:
    text = "<nav>Home</nav><script>a = '<p>no</p>';</script><style>p{}</style><h1>A</h1><p>Yes.</p><footer>x</footer>"
    assert parts(html(tmp_path, text)) == [(("A",), "Yes.")]


def test_html_lists_and_tables_are_lines(tmp_path: Path) -> None:
    table = "<table><tr><th>a</th><th>b</th></tr><tr><td><p>1</p></td><td>2</td></tr></table>"
    text = f"<h1>A</h1><ul><li>one<li>two</ul>{table}"
    assert parts(html(tmp_path, text)) == [(("A",), "• one\n• two\na | b\n1 | 2")]


def test_html_character_references_are_characters(tmp_path: Path) -> None:
    assert parts(html(tmp_path, "<h1>A</h1><p>2&nbsp;g &lt; 3&nbsp;g</p>")) == [(("A",), "2 g < 3 g")]


def test_word_headings_are_known_by_the_name_of_their_style(tmp_path: Path) -> None:
    body = paragraph("Salt", '<w:pStyle w:val="berschrift1"/>') + paragraph("Use little.")
    assert parts(docx(tmp_path, body)) == [(("Salt",), "Use little.")]


def test_word_lists_and_tables_are_lines(tmp_path: Path) -> None:
    row = f"<w:tr><w:tc>{paragraph('a')}</w:tc><w:tc>{paragraph('b')}</w:tc></w:tr>"
    body = paragraph("one", "<w:numPr/>") + f"<w:tbl>{row}</w:tbl>"
    assert parts(docx(tmp_path, body)) == [(("guide",), "• one\na | b")]


def test_word_deletions_are_left_out(tmp_path: Path) -> None:
    deleted = "<w:del><w:r><w:delText>much</w:delText></w:r></w:del>"
    body = f"<w:p><w:r><w:t>Use </w:t></w:r>{deleted}<w:r><w:t>little</w:t></w:r></w:p>"
    assert parts(docx(tmp_path, body)) == [(("guide",), "Use little")]


def test_a_file_that_is_no_word_file_has_a_named_failure(tmp_path: Path) -> None:
    path = tmp_path / "guide.docx"
    path.write_bytes(b"\xd0\xcf\x11\xe0 an old one")
    assert read_docx(path).failure == "not a readable Word file: damaged, encrypted, or of the old .doc kind"


def test_what_is_left_out_of_html_is_kept_with_its_place(tmp_path: Path) -> None:
    extraction = html(tmp_path, "<nav>\nHome page</nav><script>a</script><h1>A</h1><p>Yes.</p><footer>Call us</footer>")
    pieces = [(one.kind, one.text) for one in extraction.removed_texts]
    assert pieces == [("left_out", "Home page"), ("left_out", "Call us")]
    places = [extraction.page_texts[0][slice(*one.spans[0])].strip() for one in extraction.removed_texts]
    assert (places, extraction.removed) == (["Home page", "Call us"], {"left_out": 2})


def test_an_empty_cell_keeps_its_column(tmp_path: Path) -> None:
    table = "<table><tr><th>Day</th><th>Am</th><th>Pm</th></tr><tr><td>1</td><td></td><td>5 mg</td></tr></table>"
    assert parts(html(tmp_path, table))[0][1] == "Day | Am | Pm\n1 |  | 5 mg"


def test_tracked_deletions_are_listed(tmp_path: Path) -> None:
    deletion = "<w:del><w:r><w:delText>salted</w:delText></w:r></w:del>"
    extraction = docx(tmp_path, f"<w:p><w:r><w:t>Eat </w:t></w:r>{deletion}<w:r><w:t>rice.</w:t></w:r></w:p>")
    assert [(one.kind, one.text) for one in extraction.removed_texts] == [("deletions", "salted")]


def test_html_menus_and_contents_marked_by_class_are_no_text(tmp_path: Path) -> None:
    text = "<div class='toc x'><div>One</div>Two</div><h1>A<a class='headerlink' href='#a'>P</a></h1><p>Yes.</p>"
    extraction = html(tmp_path, text)
    assert parts(extraction) == [(("A",), "Yes.")]
    assert [one.text for one in extraction.removed_texts] == ["One", "Two", "P"]
