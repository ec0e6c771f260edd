"""Cleaning of extracted text: characters, line-end hyphens, running heads and page numbers, contents pages."""

import re
import statistics
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from transplantqa.corpus.lines import Removed, Span, merged

if TYPE_CHECKING:
    from transplantqa.corpus.lines import Line

_PRESENTATION = re.compile(
    "[\ufb00-\ufb06\ufb13-\ufb17\ufb1d-\ufdff\ufe70-\ufefc\uff01-\uff5e\u0132\u0133\u01c4-\u01cc]+"
)
_SPACES = re.compile(r"[ \t\n\r\f\v\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\u0085]+")
_WIDE_SPACES = "\t\f\v\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_COLLAPSED = re.compile(f"[ {_WIDE_SPACES}]{{2,}}|[{_WIDE_SPACES}]")
_IGNORABLE = re.compile("[\u00ad\u200b\u200c\u200d\u2060\ufeff\ufffe\x00-\x08\x0e-\x1f\x7f]")
_CHANGED = {
    "ligatures": _PRESENTATION,
    "unseen_characters": re.compile("[\u00ad\u200b\u200c\u200d\u2060\ufeff]+"),
    "composed_accents": re.compile("[^\\W\\d_][\u0300-\u036f]+"),
}
_WORD = re.compile(r"[^\W\d_]+(?:[-\u2010\u2011][^\W\d_]+)*")
_HYPHENS = "-\u00ad\u2010\ufffe"
_KEPT_PREFIXES = frozenset({"self", "non", "post", "well", "follow"})
_PAGE_NUMBER = re.compile(
    r"^\W*(?:(?:page|p\.|seite|página|pagina)\s*)?(\d{1,4}|[ivxlc]{1,6})(?:\s*(?:of|/|de|von)\s*\d{1,4})?\W*$",
    re.IGNORECASE,
)
_NAMED_PAGE = re.compile(
    r"^\W*(?:(?:page|seite|página|pagina)\s+\d{1,4}(?:\s*(?:of|/|de|von)\s*\d{1,4})?|\d{1,4}\s*/\s*\d{1,4})\W*$",
    re.IGNORECASE,
)
_VARYING = re.compile(r"\d+|\b[ivxlc]+\b", re.IGNORECASE)
_CONTENTS_TITLE = re.compile(
    r"^(?:table of )?contents\W*$|^(?:what.s )?inside(?: this \w+)?\W*$|^in this (?:booklet|guide|handbook|book)\W*$"
    r"|^inhalt(?:sverzeichnis)?$|^índice$|^contenido$|^sommaire$|^table des matières$",
    re.IGNORECASE,
)
_CONTENTS_ENTRY = re.compile(
    r"^(?P<title>\S.*?)(?P<leader>[\s.…·_|]*[\s.…·_|])(?P<page>\d{1,4}|[ivxlc]{1,6})$", re.IGNORECASE
)
_ENTRY_END = frozenset("0123456789ivxlcIVXLC")
_LEADER = re.compile(r"(?:[.…·_]\s?){3,}|…{2,}")
EDGE = 0.14
"""Share of the page's height, from either edge, in which running heads and page numbers are looked for."""


def changed_characters(text: str, page: int) -> list[Removed]:
    """Return what ``plain`` changes in a page's text: presentation forms, marks without a glyph, accents, white space.

    Line ends are not among them. White space has one record for each form of it, with every place.
    """
    found = _collapsed_spaces(text, page)
    for kind, pattern in _CHANGED.items():
        for match in pattern.finditer(text):
            became = plain(match.group())
            if became != match.group():
                found.append(Removed(page, kind, match.group(), became, (match.span(),)))
    return found


def _collapsed_spaces(text: str, page: int) -> list[Removed]:
    if "  " not in text and not any(space in text for space in _WIDE_SPACES):
        return []
    places: dict[str, list[Span]] = {}
    for match in _COLLAPSED.finditer(text):
        places.setdefault(match.group(), []).append(match.span())
    return [Removed(page, "white_space", run, " ", tuple(spans)) for run, spans in places.items()]


def counted(removed: Iterable[Removed]) -> dict[str, int]:
    """Count changes by kind, white space by its places."""
    counts: Counter[str] = Counter()
    for one in removed:
        counts[one.kind] += len(one.spans) if one.kind == "white_space" else 1
    return dict(sorted(counts.items()))


