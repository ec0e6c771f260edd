"""Read Markdown and plain text into an ``Extraction``: one page, headings from the markup."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from transplantqa.corpus.cleaning import changed_characters, counted, plain, vocabulary
from transplantqa.corpus.extraction import Extraction, PageFacts, parts_of
from transplantqa.corpus.lines import BULLET, Line, Removed, starts_item

_ATX = re.compile(r"^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_SETEXT = re.compile(r"^ {0,3}(=+|-{2,})[ \t]*$")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_BULLET_ITEM = re.compile(r"^\s*[-*+][ \t]+(?=\S)")
_TABLE_RULE = re.compile(r"^\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$")
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)")
_EMPHASIS = re.compile(r"(\*\*|__|\*|(?<!\w)_|`)(?=\S)(.+?)(?<=\S)\1(?!\w)")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_FRONT_MATTER = re.compile(r"\A---\n.*?\n(?:---|\.\.\.)\n", re.DOTALL)
_CAPITALS = re.compile(r"^[^a-z]*[A-Z]{3}[^a-z]*$")
_NUMBERED = re.compile(r"^(\d{1,2}(?:\.\d{1,2})*)[.)]?\s+[A-Z]\S*(?:\s\S+){0,9}$")


def decode(data: bytes) -> tuple[str, bool]:
    """Decode a text file; the second value tells whether it had to be taken for Windows-1252."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace"), False
    try:
        return data.decode("utf-8-sig"), False
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace"), True


def read_markdown(path: Path) -> Extraction:
    """Read a Markdown file: ATX and underlined headings, lists and tables; code blocks are text, never headings."""
    source, notes = load_text(path)
    front = _FRONT_MATTER.match(source)
    found = [front] if front else []
    found += _COMMENT.finditer(source, front.end() if front else 0)
    removed = [Removed(1, "left_out", match.group().strip(), "", (match.span(),)) for match in found]
    text = _COMMENT.sub("", source[front.end() if front else 0 :])
    return extraction_of(path, list(_markdown_lines(text.split("\n"))), Original((source,), tuple(removed), notes))


def read_plain(path: Path) -> Extraction:
    """Read a text file; a form feed starts a page, a line alone in capitals or with a section number is a heading."""
    text, notes = load_text(path)
    lines: list[Line] = []
    pages = tuple(text.split("\f"))
    for page, page_text in enumerate(pages, start=1):
        lines.extend(_plain_lines(page_text.split("\n"), page))
    return extraction_of(path, lines, Original(pages, notes=notes))


@dataclass(frozen=True, slots=True)
class Original:
    """A file's text page by page before cleaning, what was left out of it, and doubts about it."""

    pages: tuple[str, ...] = ()
    removed: tuple[Removed, ...] = ()
    notes: tuple[str, ...] = ()


def extraction_of(path: Path, lines: list[Line], original: Original, title: str | None = None) -> Extraction:
    """Return the extraction of a file whose headings are marked up; its title is the first top heading if not given."""
    top = next((line.text for line in lines if line.level == 1), None)
    title = title or top or plain(re.sub(r"[_\-]+", " ", path.stem)) or path.name
    counts: dict[int, int] = {}
    for line in lines:
        counts[line.page] = counts.get(line.page, 0) + len(line.text)
    last = max(counts, default=1)
    changes = [one for n, page in enumerate(original.pages[:last], start=1) for one in changed_characters(page, n)]
    removed = (*original.removed, *changes)
    return Extraction(
        title=title,
        parts=parts_of(lines, title, vocabulary(line.text for line in lines)),
        pages=tuple(PageFacts(page, counts.get(page, 0)) for page in range(1, last + 1)),
        page_count=last,
        headings_from="markup" if any(line.level for line in lines) else "none",
        removed=counted(removed),
        removed_texts=removed,
        page_texts=original.pages[:last],
        notes=original.notes,
    )


def load_text(path: Path) -> tuple[str, tuple[str, ...]]:
    """Return a text file with line feeds for line ends, and notes of doubt about its encoding."""
    text, guessed = decode(path.read_bytes())
    notes = ("not UTF-8: read as Windows-1252, check accents and symbols",) if guessed else ()
    return text.replace("\r\n", "\n").replace("\r", "\n"), notes


def _markdown_lines(source: list[str]) -> Iterator[Line]:
    fence = ""
    fresh = True
    index = 0
    while index < len(source):
        raw = source[index]
        index += 1
        mark = _FENCE.match(raw)
        if fence:
            if mark and mark.group(1).startswith(fence) and raw.strip() == mark.group(1):
                fence = ""
            elif text := plain(raw):
                yield Line(1, text, kind="item")
            continue
        if mark:
            fence = mark.group(1)
            continue
        heading = _heading(raw, source[index] if index < len(source) else "", fresh=fresh)
        if heading:
            level, text, used = heading
            index += used
            fresh = True
            if text:
                yield Line(1, text, level=level)
            continue
        line = _markdown_line(raw, fresh=fresh)
        fresh = not raw.strip()
        if line is not None:
            line.header = line.kind == "row" and index < len(source) and _TABLE_RULE.match(source[index]) is not None
            yield line


def _heading(raw: str, following: str, *, fresh: bool) -> tuple[int, str, int] | None:
    """Return (level, text, lines used up beyond the first) when a line is a heading."""
    if match := _ATX.match(raw):
        return len(match.group(1)), _inline(match.group(2) or ""), 0
    rule = _SETEXT.match(following)
    if rule and fresh and raw.strip() and not _BULLET_ITEM.match(raw) and "|" not in raw:
        return 1 if rule.group(1)[0] == "=" else 2, _inline(raw), 1
    return None


def _markdown_line(raw: str, *, fresh: bool) -> Line | None:
    if _TABLE_RULE.match(raw) or not raw.strip():
        return None
    if raw.lstrip().startswith("|"):
        cells = [_inline(cell) for cell in re.split(r"(?<!\\)\|", raw.strip().strip("|"))]
        return Line(1, " | ".join(cells), kind="row")
    text = _inline(_BULLET_ITEM.sub(f"{BULLET} ", raw).lstrip("> "))
    if not text:
        return None
    return Line(1, text, kind="item" if starts_item(text) else "text", starts_block=fresh)


def _inline(text: str) -> str:
    text = _LINK.sub(r"\1", text)
    for _ in range(3):
        text = _EMPHASIS.sub(r"\2", text)
    return plain(re.sub(r"\\([\\`*_{}\[\]()#+\-.!|>])", r"\1", text))


def _plain_lines(source: list[str], page: int) -> Iterator[Line]:
    fresh = True
    for index, raw in enumerate(source):
        text = plain(raw)
        if not text:
            fresh = True
            continue
        alone = fresh and (
            index + 1 == len(source) or not source[index + 1].strip() or _CAPITALS.match(text) is not None
        )
        level = _plain_level(text) if alone and len(text) <= 80 else None
        kind = "item" if level is None and starts_item(text) else "text"
        yield Line(page, text, kind=kind, starts_block=fresh, level=level)  # type: ignore[arg-type]
        fresh = level is not None


def _plain_level(text: str) -> int | None:
    if numbered := _NUMBERED.match(text):
        return None if text.endswith((".", ";", ",")) else numbered.group(1).count(".") + 1
    return 1 if _CAPITALS.match(text) and not text.endswith((".", "!", ",")) else None
