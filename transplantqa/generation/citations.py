"""Citations of sections in an answer: found, taken out, and checked against the evidence given."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from transplantqa.generation.lexical import normalise
from transplantqa.generation.protocols import ResolvedPassage
from transplantqa.records import Citation

_BRACKETED = re.compile(r"\[([^\[\]\n]{2,300})\](?!\()")
_PARENTHESISED = re.compile(
    r"\(\s*((?:(?:see|source|sources|section|sections|from|cited from)\b[:\s]+[^()\n]{2,300}?)"
    r"|(?:[^()\n]{2,200}?[,;]\s*(?:pp?\.|pages?)\s*\d+(?:\s*[-\u2013—]\s*\d+)?))\s*\)",
    re.IGNORECASE,
)
_SOURCE_LINE = re.compile(
    r"^[\s>*_-]*(?:sources?|sections?|citations?|references?)[*_]*\s*:[*_]*\s*([^\s\[\]][^\n\[\]]{1,300})$",
    re.IGNORECASE | re.MULTILINE,
)
_PAGE = re.compile(
    r"[\s,;:(\u2013—-]*\b(?:pp?\.?|pages?|pg\.?)\s*(\d{1,4})(?:\s*[-\u2013—]\s*\d{1,4})?\)?\s*$", re.IGNORECASE
)
_LEAD = re.compile(
    r"^(?:(?:see|source|sources|section|sections|from|cited from|heading|§)\b[:\s]*|§\s*)+", re.IGNORECASE
)
_EDGE = " \t\"'“”\u2018\u2019*_`.,:;()[]"
_NUMBERING = re.compile(r"^(?:\d+(?:\.\d+)*\.?|[ivx]+\.|[a-z]\.)\s+", re.IGNORECASE)
_PATH = re.compile(r"\s*(?:\u203a|»|>|→|/)\s*")


NEARLY = 0.8
"""Words two headings share, of all that either has, to be taken for the same: models drop a word. Ours."""


@dataclass(frozen=True, slots=True)
class Named:
    """A section as an answer names it."""

    heading: str
    page: int | None


def find(text: str) -> list[Named]:
    """Return the sections ``text`` names, in order, each once.

    Read as citations: ``[Heading, p. 3]`` (several in one bracket apart by semicolons), ``(see Heading)``,
    ``(Heading, page 3)`` and a closing line ``Source: Heading``. A Markdown link is not one.
    """
    found: dict[Named, None] = {}
    for _, content in _spans(text):
        for part in content.split(";"):
            named = _named(part)
            if named is not None:
                found.setdefault(named)
    return list(found)


def strip(text: str) -> str:
    """Return ``text`` without its citations, for comparing what answers say rather than where they say it from."""
    for (start, end), _ in sorted(_spans(text), reverse=True):
        text = text[:start].rstrip(" ") + text[end:]
    return "\n".join(line.rstrip() for line in text.strip().split("\n"))


def check(named: Sequence[Named], passages: Sequence[ResolvedPassage]) -> tuple[Citation, ...]:
    """Mark each named section valid when a passage given has, or lies under, that heading and holds the page named."""
    return tuple(Citation(item.heading, item.page, _is_given(item, passages)) for item in named)


def names_a_given_section(named: Sequence[Named], passages: Sequence[ResolvedPassage]) -> bool:
    """Say whether at least one heading named is among the passages', whatever the page said."""
    return any(_same_heading(item.heading, passage) for item in named for passage in passages)


def reference(passage: ResolvedPassage) -> str:
    """Return how a passage is shown and should be cited: ``Heading, p. 3``."""
    heading = passage.heading_path[-1] if passage.heading_path else "Untitled section"
    heading = " ".join(heading.translate(str.maketrans("[];", "(),")).split())
    if passage.page_start == passage.page_end:
        return f"{heading}, p. {passage.page_start}"
    return f"{heading}, pp. {passage.page_start}-{passage.page_end}"


def _spans(text: str) -> Iterator[tuple[tuple[int, int], str]]:
    taken: list[tuple[int, int]] = []
    for pattern in (_SOURCE_LINE, _BRACKETED, _PARENTHESISED):
        for match in pattern.finditer(text):
            if all(match.end() <= start or match.start() >= end for start, end in taken):
                taken.append(match.span())
                yield match.span(), match.group(1)


def _named(part: str) -> Named | None:
    text = _LEAD.sub("", part.strip(_EDGE)).strip(_EDGE)
    page = None
    match = _PAGE.search(text)
    if match:
        page = int(match.group(1))
        text = text[: match.start()]
    heading = text.strip(_EDGE)
    return Named(heading, page) if heading else None


def _is_given(item: Named, passages: Sequence[ResolvedPassage]) -> bool:
    return any(
        _same_heading(item.heading, passage)
        and (item.page is None or passage.page_start <= item.page <= passage.page_end)
        for passage in passages
    )


def _same_heading(heading: str, passage: ResolvedPassage) -> bool:
    number = re.fullmatch(r"(?:\d+\.)*\d+", heading)
    if number:
        return any(re.match(rf"{re.escape(heading)}\.?\s", part) for part in passage.heading_path)
    last = _key(_PATH.split(heading)[-1])
    return bool(last) and any(
        _close(last, _key(part)) or _close(_key(heading), _key(part)) for part in passage.heading_path
    )


def _key(heading: str) -> str:
    return " ".join(re.findall(r"\w+", _NUMBERING.sub("", normalise(heading))))


def _close(cited: str, given: str) -> bool:
    """Nearly the same words, or a run of one inside the other that is at least half of it: models shorten headings."""
    mine, theirs = set(cited.split()), set(given.split())
    if cited == given or len(mine & theirs) >= NEARLY * max(1, len(mine | theirs)):
        return True
    shorter, longer = sorted((cited, given), key=len)
    return bool(shorter) and f" {shorter} " in f" {longer} " and 2 * len(shorter.split()) >= len(longer.split())
