"""The small Markdown the samples are written in, parsed into blocks."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

BlockKind = Literal["heading", "paragraph", "bullet", "numbered", "table", "box", "page_break"]

PAGE_BREAK = "<!-- page -->"
_NUMBERED = re.compile(r"(\d+)\. +(.*)")
_STARTS_BLOCK = re.compile(r"#{1,3} |- |\d+\. +|\||> |<!-- page -->")


@dataclass(frozen=True, slots=True)
class Block:
    """One block of text. ``level`` is 1 to 3 for a heading, ``number`` what a numbered item is labelled with."""

    kind: BlockKind
    text: str = ""
    level: int = 0
    number: int = 0
    rows: tuple[tuple[str, ...], ...] = ()


def parse(markdown: str) -> list[Block]:
    """Parse headings (``#`` to ``###``), paragraphs, ``-`` and ``1.`` items, pipe tables, ``>`` boxes, page breaks.

    A line that starts none of these continues the block above it; a blank line ends the block. Inline marks are kept.
    """
    return [_block(lines) for lines in _groups(markdown.split("\n"))]


def _groups(lines: list[str]) -> Iterator[list[str]]:
    group: list[str] = []
    for line in lines:
        joins_table = bool(group) and group[-1].startswith("|") and line.startswith("|")
        joins_box = bool(group) and group[-1].startswith("> ") and line.startswith("> ")
        starts = bool(_STARTS_BLOCK.match(line)) and not joins_table and not joins_box
        if group and (starts or not line.strip()):
            yield group
            group = []
        if line.strip():
            group.append(line.rstrip())
    if group:
        yield group


def _block(lines: list[str]) -> Block:
    first = lines[0]
    if first == PAGE_BREAK:
        return Block("page_break")
    if first.startswith("|"):
        return Block("table", rows=_table_rows(lines))
    if first.startswith("> "):
        return Block("box", " ".join(line.removeprefix("> ").strip() for line in lines))
    return _text_block(" ".join(line.strip() for line in lines))


def _text_block(text: str) -> Block:
    if text.startswith("#"):
        marks, _, title = text.partition(" ")
        return Block("heading", title.strip(), level=len(marks))
    if text.startswith("- "):
        return Block("bullet", text[2:].strip())
    numbered = _NUMBERED.match(text)
    if numbered:
        return Block("numbered", numbered[2], number=int(numbered[1]))
    return Block("paragraph", text)


def _table_rows(lines: list[str]) -> tuple[tuple[str, ...], ...]:
    rows = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines]
    return tuple(row for row in rows if not all(set(cell) <= set(":-") for cell in row))