def plain(text: str) -> str:
    """Return ``text`` with one space for any white space, plain letters for ligatures and presentation forms, in NFC.

    Characters that show nothing (soft hyphens, zero-width marks, controls) go. Fractions, superscripts and symbols stay
    as they are: ``½`` stays one character.
    """
    if text.isascii() and text.isprintable() and "  " not in text:
        return text.strip()
    text = _PRESENTATION.sub(lambda match: unicodedata.normalize("NFKC", match.group()), text)
    text = _IGNORABLE.sub("", _SPACES.sub(" ", text))
    return unicodedata.normalize("NFC", text).strip()


def vocabulary(texts: Iterable[str]) -> frozenset[str]:
    """Return the lower-case words of some texts, those with hyphens inside also as they stand."""
    words: set[str] = set()
    for text in texts:
        words.update(_WORD.findall(text.lower()))
    parts = {part for word in words if not word.isalpha() for part in re.split(r"[-\u2010\u2011]", word)}
    return frozenset(words | parts)


def join_hyphenated(first: str, second: str, words: frozenset[str]) -> str:
    """Join a line that ends in a hyphen with the next one, without the hyphen if only the line's end called for it.

    The document's own words decide: a compound it writes with a hyphen elsewhere keeps it, as does one whose joined
    form it never writes though it writes both parts on their own. Before a capital or a digit the hyphen stays.
    """
    head = first.rstrip(_HYPHENS)
    before = re.search(r"[^\W\d_]+$", head)
    after = re.match(r"[^\W\d_]+", second)
    if before is None or after is None or not second[0].islower():
        return f"{head}-{second}"
    left, right = before.group().lower(), after.group().lower()
    if f"{left}-{right}" in words or left in _KEPT_PREFIXES:
        return f"{head}-{second}"
    both_known = len(left) > 2 and len(right) > 2 and left in words and right in words
    return f"{head}-{second}" if both_known and left + right not in words else head + second


def joined_word(first: str, second: str, page: int, places: Sequence[Span], words: frozenset[str]) -> Removed:
    """Return the record of a word that a line's end had parted; ``places`` are those of both lines' words."""
    before, after = first.rpartition(" ")[2], second.partition(" ")[0]
    spans = tuple(places[-2:]) if len(places) > 1 else tuple(places)
    return Removed(
        page, "line_end_hyphens", f"{before.rstrip(_HYPHENS)}-\n{after}", join_hyphenated(before, after, words), spans
    )


def join_lines(lines: Sequence[tuple[str, bool]], words: frozenset[str]) -> str:
    """Join (text, ends in a hyphen) lines of one paragraph."""
    text = ""
    hyphen = False
    for line, ends in lines:
        if not line:
            continue
        text = join_hyphenated(text, line, words) if hyphen and text else f"{text} {line}" if text else line
        hyphen = ends
    return text


def removed_line(line: "Line", kind: str) -> Removed:
    """Return the record of a line taken out whole."""
    return Removed(line.page, kind, line.text, "", merged(line.places))


def drop_running(pages: Sequence[list["Line"]]) -> list[Removed]:
    """Remove running heads, running feet and page numbers from the pages, in place; return what was removed.

    A running line repeats near the same edge, at about the same height and size, on at least two pages and a seventh
    of all; numbers in it may vary if it isn't set like a heading ("Week 1", "Week 2"). A bare number is a page number
    where most such numbers keep their distance from the page count.
    """
    edges = [(number, line) for number, page in enumerate(pages) for line in _edge_lines(page)]
    numbers = _page_numbers(edges)
    repeated = _repeated(edges, len(pages), _body_size(pages)) - numbers
    kinds = dict.fromkeys(repeated, "running_lines") | dict.fromkeys(numbers, "page_numbers")
    removed = [removed_line(line, kinds[id(line)]) for page in pages for line in page if id(line) in kinds]
    for page in pages:
        page[:] = [line for line in page if id(line) not in kinds]
    return removed


def _body_size(pages: Sequence[Sequence["Line"]]) -> float:
    sizes: Counter[float] = Counter()
    for page in pages:
        for line in page:
            sizes[line.size] += len(line.text)
    return max(sizes, key=lambda size: (sizes[size], -size), default=0.0)


def _edge_lines(page: Sequence["Line"]) -> list["Line"]:
    top = sorted((line for line in page if line.height > 1 - EDGE), key=lambda line: -line.height)[:3]
    bottom = sorted((line for line in page if line.height < EDGE), key=lambda line: line.height)[:4]
    return top + bottom


