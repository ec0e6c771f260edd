"""The quality gate for one page: is its text fit to stand for what the page shows, and if not, why."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from transplantqa.corpus.extraction import Extraction, PageFacts
from transplantqa.corpus.plausibility import garbled_share, letter_share
from transplantqa.records import Verdict

FEW_ON_PAGE = 20
"""Characters below which a page counts as having no text (a page number is not text). Ours."""
FEW_PATHS = 20
"""Lines and curves above which a page without text may show letters drawn as shapes. Ours."""
UNMAPPED = 0.5
"""Share of a page's characters whose fonts don't say what letters they are, above which garbled text is wrong text."""
REJECT_ODD = 0.04
"""Share of control and private-use characters, which take the place of spaces where a font map is wrong. Ours."""
REJECT_GARBLED = 0.4
REVIEW_GARBLED = 0.08
"""Shares of characters in implausible words. Ours: real documents stay below 0.02, a wrong font map goes to 0.9."""
FEW_LETTERS = 0.3
"""Share of letters below which a page is mostly numbers or symbols. Ours."""
ENOUGH = 100
"""Characters from which shares of a page's characters say something. Ours."""
DOUBLED = 0.3
"""Share of a page's characters drawn twice from which it has a second layer of text, not a few shadows. Ours."""


@dataclass(frozen=True, slots=True)
class PageJudgement:
    """A page's verdict with its reasons; ``kind`` names the worst of them in one word, "" for a page without any."""

    page: int
    verdict: Verdict
    reasons: tuple[str, ...] = ()
    kind: str = ""


def judge_pages(extraction: Extraction) -> tuple[PageJudgement, ...]:
    """Judge every page of an extraction on its own, in order."""
    texts = _texts(extraction)
    doubled: Counter[int] = Counter()
    for one in extraction.removed_texts:
        if one.kind == "doubled_fragments":
            doubled[one.page] += len(one.text)
    return tuple(_judged(facts, texts.get(facts.page, ""), doubled[facts.page]) for facts in extraction.pages)


def _texts(extraction: Extraction) -> Mapping[int, str]:
    """Return what was read from each page, after cleaning."""
    pieces: dict[int, list[str]] = {}
    for part in extraction.parts:
        ends = [offset for offset, _ in part.page_marks[1:]] + [len(part.text)]
        for (start, page), end in zip(part.page_marks, ends, strict=True):
            pieces.setdefault(page, []).append(part.text[start:end])
    return {page: "\n".join(found) for page, found in pieces.items()}


def _judged(facts: PageFacts, text: str, doubled: int) -> PageJudgement:
    if facts.failed:
        return PageJudgement(facts.page, "reject", ("can't be read",), "failed")
    if facts.characters < FEW_ON_PAGE:
        return _without_text(facts)
    found = [*_wrong_text(facts, text), *_doubts(facts, text, doubled)]
    if not found:
        return PageJudgement(facts.page, "accept")
    verdicts = [verdict for verdict, _, _ in found]
    verdict: Verdict = "reject" if "reject" in verdicts else "review"
    return PageJudgement(facts.page, verdict, tuple(reason for _, _, reason in found), found[0][1])


def _without_text(facts: PageFacts) -> PageJudgement:
    found: Sequence[tuple[bool, Verdict, str, str]] = (
        (facts.confidence is not None, "reject", "picture", "no text found in its picture (OCR)"),
        (facts.images > 0, "reject", "picture", "only a picture: its text, if any, isn't read"),
        (facts.paths > FEW_PATHS, "reject", "drawing", "only drawings: letters drawn as shapes aren't read"),
        (facts.filled > 0, "reject", "form", "text in form fields only, which isn't read"),
        (facts.characters > 0, "accept", "", f"only {facts.characters} characters"),
    )
    for applies, verdict, kind, reason in found:
        if applies:
            return PageJudgement(facts.page, verdict, (reason,), kind)
    return PageJudgement(facts.page, "accept", ("blank",))


def _wrong_text(facts: PageFacts, text: str) -> list[tuple[Verdict, str, str]]:
    garbled = garbled_share(text) if len(text) >= ENOUGH else 0.0
    odd = facts.odd / max(1, facts.characters)
    if facts.unmapped_share > UNMAPPED and garbled > REVIEW_GARBLED:
        return [("reject", "garbled", "its fonts don't say which letters they draw")]
    if garbled > REJECT_GARBLED:
        return [("reject", "garbled", f"garbled: {garbled:.0%} of its characters are in words that can't be words")]
    if odd > REJECT_ODD:
        return [("reject", "garbled", f"{odd:.0%} of its characters are controls or private ones")]
    if garbled > REVIEW_GARBLED:
        return [("review", "garbled", f"{garbled:.0%} of its characters are in words that can't be words")]
    return []


def _doubts(facts: PageFacts, text: str, doubled: int) -> list[tuple[Verdict, str, str]]:
    found: list[tuple[Verdict, str, str]] = []
    if facts.confidence is not None:
        found.append(("review", "ocr", f"read off its picture (OCR, mean confidence {facts.confidence:.2f})"))
    if facts.invisible_share > 0.9:
        found.append(("review", "invisible", "its text is an invisible layer (OCR by another program)"))
    if doubled > DOUBLED * facts.characters:
        found.append(("review", "doubled", "much of its text is there twice, in layers: one was taken out"))
    if facts.filled:
        found.append(("review", "form", "form fields are filled in, and aren't read"))
    if len(text) >= ENOUGH and letter_share(text) < FEW_LETTERS:
        found.append(("review", "numbers", f"only {letter_share(text):.0%} of its characters are letters"))
    return found
