"""Headings of a PDF from its tags, its outline or its typography, whichever can be trusted first."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pypdfium2.raw as pdfium_c

from transplantqa.corpus.cleaning import join_lines
from transplantqa.corpus.lines import Line
from transplantqa.corpus.pdf_characters import Handle

MAX_NODES = 50_000
MAX_DEPTH = 64
MAX_OUTLINE = 5_000
_HEADING_TAG = re.compile(r"^(?:H([1-6])?|Title)$")
_NUMBERING = re.compile(
    r"^\W*(?:(?:chapter|section|part|appendix)\s+)?(?:\d{1,3}(?:\.\d{1,3})*|[A-Z]|[IVX]{1,5})[.):]?\s+(?=\S)",
    re.IGNORECASE,
)
_DEPTH = re.compile(r"^(?:(?:chapter|section|part|appendix)\s+)?(\d{1,3}(?:\.\d{1,3})*)[.):]?\s")
_LETTERS = re.compile(r"[^\W\d_]{2}")
_LEADERS = re.compile(r"(?:\. ?){4,}")
_KEY = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """One bookmark: ``level`` from 0, ``page`` from 1 or None where its destination is missing."""

    level: int
    title: str
    page: int | None


def heading_marks(page: Handle) -> dict[int, int]:
    """Return marked-content id to heading level (1-6) from a tagged page's structure tree."""
    tree = pdfium_c.FPDF_StructTree_GetForPage(page.raw)
    if not tree:
        return {}
    try:
        marks: dict[int, int] = {}
        budget = [MAX_NODES]
        for index in range(min(MAX_NODES, max(0, pdfium_c.FPDF_StructTree_CountChildren(tree)))):
            _walk(pdfium_c.FPDF_StructTree_GetChildAtIndex(tree, index), None, 0, marks, budget)
        return marks
    finally:
        pdfium_c.FPDF_StructTree_Close(tree)


def _walk(element: Handle, level: int | None, depth: int, marks: dict[int, int], budget: list[int]) -> None:
    if not element or depth > MAX_DEPTH or budget[0] <= 0:
        return
    budget[0] -= 1
    match = _HEADING_TAG.match(_element_type(element))
    if match:
        level = int(match.group(1) or 1)
    if level is not None:
        for index in range(max(0, pdfium_c.FPDF_StructElement_GetMarkedContentIdCount(element))):
            mark = pdfium_c.FPDF_StructElement_GetMarkedContentIdAtIndex(element, index)
            if mark >= 0:
                marks[mark] = level
    for index in range(min(MAX_NODES, max(0, pdfium_c.FPDF_StructElement_CountChildren(element)))):
        if level is not None:
            mark = pdfium_c.FPDF_StructElement_GetChildMarkedContentID(element, index)
            if mark >= 0:
                marks[mark] = level
        _walk(pdfium_c.FPDF_StructElement_GetChildAtIndex(element, index), level, depth + 1, marks, budget)


