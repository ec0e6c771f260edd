"""Read a Word file (.docx) into an ``Extraction``: headings by style, lists, tables; headers and footers left out."""

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

from transplantqa.corpus.cleaning import plain
from transplantqa.corpus.extraction import Extraction
from transplantqa.corpus.lines import BULLET, CELL_SEPARATOR, Line, Removed
from transplantqa.corpus.text_files import Original, extraction_of

MAX_XML_BYTES = 100 << 20
"""Size of the unpacked text above which a file isn't read. Ours."""
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_HEADING = re.compile(r"^heading ?([1-9])$", re.IGNORECASE)
_NO_DOCX = "not a readable Word file: damaged, encrypted, or of the old .doc kind"


def read_docx(path: Path) -> Extraction:
    """Read a Word file. Tracked deletions are left out, insertions are taken in."""
    try:
        with zipfile.ZipFile(path) as archive:
            document = _xml(archive, "word/document.xml")
            levels = _heading_levels(archive)
    except (zipfile.BadZipFile, KeyError, ET.ParseError, NotImplementedError, RuntimeError):
        return Extraction(failure=_NO_DOCX)
    except _TooLargeError:
        return Extraction(failure=f"more than {MAX_XML_BYTES >> 20} MB of text when unpacked")
    body = document.find(f"{_W}body")
    lines = list(_lines(body, levels)) if body is not None else []
    title = next((line.text for line in lines if line.level == 0), None)
    for line in lines:
        line.level = max(1, line.level) if line.level is not None else None
    removed = tuple(_deleted(body)) if body is not None else ()
    return extraction_of(path, lines, Original(removed=removed), title)


class _TooLargeError(Exception):
    """A part of the archive unpacks to too much."""


def _xml(archive: zipfile.ZipFile, name: str) -> ET.Element:
    with archive.open(name) as member:
        data = member.read(MAX_XML_BYTES + 1)
    if len(data) > MAX_XML_BYTES:
        raise _TooLargeError
    return ET.fromstring(data)  # noqa: S314 - expat refuses entity bombs, and the process is bounded


def _heading_levels(archive: zipfile.ZipFile) -> dict[str, int]:
    """Return style id to heading level; 0 is the title."""
    if "word/styles.xml" not in archive.namelist():
        return {}
    levels = {}
    for style in _xml(archive, "word/styles.xml").iter(f"{_W}style"):
        name = style.find(f"{_W}name")
        text = name.get(f"{_W}val", "") if name is not None else ""
        match = _HEADING.match(text)
        if match or text.lower() == "title":
            levels[style.get(f"{_W}styleId", "")] = int(match.group(1)) if match else 0
    return levels


def _lines(body: ET.Element, levels: dict[str, int]) -> Iterator[Line]:
    for child in body:
        if child.tag == f"{_W}p":
            yield from _paragraph(child, levels)
        elif child.tag == f"{_W}tbl":
            for row in child.iter(f"{_W}tr"):
                cells = [plain(" ".join(_text(p) for p in cell.iter(f"{_W}p"))) for cell in row.findall(f"{_W}tc")]
                if any(cells):
                    header = row.find(f"{_W}trPr/{_W}tblHeader") is not None
                    yield Line(1, CELL_SEPARATOR.join(cells), kind="row", header=header)
        elif child.tag in (f"{_W}sdt", f"{_W}sdtContent"):
            yield from _lines(child, levels)


def _paragraph(paragraph: ET.Element, levels: dict[str, int]) -> Iterator[Line]:
    text = plain(_text(paragraph))
    if not text:
        return
    style = paragraph.find(f"{_W}pPr/{_W}pStyle")
    level = levels.get(style.get(f"{_W}val", "")) if style is not None else None
    if level is None and paragraph.find(f"{_W}pPr/{_W}numPr") is not None:
        text = f"{BULLET} {text}"
    yield Line(1, text, kind="item", level=level)


def _deleted(body: ET.Element) -> Iterator[Removed]:
    """Yield the text of tracked deletions."""
    for deletion in body.iter(f"{_W}del"):
        if text := plain("".join(node.text or "" for node in deletion.iter(f"{_W}delText"))):
            yield Removed(1, "deletions", text)


def _text(paragraph: ET.Element) -> str:
    pieces = []
    for node in paragraph.iter():
        if node.tag == f"{_W}t":
            pieces.append(node.text or "")
        elif node.tag in (f"{_W}tab", f"{_W}br", f"{_W}cr"):
            pieces.append(" ")
    return "".join(pieces)
