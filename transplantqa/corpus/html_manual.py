"""Read a folder of linked HTML files as one document: its files are the pages, in the order of its contents."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

from transplantqa.corpus.cleaning import plain
from transplantqa.corpus.extraction import Extraction
from transplantqa.corpus.html_files import PageParser, left_out, parsed
from transplantqa.corpus.lines import Line, Removed
from transplantqa.corpus.text_files import Original, extraction_of, load_text

SUFFIXES = frozenset({".html", ".htm", ".xhtml"})
MAX_NAMED = 3
"""Files named in a doubt before "and so many more". Ours."""


@dataclass(frozen=True, slots=True)
class Contents:
    """A manual's files in order, each with its depth in the contents (0: the first), and links to files not there."""

    pages: tuple[tuple[Path, int], ...]
    missing: tuple[str, ...]


def first_page(folder: Path) -> Path | None:
    """Return the file that a manual's contents start from: ``index.html`` or the like, the shortest name first."""
    found = [path for path in folder.glob("index*") if path.suffix.lower() in SUFFIXES and _inside(path, folder)]
    return min(found, key=lambda path: (len(path.name), path.name), default=None)


def html_files(folder: Path) -> list[Path]:
    """Return all HTML files under a folder, by path."""
    return sorted(path for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES and _inside(path, folder))


def contents(folder: Path, max_pages: int) -> Contents:
    """Follow the links from the first page: a page's own come after it, those that a page before it has, there.

    Each file is read once, whatever leads to it; nothing outside the folder is. At most one page more than
    ``max_pages`` is returned.
    """
    first = first_page(folder)
    if first is None:
        return Contents((), ())
    start = first.resolve()
    claimed = {start}
    missing: dict[str, None] = {}
    pages: list[tuple[Path, int]] = []
    waiting = [(start, 0)]
    while waiting and len(pages) <= max_pages:
        page, depth = waiting.pop()
        pages.append((page, depth))
        following = []
        links = parsed(load_text(page)[0]).links
        lowest = min((lists for _, lists in links if lists), default=0)
        for href, lists in sorted(links, key=lambda link: link[1] == 0):
            target = _target(page, href, folder.resolve())
            if target is None or target in claimed:
                continue
            claimed.add(target)
            if target.is_file():
                following.append((target, depth + 1 + max(0, lists - lowest)))
            else:
                missing[target.name] = None
        waiting += reversed(following)
    return Contents(tuple(pages), tuple(missing))


def read_manual(folder: Path, max_pages: int) -> Extraction:
    """Read a manual; links to files that aren't there, and files that nothing links to, are told as doubts."""
    found = contents(folder, max_pages)
    if not found.pages:
        return Extraction(failure="a folder without an index.html: name the files one by one")
    if len(found.pages) > max_pages:
        return Extraction(failure=f"more than {max_pages:,} linked pages (corpus.max_pages)")
    lines: list[Line] = []
    texts: list[str] = []
    removed: list[Removed] = []
    notes: dict[str, None] = dict.fromkeys(_doubts(folder, found))
    title = ""
    for number, (path, depth) in enumerate(found.pages, start=1):
        text, doubts = load_text(path)
        page = parsed(text)
        title = title or plain(page.title)
        lines += _nested(page, number, depth)
        texts.append(text)
        removed += left_out(page, text, number)
        notes.update(dict.fromkeys(doubts))
    extraction = extraction_of(folder, lines, Original(tuple(texts), tuple(removed), tuple(notes)), title or None)
    last = extraction.page_count
    labels = [path.relative_to(folder.resolve()).as_posix() for path, _ in found.pages]
    return replace(
        extraction,
        pages=tuple(replace(page, label=label) for page, label in zip(extraction.pages, labels, strict=False)),
        removed_texts=tuple(one for one in extraction.removed_texts if one.page <= last),
    )


def _nested(page: PageParser, number: int, depth: int) -> Iterator[Line]:
    """Yield a page's lines, its highest headings at the level of its place in the contents."""
    top = min((line.level for line in page.lines if line.level), default=1)
    for line in page.lines:
        line.page = number
        line.starts_block = line.starts_block or line is page.lines[0]
        if line.level:
            line.level += max(1, depth) - top
        yield line


def _doubts(folder: Path, found: Contents) -> Iterator[str]:
    if found.missing:
        yield f"its pages link to files that aren't there: {_some(found.missing)}"
    read = {path for path, _ in found.pages}
    known = set(map(_hash, read))
    unlinked = [path for path in html_files(folder) if path.resolve() not in read and _hash(path) not in known]
    if unlinked:
        names = tuple(path.relative_to(folder).as_posix() for path in unlinked)
        yield f"files of its folder that no page links to aren't read: {_some(names)}"


def _hash(path: Path) -> bytes:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").digest()


def _some(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return ", ".join(map(plain, names[:MAX_NAMED])) + more


def _target(page: Path, href: str, folder: Path) -> Path | None:
    """Return the HTML file within the folder that a link names, whether it is there or not; null for other links."""
    try:
        parts = urlsplit(href)
        path = (page.parent / unquote(parts.path)).resolve()
    except (ValueError, OSError):
        return None
    if parts.scheme or parts.netloc or not parts.path or path.suffix.lower() not in SUFFIXES:
        return None
    return path if _inside(path, folder) else None


def _inside(path: Path, folder: Path) -> bool:
    return path.resolve().is_relative_to(folder.resolve())
