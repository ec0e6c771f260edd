"""Read a PDF into an ``Extraction``. Runs in the worker process: light imports only."""

import gc
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from transplantqa.corpus.cleaning import changed_characters, counted, drop_contents, drop_running, plain, vocabulary
from transplantqa.corpus.extraction import Extraction, PageFacts, parts_of, rejoined
from transplantqa.corpus.lines import Line, Removed, merged
from transplantqa.corpus.pdf_characters import Handle
from transplantqa.corpus.pdf_forms import filled_fields, start_forms
from transplantqa.corpus.pdf_layout import reading_order
from transplantqa.corpus.pdf_lines import lines_of
from transplantqa.corpus.pdf_structure import OutlineEntry, heading_marks, mark_headings, read_outline
from transplantqa.corpus.pdf_text import (
    CrowdedPageError,
    PageText,
    read_page,
    without_doubles,
    without_note_marks,
)

_REASONS = {
    pdfium_c.FPDF_ERR_PASSWORD: "password required: the file is encrypted and opens only with a password",
    pdfium_c.FPDF_ERR_SECURITY: "encrypted in a way that can't be read",
    pdfium_c.FPDF_ERR_FORMAT: "not a readable PDF: damaged or cut short",
    pdfium_c.FPDF_ERR_FILE: "the file can't be opened",
}
_NO_TITLE = re.compile(
    r"^(?:microsoft (?:word|powerpoint)|untitled|document\d*|powerpoint|slide \d|\(anonymous\))|\.\w{2,5}$|^$",
    re.IGNORECASE,
)
_ONE_GLYPH = {"ff": "\ufb00", "fi": "\ufb01", "fl": "\ufb02", "ffi": "\ufb03", "ffl": "\ufb04", "st": "\ufb06"}
MAX_CHARACTERS = 10_000_000
"""Characters above which a file isn't read. Ours: a book of 400 pages has one million."""
MAX_CROWDED = 5
"""Pages with more text than could be read on them above which a file isn't read. Ours."""
FEW_CHARACTERS = 20
"""Below this many characters a page is looked at for what else it draws."""


@dataclass(frozen=True, slots=True)
class OcrRequest:
    """The pages, from 1, whose text is to be read off their pictures, of at most so many pixels each."""

    pages: frozenset[int]
    max_pixels: int


def read_pdf(path: Path, max_pages: int, ocr: OcrRequest | None = None) -> Extraction:
    """Read one PDF; one that can't be read gives an extraction with its ``failure``.

    Raises:
        NoOcrError: pages are to be recognised, and RapidOCR isn't installed.
    """
    _forget_last_error()
    try:
        document = pdfium.PdfDocument(path)
    except pdfium.PdfiumError as error:
        return Extraction(failure=_REASONS.get(getattr(error, "err_code", -1), _REASONS[pdfium_c.FPDF_ERR_FORMAT]))
    try:
        start_forms(document)
        count = len(document)
        if count == 0:
            return Extraction(failure="the PDF has no pages")
        if count > max_pages:
            return Extraction(
                page_count=count, failure=f"{count:,} pages, more than the limit of {max_pages:,} (corpus.max_pages)"
            )
        with _no_cycles_sought():
            return _read(document, count, path, ocr)
    finally:
        document.close()


@contextmanager
def _no_cycles_sought() -> Iterator[None]:
    """Keep the garbage collector from walking a document's many objects again and again: they form no cycles."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _forget_last_error() -> None:
    """Set PDFium's last error to "no PDF": a file that fails without a reason would be given that of an earlier one."""
    pdfium_c.FPDF_LoadMemDocument(b"x", 1, None)


