"""The quality gate: is a document's text fit to be asked questions, and if not, why, in plain words."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from transplantqa.corpus.extraction import Extraction, PageFacts
from transplantqa.corpus.page_quality import (
    FEW_LETTERS,
    FEW_ON_PAGE,
    FEW_PATHS,
    REJECT_GARBLED,
    REJECT_ODD,
    REVIEW_GARBLED,
    UNMAPPED,
    PageJudgement,
    judge_pages,
)
from transplantqa.corpus.plausibility import garbled_share, letter_share, unknown_language
from transplantqa.records import Verdict

FEW_IN_DOCUMENT = 200
"""Characters below which a whole document is looked at by a person. Ours: less than a paragraph."""
REJECT_PAGES = 0.5
"""Share of pages without readable text from which a document is unreadable. Ours: silence would mean nothing."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict with its reasons, worst first."""

    verdict: Verdict
    reasons: tuple[str, ...]


def judge(extraction: Extraction) -> Judgement:
    """Judge one extraction: "reject" for text that can't be trusted to be the document's, "review" for doubts."""
    if extraction.failure is not None:
        return Judgement("reject", (extraction.failure,))
    rejects, reviews = _pages(extraction)
    reviews += extraction.notes
    text = "\n".join(part.text for part in extraction.parts)
    if text and not rejects:
        more_rejects, more_reviews = _text(text, extraction.pages)
        rejects += more_rejects
        reviews += more_reviews + _single_pages(extraction)
    if not text and not rejects:
        rejects.append("no text left after running heads, page numbers and contents pages were taken out")
    verdict: Verdict = "reject" if rejects else "review" if reviews else "accept"
    return Judgement(verdict, (*rejects, *reviews))


JudgedT = TypeVar("JudgedT", Judgement, PageJudgement)


def with_doubt(judged: JudgedT, reason: str) -> JudgedT:
    """Return a judgement with one more reason, "review" if it was "accept"."""
    verdict: Verdict = "review" if judged.verdict == "accept" else judged.verdict
    return replace(judged, verdict=verdict, reasons=(*judged.reasons, reason))


def _pages(extraction: Extraction) -> tuple[list[str], list[str]]:
    pages = extraction.pages
    empty = [page for page in pages if page.characters < FEW_ON_PAGE]
    failed = [page for page in pages if page.failed]
    scanned = [page for page in empty if page.images]
    drawn = [page for page in empty if page.paths > FEW_PATHS and not page.images]
    reviews = []
    characters = sum(page.characters for page in pages)
    if characters == 0:
        return [_no_text(extraction)], []
    if failed:
        reviews.append(f"{_listed(failed)} can't be read")
    unread = [page for page in empty if page.images or page.paths > FEW_PATHS]
    if len(unread) >= REJECT_PAGES * len(pages) and characters < FEW_IN_DOCUMENT * len(pages):
        tried = any(page.confidence is not None for page in unread)
        why = "OCR found next to none in the pictures" if tried else "scanned or drawn text needs OCR first"
        return [f"no text layer on {_listed(unread)} of {len(pages)}: {why}"], reviews
    if len(failed) >= REJECT_PAGES * len(pages):
        return [f"damaged: {_listed(failed)} of {len(pages)} can't be read"], []
    if scanned:
        reviews.append(f"{_listed(scanned)} of {len(pages)} only pictures: text in them isn't read")
    if drawn:
        reviews.append(f"{_listed(drawn)} of {len(pages)} only drawings: letters drawn as shapes aren't read")
    if read := [page for page in pages if page.confidence is not None and page.characters >= FEW_ON_PAGE]:
        mean = sum((page.confidence or 0.0) * page.characters for page in read) / sum(page.characters for page in read)
        reviews.append(f"the text of {_listed(read)} was read off pictures (OCR, mean confidence {mean:.2f}): check it")
    if recognised := [page for page in pages if page.invisible_share > 0.9]:
        reviews.append(
            f"the text of {_listed(recognised)} is an invisible layer (OCR by another program): check how good it is"
        )
    return [], reviews + _forms(extraction, characters)


