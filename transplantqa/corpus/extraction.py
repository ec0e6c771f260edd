"""What is read from one file before it becomes rows: text in headed parts, and the facts quality is judged by.

This is also what the worker process sends back, as JSON.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any

from transplantqa.corpus.cleaning import join_hyphenated, joined_word
from transplantqa.corpus.lines import Line, Removed
from transplantqa.corpus.tables import table_of

_SENTENCE_END = (".", "!", "?", ":", ";", "”", "\u201d", ")", "…")


@dataclass(frozen=True, slots=True)
class Part:
    """A headed part. ``page_marks``: (offset, page), the page from that character of ``text`` on; level from 1.

    ``tables``: (start, end of the lines that name its columns, end) of each table in ``text``; the first two are the
    same where none does.
    """

    level: int
    heading: str
    heading_path: tuple[str, ...]
    text: str
    page_start: int
    page_marks: tuple[tuple[int, int], ...]
    tables: tuple[tuple[int, int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class PageFacts:
    """What one page holds. ``characters`` are those before cleaning; ``images`` and ``paths`` count drawn objects.

    ``confidence`` is that of OCR, if the text was read off the page's picture; null where it is the file's. ``filled``
    counts form fields with a value, which isn't read; ``label`` is the page's printed number, if it is given one other
    than its place in the file.
    """

    page: int
    characters: int
    images: int = 0
    paths: int = 0
    invisible_share: float = 0.0
    unmapped_share: float = 0.0
    odd: int = 0
    failed: bool = False
    filled: int = 0
    label: str | None = None
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Extraction:
    """The parts of one file, with what was changed and removed (counted by kind) and where the headings came from.

    ``removed_texts`` is each piece that was taken out or written another way, ``page_texts`` what each page holds
    before that, in the order of the file; empty where the file itself is text. ``notes`` are doubts of the reader
    itself. ``failure`` is set, in plain words, when the file can't be read; there are no parts then. It is
    ``transient`` when it says nothing about the file: another try may succeed.
    """

    title: str = ""
    parts: tuple[Part, ...] = ()
    pages: tuple[PageFacts, ...] = ()
    page_count: int = 0
    headings_from: str = "none"
    removed: dict[str, int] = field(default_factory=dict)
    removed_texts: tuple[Removed, ...] = ()
    page_texts: tuple[str, ...] = ()
    form_fields: bool = False
    xfa: bool = False
    notes: tuple[str, ...] = ()
    failure: str | None = None
    transient: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return asdict(self)


def parts_of(lines: Sequence[Line], title: str, words: frozenset[str]) -> tuple[Part, ...]:
    """Cut lines into parts at their headings and join the lines of each into paragraphs.

    A paragraph, a list item and a table row are each one line of ``Part.text``. Text before the first heading becomes a
    part named by the title. A heading with neither text nor sub-headings keeps its own words as text.

    Args:
        lines: in reading order, heading lines with their level.
        title: the document's title.
        words: the document's vocabulary, for line-end hyphens.
    """
    groups: list[tuple[Line | None, list[Line]]] = [(None, [])]
    for line in lines:
        if line.level is None:
            groups[-1][1].append(line)
        else:
            groups.append((line, []))
    parts: list[Part] = []
    path: list[tuple[int, str]] = []
    for number, (heading, body) in enumerate(groups):
        if heading is None:
            if body:
                text, marks, tables = _flow(body, words)
                parts.append(Part(1, title, (title,), text, body[0].page, marks, tables))
            continue
        level = heading.level or 1
        path = [*(step for step in path if step[0] < level), (level, heading.text)]
        following = groups[number + 1][0] if number + 1 < len(groups) else None
        if body:
            text, marks, tables = _flow(body, words)
        elif following is not None and (following.level or 1) > level:
            continue
        else:
            text, marks, tables = heading.text, ((0, heading.page),), ()
        names = tuple(name for _, name in path)
        parts.append(Part(len(path), heading.text, names, text, heading.page, marks, tables))
    return tuple(part for part in parts if part.text)


Marks = tuple[tuple[int, int], ...]
Tables = tuple[tuple[int, int, int], ...]


def _flow(lines: Sequence[Line], words: frozenset[str]) -> tuple[str, Marks, Tables]:
    pieces: list[str] = []
    marks: list[tuple[int, int]] = []
    tables: list[tuple[int, int, int]] = []
    rows: list[tuple[int, Line]] = []
    length = 0
    previous: Line | None = None
    for line in lines:
        if previous is not None:
            if _same_paragraph(previous, line):
                if previous.hyphen:
                    joined = join_hyphenated(pieces[-1], line.text, words)
                    kept = joined[: len(joined) - len(line.text)]
                    length += len(kept) - len(pieces[-1])
                    pieces[-1] = kept
                else:
                    pieces.append(" ")
                    length += 1
            else:
                pieces.append("\n")
                length += 1
        if not marks or marks[-1][1] != line.page:
            marks.append((length, line.page))
        if line.kind == "row":
            rows.append((length, line))
        elif rows:
            tables += table_of(rows)
            rows = []
        pieces.append(line.text)
        length += len(line.text)
        previous = line
    tables += table_of(rows)
    return "".join(pieces), tuple(marks), tuple(tables)


def rejoined(lines: Sequence[Line], words: frozenset[str]) -> list[Removed]:
    """Return the words that line ends had parted and ``parts_of`` joins; lines and words as there."""
    return [
        joined_word(one.text, other.text, one.page, (*one.places[-1:], *other.places[:1]), words)
        for one, other in pairwise(lines)
        if one.hyphen and one.level is None and other.level is None and _same_paragraph(one, other)
    ]


def _same_paragraph(previous: Line, line: Line) -> bool:
    if line.kind != "text" or previous.kind == "row":
        return False
    if previous.hyphen and line.text[0].islower():
        return True
    if line.starts_block:
        return (
            previous.size == line.size
            and previous.bold == line.bold
            and not previous.text.endswith(_SENTENCE_END)
            and line.text[0].islower()
            and (previous.page != line.page or previous.base < line.base)
        )
    return True