def _read(document: Handle, count: int, path: Path, ocr: OcrRequest | None) -> Extraction:
    try:
        texts, facts = _pages(document, count)
    except CrowdedPageError:
        return Extraction(page_count=count, failure="more text than anyone could read: pages of data, or made to harm")
    if ocr is not None:
        _recognise(document, ocr, texts, facts)
    marks = {}
    if document.is_tagged():
        marks = {number: _marks(document, number) for number, text in enumerate(texts, start=1) if text is not None}
    hyphens = any(fragment.hyphen for text in texts if text for fragment in text.fragments)
    words = vocabulary(_unbroken(texts)) if hyphens else frozenset()
    removed: list[Removed] = []
    pages = [_lines(text, number, words, removed) for number, text in enumerate(texts, start=1)]
    removed += drop_running(pages)
    removed += drop_contents(pages)
    removed += _reordered(pages)
    title = _title(document, pages, path)
    lines = [line for page in pages for line in page]
    source = mark_headings(lines, marks, _outline(document))
    removed += [change for line in lines for change in line.changes] + rejoined(lines, words)
    for number, text in enumerate(texts, start=1):
        removed += [] if text is None else [*changed_characters(text.text, number), *_ligatures(text, number)]
    form = document.get_formtype()
    return Extraction(
        title=title,
        parts=parts_of(lines, title, words),
        pages=tuple(facts),
        page_count=count,
        headings_from=source,
        removed=counted(removed),
        removed_texts=tuple(sorted(removed, key=lambda one: (one.page, one.spans))),
        page_texts=tuple(text.text if text else "" for text in texts),
        form_fields=form != pdfium_c.FORMTYPE_NONE,
        xfa=form in (pdfium_c.FORMTYPE_XFA_FULL, pdfium_c.FORMTYPE_XFA_FOREGROUND),
    )


def _pages(document: Handle, count: int) -> tuple[list[PageText | None], list[PageFacts]]:
    """Read every page; raises CrowdedPageError when too many pages, or all together, have too much text."""
    texts: list[PageText | None] = []
    facts: list[PageFacts] = []
    characters = crowded = 0
    for number in range(1, count + 1):
        try:
            text, fact = _page(document, number)
        except CrowdedPageError:
            text, fact = None, PageFacts(number, 0, failed=True)
            crowded += 1
        characters += fact.characters
        if crowded > min(MAX_CROWDED, count - 1) or characters > MAX_CHARACTERS:
            raise CrowdedPageError
        texts.append(text)
        facts.append(fact)
    return texts, facts


def _recognise(document: Handle, ocr: OcrRequest, texts: list[PageText | None], facts: list[PageFacts]) -> None:
    """Put what is read off the pictures of some pages in place of their text."""
    from transplantqa.corpus.ocr import BODY, Recogniser  # noqa: PLC0415 - an extra

    recogniser = Recogniser(ocr.max_pixels)
    sizes: Counter[float] = Counter()
    for number, text in enumerate(texts, start=1):
        for fragment in text.fragments if text and number not in ocr.pages else ():
            sizes[fragment.size] += len(fragment.text)
    body = max(sizes, key=lambda size: (sizes[size], -size), default=BODY)
    for number in sorted(ocr.pages & set(range(1, len(texts) + 1))):
        page = document[number - 1]
        try:
            found = recogniser.read(page, body)
        finally:
            page.close()
        texts[number - 1] = found.text
        facts[number - 1] = replace(
            facts[number - 1],
            characters=sum(len(fragment.text) for fragment in found.text.fragments),
            confidence=found.confidence,
            invisible_share=0.0,
            unmapped_share=0.0,
            odd=0,
        )


def _page(document: Handle, number: int) -> tuple[PageText | None, PageFacts]:
    try:
        page = document[number - 1]
    except pdfium.PdfiumError:
        return None, PageFacts(number, 0, failed=True)
    try:
        text = read_page(page)
        characters = sum(len(fragment.text) for fragment in text.fragments)
        images, paths = _drawn(page) if characters < FEW_CHARACTERS else (0, 0)
        filled = filled_fields(document, page)
    except pdfium.PdfiumError:
        return None, PageFacts(number, 0, failed=True)
    finally:
        page.close()
    return text, PageFacts(
        page=number,
        characters=characters,
        images=images,
        paths=paths,
        invisible_share=text.invisible_share,
        unmapped_share=text.unmapped_share,
        odd=text.odd,
        filled=filled,
        label=_label(document, number),
    )


