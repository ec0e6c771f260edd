"""The quality gate: is a document's text fit to be asked questions, and if not, why, in plain words."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from transplantqa.corpus.extraction import Extraction, PageFacts
from transplantqa.records import Verdict

FEW_ON_PAGE = 20
"""Characters below which a page counts as having no text (a page number is not text). Ours."""
FEW_IN_DOCUMENT = 200
"""Characters below which a whole document is looked at by a person. Ours: less than a paragraph."""
REJECT_PAGES = 0.5
"""Share of pages without readable text from which a document is unreadable. Ours: silence would mean nothing."""
REJECT_ODD = 0.04
"""Share of control and private-use characters, which take the place of spaces where a font map is wrong. Ours."""
REJECT_GARBLED = 0.4
REVIEW_GARBLED = 0.08
"""Shares of characters in implausible words. Ours: real handbooks stay below 0.02, a wrong font map goes to 0.9."""
_COMMON = (
    # The commonest short words of English, Spanish, French, German, Italian, Portuguese, Dutch and Latin.
    "the of and to in a is you your for or if be are with as on not that this it can may will have from at by do when "
    "de la el en y los se del las un una por con no es para su al lo como le les des et du est dans pour que qui sur "
    "der die das und von zu mit sie ist nicht ein eine auf für im dem auch il di che è per non si da con alla o e os "
    "em um uma não na com het een van te dat op zijn met voor ut sed ac ad ex quis vel nec"
)
COMMON_WORDS = frozenset(re.split(" ", _COMMON))
_WORD = re.compile(r"\S+")
_PLAIN_CASE = re.compile(r"\b(?:[^\W\d_A-Z]+|[A-Z]{2,})\b")
_ADDRESS = re.compile(r"://|www\.|@|\.(?:com|org|edu|gov|net)\b|^[./\\]|/.*/")
_GLYPH_NAME = re.compile(r"/g\d+|\(cid:\d+\)|/[A-Z]\d{2,}")
_CASE_FLIPS = re.compile(r"[a-zà-ÿ][A-ZÀ-Þ]")
_INNER_SYMBOL = re.compile(r"[^\W\d_][\\^~`{}\u00a2-\u00a9\u00ac\u00af-\u00b4\u00b6\u00b8\u00bf]+[^\W\d_]")
_DIGITS_INSIDE = re.compile(r"[^\W\d_]{2,}\d+[^\W\d_]{2,}\d*[^\W\d_]|^\d[^\W\d_]{2,}[^\w\s-]")


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
        reviews += more_reviews
    if not text and not rejects:
        rejects.append("no text left after running heads, page numbers and contents pages were taken out")
    verdict: Verdict = "reject" if rejects else "review" if reviews else "accept"
    return Judgement(verdict, (*rejects, *reviews))


def _pages(extraction: Extraction) -> tuple[list[str], list[str]]:
    pages = extraction.pages
    empty = [page for page in pages if page.characters < FEW_ON_PAGE]
    failed = [page for page in pages if page.failed]
    scanned = [page for page in empty if page.images]
    drawn = [page for page in empty if page.paths > 20 and not page.images]
    reviews = []
    characters = sum(page.characters for page in pages)
    if characters == 0:
        return [_no_text(extraction)], []
    if failed:
        reviews.append(f"{_listed(failed)} can't be read")
    unread = [page for page in empty if page.images or page.paths > 20]
    if len(unread) >= REJECT_PAGES * len(pages) and characters < FEW_IN_DOCUMENT * len(pages):
        return [f"no text layer on {_listed(unread)} of {len(pages)}: scanned or drawn text needs OCR first"], reviews
    if len(failed) >= REJECT_PAGES * len(pages):
        return [f"damaged: {_listed(failed)} of {len(pages)} can't be read"], []
    if scanned:
        reviews.append(f"{_listed(scanned)} of {len(pages)} only pictures: text in them isn't read")
    if drawn:
        reviews.append(f"{_listed(drawn)} of {len(pages)} only drawings: letters drawn as shapes aren't read")
    if recognised := [page for page in pages if page.invisible_share > 0.9]:
        reviews.append(
            f"the text of {_listed(recognised)} is an invisible layer (OCR by another program): check how good it is"
        )
    return [], reviews + _forms(extraction, characters)


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
    if any(page.images for page in pages):
        return f"no text layer on {where}: pictures of text (a scan); run OCR first"
    if any(page.paths for page in pages):
        return f"no text layer on {where}: only drawings; letters drawn as shapes need OCR first"
    return f"no text on {where}: blank"


def _text(text: str, pages: Sequence[PageFacts]) -> tuple[list[str], list[str]]:
    rejects: list[str] = []
    reviews: list[str] = []
    garbled = garbled_share(text)
    characters = max(1, sum(page.characters for page in pages))
    unmapped = sum(page.unmapped_share * page.characters for page in pages) / characters
    if _XFA_TEXT.search(text) and len(text) < 2000:
        rejects.append("only the notice that another PDF viewer is needed (an XFA form); print it to a plain PDF first")
    if unmapped > 0.5 and garbled > REVIEW_GARBLED:
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
    if letters < 0.3:
        reviews.append(f"only {letters:.0%} of its characters are letters: mostly numbers or symbols")
    if not rejects and _unknown_language(text):
        reviews.append("hardly any common words of a known language: check that the text was read rightly")
    if len(text) < FEW_IN_DOCUMENT:
        reviews.append(f"only {len(text)} characters of text")
    return rejects, reviews


_XFA_TEXT = re.compile(r"please wait.{0,200}(?:pdf viewer|adobe reader)", re.IGNORECASE | re.DOTALL)


def garbled_share(text: str) -> float:
    """Return the share of non-space characters that stand in words no writing system has.

    Such words have replacement, private or control characters, glyph names, capitals in their middle twice or more,
    symbols or digits between letters.
    """
    total = bad = 0
    for match in _WORD.finditer(text):
        word = match.group()
        total += len(word)
        bad += len(word) * _implausible(word)
    return bad / max(1, total)


def _implausible(word: str) -> bool:
    if any(unicodedata.category(c) in ("Co", "Cc", "Cn", "Cs") or c == "\ufffd" for c in word):
        return True
    if _GLYPH_NAME.search(word):
        return True
    if _ADDRESS.search(word):
        return False
    return len(_CASE_FLIPS.findall(word)) > 1 or bool(_INNER_SYMBOL.search(word)) or bool(_DIGITS_INSIDE.search(word))


def letter_share(text: str) -> float:
    """Return the share of letters and combining marks among characters that aren't white space."""
    visible = [c for c in text if not c.isspace()]
    return sum(unicodedata.category(c)[0] in "LM" for c in visible) / max(1, len(visible))


def _unknown_language(text: str) -> bool:
    """Tell whether a text in Latin letters, of at least 60 words that aren't names, has hardly any common one."""
    words = [word.lower() for word in _PLAIN_CASE.findall(text[:200_000])]
    latin = [word for word in words if word.isascii() or all("LATIN" in unicodedata.name(c, "") for c in word)]
    if len(latin) < 60 or len(latin) < 0.8 * len(words):
        return False
    return sum(word in COMMON_WORDS for word in latin) < 0.08 * len(latin)


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
