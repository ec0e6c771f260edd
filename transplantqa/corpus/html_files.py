"""Read an HTML page into an ``Extraction``: headings, paragraphs, lists and tables; no scripts, no navigation."""

import re
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path

from transplantqa.corpus.cleaning import plain
from transplantqa.corpus.extraction import Extraction
from transplantqa.corpus.lines import BULLET, CELL_SEPARATOR, Line, Removed
from transplantqa.corpus.text_files import Original, extraction_of, load_text

_SKIPPED = frozenset(
    {"script", "style", "nav", "template", "noscript", "svg", "head", "footer", "aside", "button", "select"}
)
_UNSEEN = frozenset({"script", "style", "template", "svg", "head"})
"""Of these nothing is text that a reader sees."""
_BREAKS = frozenset(
    {
        "p",
        "div",
        "section",
        "article",
        "main",
        "header",
        "ul",
        "ol",
        "table",
        "blockquote",
        "pre",
        "br",
        "hr",
        "dl",
        "dt",
    }
    | {"dd", "li", "tr", "figure", "figcaption", "body", "caption", "details", "summary", "form", "address"}
)
_LEADING_ELSEWHERE = frozenset(
    {"navheader", "navfooter", "sphinxsidebar", "related", "toc", "toctree-wrapper", "headerlink"}
)
"""Classes by which DocBook, Sphinx and others mark what only leads elsewhere: menus and tables of contents."""
_MARKED = frozenset({"div", "section", "table", "ul", "ol", "dl", "a"})
"""What such a class is looked for on."""
_LISTS = frozenset({"ul", "ol", "dl"})
_HEADINGS = {f"h{level}": level for level in range(1, 7)}


class PageParser(HTMLParser):
    """Collects the lines of a page; unclosed tags cost no more than a line break.

    ``links`` are the targets of its links in order, each with the number of lists around it; those of menus are among
    them, though their text isn't among the lines.
    """

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[Line] = []
        self.title = ""
        self.left_out: list[tuple[int, int, str]] = []
        self.links: list[tuple[str, int]] = []
        self._open_lists = 0
        self._text: list[str] = []
        self._cells: list[str] | None = None
        self._names_columns = False
        self._level: int | None = None
        self._item = False
        self._skipping: list[str] = []
        self._in_title = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Start a line, a cell, a heading or something to skip."""
        self._open_lists += tag in _LISTS
        if tag == "a":
            self.links += [(value, self._open_lists) for name, value in attrs if name == "href" and value]
        if tag == "title":
            self._in_title = True
        elif tag in _SKIPPED or tag in self._skipping or (tag in _MARKED and _leads_elsewhere(attrs)):
            if not self._skipping and tag in _BREAKS and self._cells is None:
                self.end_line()
            self._skipping.append(tag)
        elif self._skipping:
            return
        elif tag in ("td", "th"):
            self._end_cell()
            self._names_columns = self._names_columns and tag == "th"
        elif tag in _HEADINGS:
            self.end_line()
            self._level = _HEADINGS[tag]
        elif tag in _BREAKS and self._cells is None:
            self.end_line()
            self._item = tag == "li"
        if tag == "tr" and not self._skipping:
            self.end_line()
            self._cells, self._names_columns = [], True

    def handle_endtag(self, tag: str) -> None:
        """End what was started."""
        self._open_lists = max(0, self._open_lists - (tag in _LISTS))
        if tag == "title":
            self._in_title = False
        elif tag in self._skipping:
            del self._skipping[_last(self._skipping, tag) if tag in _MARKED else self._skipping.index(tag) :]
        elif self._skipping:
            return
        elif tag in ("td", "th"):
            self._end_cell(always=True)
        elif tag == "tr" or tag in _HEADINGS or (tag in _BREAKS and self._cells is None):
            self.end_line()

    def handle_data(self, data: str) -> None:
        """Take text in."""
        if self._in_title:
            self.title += data
        elif not self._skipping:
            self._text.append(data)
        elif data.strip() and _UNSEEN.isdisjoint(self._skipping):
            line, column = self.getpos()
            self.left_out.append((line, column, data))

    def _end_cell(self, *, always: bool = False) -> None:
        """Take the text so far as a cell; an empty one counts where its end is marked, so that columns stay in line."""
        text = plain("".join(self._text))
        if self._cells is not None and (text or always):
            self._cells.append(text)
            self._text = []

    def end_line(self) -> None:
        """Make a line of the text so far."""
        if self._cells is not None:
            self._end_cell()
            if any(self._cells):
                self.lines.append(Line(1, CELL_SEPARATOR.join(self._cells), kind="row", header=self._names_columns))
        elif text := plain("".join(self._text)):
            if self._item and self._level is None:
                self.lines.append(Line(1, f"{BULLET} {text}", kind="item"))
            else:
                self.lines.append(Line(1, text, kind="item", level=self._level))
        self._text, self._cells, self._level, self._item = [], None, None, False


def _leads_elsewhere(attrs: Sequence[tuple[str, str | None]]) -> bool:
    values = {name: value or "" for name, value in attrs}
    return values.get("role") == "navigation" or not _LEADING_ELSEWHERE.isdisjoint(values.get("class", "").split())


def _last(tags: Sequence[str], tag: str) -> int:
    return max(number for number, one in enumerate(tags) if one == tag)


def parsed(text: str) -> PageParser:
    """Return what a page's source holds."""
    page = PageParser()
    page.feed(text)
    page.close()
    page.end_line()
    return page


def left_out(page: PageParser, text: str, number: int) -> list[Removed]:
    """Return what of page ``number``, whose source is ``text``, isn't among its lines though a reader may see it."""
    begins = [0, *(match.end() for match in re.finditer("\n", text))]
    removed = []
    for line, column, piece in page.left_out:
        start = begins[line - 1] + column
        removed.append(Removed(number, "left_out", plain(piece), "", ((start, start + len(piece)),)))
    return removed


def read_html(path: Path) -> Extraction:
    """Read an HTML file; what stands in navigation, footers, scripts and styles is left out."""
    text, notes = load_text(path)
    page = parsed(text)
    original = Original((text,), tuple(left_out(page, text, 1)), notes)
    return extraction_of(path, page.lines, original, plain(page.title) or None)