def _label(document: Handle, number: int) -> str | None:
    """Return the page's label where it has one other than its number."""
    try:
        label = plain(document.get_page_label(number - 1))
    except UnicodeDecodeError:
        return None
    return label if label and label != str(number) else None


def _drawn(page: Handle) -> tuple[int, int]:
    kinds = Counter(
        pdfium_c.FPDFPageObj_GetType(pdfium_c.FPDFPage_GetObject(page.raw, index))
        for index in range(min(1000, max(0, pdfium_c.FPDFPage_CountObjects(page.raw))))
    )
    return kinds[pdfium_c.FPDF_PAGEOBJ_IMAGE] + kinds[pdfium_c.FPDF_PAGEOBJ_FORM], kinds[pdfium_c.FPDF_PAGEOBJ_PATH]


def _marks(document: Handle, number: int) -> dict[int, int]:
    page = document[number - 1]
    try:
        return heading_marks(page)
    finally:
        page.close()


def _outline(document: Handle) -> list[OutlineEntry]:
    try:
        return list(read_outline(document))
    except (pdfium.PdfiumError, UnicodeDecodeError):
        return []


def _unbroken(texts: Sequence[PageText | None]) -> list[str]:
    """Return the text without the halves of words that a line's end parted."""
    pieces: list[str] = []
    broken = False
    for text in texts:
        for fragment in text.fragments if text else ():
            words = fragment.text.split(" ")
            pieces.append(" ".join(words[broken : len(words) - fragment.hyphen]))
            broken = fragment.hyphen
    return pieces


def _ligatures(text: PageText, number: int) -> list[Removed]:
    pieces = [(text.text[start:end], (start, end)) for start, end in text.ligatures]
    return [
        Removed(number, "ligatures", _ONE_GLYPH.get(letters, letters), letters, (span,)) for letters, span in pieces
    ]


def _reordered(pages: Sequence[Sequence[Line]]) -> Iterator[Removed]:
    """Yield the lines that the file draws before one that is read earlier: columns, mostly."""
    for page in pages:
        last = -1
        for line in page:
            start = line.places[0][0] if line.places else last
            if start < last:
                yield Removed(line.page, "reordered_lines", line.text, "", merged(line.places))
            last = max(last, start)


def _lines(text: PageText | None, number: int, words: frozenset[str], removed: list[Removed]) -> list[Line]:
    if text is None:
        return []
    fragments, doubled = without_doubles(text.fragments)
    fragments, notes = without_note_marks(fragments)
    for kind, pieces in (("doubled_fragments", doubled), ("note_marks", notes)):
        removed += [Removed(number, kind, plain(piece.text), "", merged(piece.places)) for piece in pieces]
    for kind, spans in (("slanted_words", text.slanted), ("doubled_objects", text.repeated)):
        removed += [Removed(number, kind, plain(text.text[slice(*span)]), "", (span,)) for span in spans]
    return lines_of(reading_order(fragments), number, text.box, words)


def _metadata_title(document: Handle) -> str:
    try:
        return document.get_metadata_value("Title") or ""
    except UnicodeDecodeError:
        return ""


def _title(document: Handle, pages: Sequence[Sequence[Line]], path: Path) -> str:
    """Return the title from the metadata unless a program made it up, else the largest text of the first page."""
    named = plain(_metadata_title(document))
    if not _NO_TITLE.search(named):
        return named
    first = [line for line in (pages[0] if pages else ()) if any(c.isalpha() for c in line.text) and not line.turned]
    if first:
        size = max(line.size for line in first)
        start = next(index for index, line in enumerate(first) if line.size == size)
        run = []
        for line in first[start : start + 3]:
            if line.size != size:
                break
            run.append(line.text)
        largest = " ".join(run)
        if len(largest) <= 150 and size > min(line.size for line in first):
            return largest
    return plain(re.sub(r"[_\-]+", " ", path.stem)) or path.name