def _page_numbers(edges: Sequence[tuple[int, "Line"]]) -> set[int]:
    offsets = {id(line): offset for number, line in edges if (offset := _page_offset(line.text, number)) is not None}
    counts = Counter(offsets.values())
    usual = {key for key, offset in offsets.items() if counts[offset] >= 2}
    heights = [line.height for _, line in edges if id(line) in usual]
    found = {id(line) for _, line in edges if id(line) in usual or _NAMED_PAGE.search(line.text)}
    if 2 * len(usual) >= len(offsets):
        near = (line for _, line in edges if any(abs(line.height - height) < 0.01 for height in heights))
        found.update(id(line) for line in near if id(line) in offsets)
    return found


def _repeated(edges: Sequence[tuple[int, "Line"]], page_count: int, body: float) -> set[int]:
    groups: dict[tuple[str, float, bool], list[tuple[int, Line]]] = {}
    for number, line in edges:
        like_heading = line.bold or line.size > 1.1 * body
        text = line.text if like_heading else _VARYING.sub("#", line.text)
        if any(c.isalpha() for c in text):
            groups.setdefault((text.casefold(), line.size, line.height > 0.5), []).append((number, line))
    found: set[int] = set()
    for group in groups.values():
        height = statistics.median(line.height for _, line in group)
        near = [(number, line) for number, line in group if abs(line.height - height) < 0.02]
        if len({number for number, _ in near}) >= max(2, page_count / 7):
            found.update(id(line) for _, line in near)
    return found


def _page_offset(text: str, number: int) -> tuple[str, int] | None:
    match = _PAGE_NUMBER.match(text)
    if match is None:
        return None
    value = match.group(1)
    return ("arabic", int(value) - number) if value.isdigit() else ("roman", _roman(value) - number)


def _roman(text: str) -> int:
    values = [{"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}[c] for c in text.lower()]
    return sum(-v if any(v < later for later in values[i + 1 :]) else v for i, v in enumerate(values))


def drop_contents(pages: Sequence[list["Line"]]) -> list[Removed]:
    """Remove tables of contents from the pages, in place; return what was removed.

    A table of contents is a run of at least three lines that end in page numbers, under a title such as "Contents" or
    with leaders and numbers that never fall.
    """
    removed: list[Removed] = []
    titled = False
    for page in pages:
        start, end, titled = _contents_run(page, carried=titled, limit=2 * len(pages) + 20)
        removed += [removed_line(line, "contents_lines") for line in page[start:end]]
        del page[start:end]
    return removed


def _contents_run(page: Sequence["Line"], *, carried: bool, limit: int) -> tuple[int, int, bool]:
    """Return (first, end) of the table of contents on a page, and whether it reaches the page's last line."""
    title = next((i for i, line in enumerate(page) if len(line.text) < 60 and _CONTENTS_TITLE.match(line.text)), None)
    start = 0 if carried else title + 1 if title is not None else None
    if start is None:
        start = next(
            (
                i
                for i, line in enumerate(page)
                if line.text[-1] in _ENTRY_END and _LEADER.search(line.text) and _CONTENTS_ENTRY.match(line.text)
            ),
            None,
        )
        if start is None:
            return 0, 0, False
    end, entries, leaders = _entries_from(page, start)
    pages = [int(value) for value in entries if value.isdigit()]
    rising = all(a <= b for a, b in pairwise(pages)) and (not pages or pages[-1] <= limit)
    known = carried or title is not None
    if len(entries) < (1 if carried else 3) or not (rising or known) or not (known or 2 * leaders >= len(entries)):
        return 0, 0, False
    first = title if title is not None and title < start else start
    return first, end, end == len(page)


def _entries_from(page: Sequence["Line"], start: int) -> tuple[int, list[str], int]:
    """Collect page numbers of entries from ``start`` on, tolerating one line between two of them (a wrapped title)."""
    entries: list[str] = []
    leaders = 0
    end = start
    last = -1
    for index in range(start, len(page)):
        match = _CONTENTS_ENTRY.match(page[index].text)
        if match is None or _falls(entries, match.group("page")):
            if index - last > 1 and last >= 0:
                break
            if last < 0 and index - start > 1:
                break
            continue
        entries.append(match.group("page"))
        leaders += bool(_LEADER.search(page[index].text))
        last, end = index, index + 1
    return end, entries, leaders


def _falls(entries: Sequence[str], page: str) -> bool:
    return bool(entries) and entries[-1].isdigit() and page.isdigit() and int(page) < int(entries[-1])