def _element_type(element: Handle) -> str:
    length = pdfium_c.FPDF_StructElement_GetType(element, None, 0)
    buffer = (pdfium_c.FPDF_WCHAR * (length // 2 + 1))()
    pdfium_c.FPDF_StructElement_GetType(element, buffer, length)
    return bytes(buffer)[: max(0, length - 2)].decode("utf-16-le", "replace")


def read_outline(document: Handle) -> list[OutlineEntry]:
    """Return the bookmarks of a pypdfium2 document, no more than ``MAX_OUTLINE``."""
    entries = []
    for bookmark in document.get_toc(max_depth=15):
        destination = bookmark.get_dest()
        index = destination.get_index() if destination else None
        entries.append(
            OutlineEntry(bookmark.level, bookmark.get_title() or "", None if index is None or index < 0 else index + 1)
        )
        if len(entries) >= MAX_OUTLINE:
            break
    return entries


def mark_headings(lines: list[Line], marks: Mapping[int, Mapping[int, int]], outline: Sequence[OutlineEntry]) -> str:
    """Give heading lines their ``level``, joining headings set on several lines; return the source that was trusted.

    Tags come first, then an outline at least half of which is printed on the pages it names, then typography; a source
    that knows less than a third of the headings the next one does is passed over.

    Args:
        lines: the document, running heads and contents removed; changed in place.
        marks: page to (marked-content id to level).
        outline: the bookmarks.
    """
    candidates = [
        ("tags", _from_tags(lines, marks)),
        ("outline", _from_outline(lines, outline)),
        ("typography", _from_style(lines)),
    ]
    for position, (source, found) in enumerate(candidates):
        others = max((len(other) for _, other in candidates[position + 1 :]), default=0)
        if found and 3 * len(found) >= others:
            _apply(lines, found)
            return source
    return "none"


Found = dict[int, tuple[int, int, str]]
"""Index of a heading's first line to (number of lines, level, text)."""


def _apply(lines: list[Line], found: Found) -> None:
    for index in sorted(found, reverse=True):
        count, level, text = found[index]
        lines[index].text = text
        lines[index].level = level
        lines[index].kind = "text"
        del lines[index + 1 : index + count]


def _from_tags(lines: Sequence[Line], marks: Mapping[int, Mapping[int, int]]) -> Found:
    found: Found = {}
    previous: int | None = None
    for index, line in enumerate(lines):
        level = marks.get(line.page, {}).get(line.mark)
        if level is None or not _LETTERS.search(line.text):
            previous = None
            continue
        if previous is not None and _wraps(lines[index - 1], line):
            count, _, text = found[previous]
            found[previous] = (count + 1, level, f"{text} {line.text}")
        else:
            found[index] = (1, level, line.text)
            previous = index
    return found


def _from_outline(lines: Sequence[Line], outline: Sequence[OutlineEntry]) -> Found:
    entries = [entry for entry in outline if _key(entry.title)]
    by_page: dict[int, list[int]] = {}
    for index, line in enumerate(lines):
        by_page.setdefault(line.page, []).append(index)
    found: Found = {}
    matched = 0
    for entry in entries:
        hit = None if entry.page is None else _find(lines, by_page, entry, found)
        if hit is not None:
            matched += 1
            index, count = hit
            found[index] = (count, entry.level + 1, " ".join(entry.title.split()))
    return found if 2 * matched >= len(entries) else {}


def _find(
    lines: Sequence[Line], by_page: Mapping[int, list[int]], entry: OutlineEntry, taken: Found
) -> tuple[int, int] | None:
    """Return (first line, number of lines) of a bookmark's printed heading on its page or the one after."""
    wanted = {_key(entry.title), _key(_NUMBERING.sub("", entry.title, count=1))} - {""}
    for page in (entry.page or 0, (entry.page or 0) + 1):
        for index in by_page.get(page, ()):
            text = ""
            for count in range(1, 4):
                last = index + count - 1
                if last >= len(lines) or last in taken or lines[last].page != page:
                    break
                text = f"{text} {lines[last].text}".strip()
                if _key(text) in wanted or _key(_NUMBERING.sub("", text, count=1)) in wanted:
                    return index, count
    return None


def _key(text: str) -> str:
    return _KEY.sub("", text.casefold())


def _from_style(lines: Sequence[Line]) -> Found:
    """Find headings by size, weight and numbering against the text that most of the document is set in."""
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[line.size] += len(line.text)
    if not sizes:
        return {}
    body = max(sizes, key=lambda size: (sizes[size], -size))
    bold_body = 2 * sum(len(line.text) for line in lines if line.bold) > sum(sizes.values())
    repeats = Counter(line.text for line in lines)
    groups = [group for group in _groups(lines, body) if _plausible(lines, group, body, repeats, bold_body=bold_body)]
    styles = sorted({(-lines[group[0]].size, not lines[group[0]].bold) for group in groups})
    depths = [_DEPTH.match(lines[group[0]].text) for group in groups]
    numbered = bool(groups) and sum(match is not None for match in depths) >= 0.7 * len(groups)
    found: Found = {}
    for group, depth in zip(groups, depths, strict=True):
        first = lines[group[0]]
        level = styles.index((-first.size, not first.bold)) + 1
        if numbered and depth:
            level = depth.group(1).count(".") + 1
        found[group[0]] = (len(group), min(level, 6), _joined(lines, group))
    return found


def _joined(lines: Sequence[Line], group: Sequence[int]) -> str:
    return join_lines([(lines[index].text, lines[index].hyphen) for index in group], frozenset())


def _groups(lines: Sequence[Line], body: float) -> Iterator[list[int]]:
    """Yield runs of lines set in one heading style, each run as one heading may be wrapped."""
    group: list[int] = []
    for index, line in enumerate(lines):
        styled = (
            line.kind != "row"
            and not line.turned
            and (line.size >= 1.12 * body or (line.bold and line.size >= 0.95 * body))
        )
        if group and styled and _wraps(lines[index - 1], line):
            group.append(index)
            continue
        if group:
            yield group
        group = [index] if styled else []
    if group:
        yield group


def _wraps(previous: Line, line: Line) -> bool:
    same = previous.size == line.size and previous.bold == line.bold and previous.page == line.page
    step = previous.base - line.base
    return (
        same
        and 0 < step < 1.7 * line.size
        and not line.starts_block
        and not _DEPTH.match(line.text)
        and line.kind == "text"
    )


def _plausible(
    lines: Sequence[Line], group: Sequence[int], body: float, repeats: Mapping[str, int], *, bold_body: bool
) -> bool:
    first = lines[group[0]]
    text = _joined(lines, group)
    big = first.size >= 1.12 * body
    if not _LETTERS.search(text) or _LEADERS.search(text) or len(text) > (200 if big else 120) or len(group) > 3:
        return False
    if first.kind == "item" and not _DEPTH.match(first.text):
        return False
    if repeats[first.text] > (6 if big else 3):
        return False
    if big:
        return not (text.endswith((".", ";", ",")) and len(text) > 80)
    if bold_body or len(group) > 2 or text.endswith((".", ";", ",", "!")):
        return False
    return _stands_alone(lines, group[0], group[-1] + 1)


def _stands_alone(lines: Sequence[Line], index: int, end: int) -> bool:
    """Tell whether the bold lines ``index``..``end`` are a heading, not emphasis within a paragraph.

    They are not if the text goes on from the line before at the paragraph's own leading without a finished sentence, or
    into the line after in the middle of a sentence.
    """
    before = lines[index - 1] if index else None
    after = lines[end] if end < len(lines) else None
    below = (
        1.7 * lines[index].size
        if after is None or after.page != lines[index].page
        else lines[end - 1].base - after.base
    )
    if after is not None and after.text[0].islower() and 0 < below < 1.7 * after.size:
        return False
    first = lines[index]
    if before is None or before.page != first.page or before.bold or before.size > 1.05 * first.size:
        return True
    above = before.base - first.base
    goes_on = 0 < above < 1.7 * first.size and above <= 1.1 * below
    return not goes_on or before.text.endswith((".", ":", "?", "!"))