def _single_pages(extraction: Extraction) -> list[str]:
    """Return doubts about the text of some of several pages, which shares over the document would hide."""
    by_kind: dict[str, list[PageFacts]] = {}
    for facts, one in zip(extraction.pages, judge_pages(extraction), strict=True):
        by_kind.setdefault(one.kind, []).append(facts)
    reviews = []
    if "garbled" in by_kind and len(extraction.pages) > 1:
        reviews.append(f"the text of {_listed(by_kind['garbled'])} is garbled (wrong font or encoding)")
    if "doubled" in by_kind:
        reviews.append(f"{_listed(by_kind['doubled'])} had text twice, in layers: check that the right one was kept")
    return reviews


def _forms(extraction: Extraction, characters: int) -> list[str]:
    reviews = []
    filled = [page for page in extraction.pages if page.filled]
    if filled:
        fields = _fields(sum(page.filled for page in filled))
        reviews.append(f"{fields} on {_listed(filled)} filled in: text in form fields isn't read")
    elif extraction.form_fields and characters < FEW_IN_DOCUMENT * len(extraction.pages):
        reviews.append("a form: what is filled into its fields isn't read")
    if extraction.xfa:
        reviews.append("an XFA form: a form program may show other text than the pages hold")
    return reviews


def _fields(count: int) -> str:
    return "1 form field" if count == 1 else f"{count:,} form fields"


def _no_text(extraction: Extraction) -> str:
    pages = extraction.pages
    if all(page.failed for page in pages):
        return "none of its pages can be read: the file is damaged"
    if extraction.xfa:
        return "an XFA form: its text is made by a form program and isn't in the pages; print it to a plain PDF first"
    if extraction.form_fields:
        filled = sum(page.filled for page in pages)
        where = f"its only text is in {_fields(filled)}" if filled else "no text outside form fields"
        return f"{where}, and form fields aren't read; print it to a plain PDF first"
    where = "its only page" if len(pages) == 1 else f"any of its {len(pages)} pages"
    found = (
        (any(page.confidence is not None for page in pages), ", and OCR found none in its picture"),
        (
            any(page.images for page in pages),
            ": pictures of text (a scan); set corpus.ocr=rapidocr, or run OCR on it first",
        ),
        (any(page.paths for page in pages), ": only drawings; letters drawn as shapes need OCR first"),
    )
    why = next((reason for applies, reason in found if applies), None)
    return f"no text on {where}: blank" if why is None else f"no text layer on {where}{why}"


def _text(text: str, pages: Sequence[PageFacts]) -> tuple[list[str], list[str]]:
    rejects: list[str] = []
    reviews: list[str] = []
    garbled = garbled_share(text)
    characters = max(1, sum(page.characters for page in pages))
    unmapped = sum(page.unmapped_share * page.characters for page in pages) / characters
    if _XFA_TEXT.search(text) and len(text) < 2000:
        rejects.append("only the notice that another PDF viewer is needed (an XFA form); print it to a plain PDF first")
    if unmapped > UNMAPPED and garbled > REVIEW_GARBLED:
        rejects.append("its fonts don't say which letters they draw: the text read is not the text shown")
    elif garbled > REJECT_GARBLED:
        rejects.append(
            f"garbled: {garbled:.0%} of its characters are in words that can't be words (wrong font or encoding)"
        )
    elif garbled > REVIEW_GARBLED:
        reviews.append(f"partly garbled: {garbled:.0%} of its characters are in words that can't be words")
    odd = sum(page.odd for page in pages) / characters
    if odd > REJECT_ODD and not rejects:
        rejects.append(
            f"{odd:.0%} of its characters are controls or private ones: its fonts are mapped to the wrong letters"
        )
    letters = letter_share(text)
    if letters < FEW_LETTERS:
        reviews.append(f"only {letters:.0%} of its characters are letters: mostly numbers or symbols")
    if not rejects and unknown_language(text):
        reviews.append("hardly any common words of a known language: check that the text was read rightly")
    if len(text) < FEW_IN_DOCUMENT:
        reviews.append(f"only {len(text)} characters of text")
    return rejects, reviews


_XFA_TEXT = re.compile(r"please wait.{0,200}(?:pdf viewer|adobe reader)", re.IGNORECASE | re.DOTALL)


def _listed(pages: Sequence[PageFacts]) -> str:
    """Name pages in words: "page 3", "pages 1-4, 7"."""
    numbers = sorted(page.page for page in pages)
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    shown = ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs[:10]) + (", …" if len(runs) > 10 else "")
    return f"page {shown}" if len(numbers) == 1 else f"pages {shown}"
