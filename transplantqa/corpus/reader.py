"""Documents read and drawn in a process of their own, which can die without taking the run along."""

from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from transplantqa.corpus.extraction import Extraction
from transplantqa.corpus.page_quality import FEW_ON_PAGE, FEW_PATHS, REVIEW_GARBLED, UNMAPPED
from transplantqa.corpus.plausibility import garbled_share
from transplantqa.corpus.process import NoReply, Reply, WorkerProcess

MEMORY_MB = 480
"""Address space of the reading process; it starts with 30, and a document of 200 pages takes it to about 100. Ours."""
PICTURES_AT_ONCE = 16
"""Pages drawn in one request: a page that can't be drawn costs no others but these. Ours."""

PICTURES_SECONDS = 4.0
"""Processor time for drawing so many pages; usually it takes a quarter of a second. Ours."""


OCR_MEMORY_MB = 3000
"""Address space of the process that recognises pages; it holds a third of that. Ours."""
OCR_SECONDS = 60.0
"""Processor time for recognising one page, on top of that for reading the file; usually it takes five to ten. Ours."""


@dataclass(frozen=True, slots=True)
class Ocr:
    """That pages without readable text are to be read off their pictures, of at most ``max_pixels`` each."""

    max_pixels: int


class _Read(Reply):
    extraction: Extraction


class _Drawn(Reply):
    pictures: dict[str, str]


class Reader:
    """Reads documents one at a time; every file gets an extraction, never an exception.

    Args:
        timeout_seconds: processor time for one file; see ``WorkerProcess``.
        max_pages: pages above which a file isn't read.
        memory_mb: address space of the process.
        ocr: how pages are recognised that have no readable text; null leaves them unread.
    """

    def __init__(
        self, *, timeout_seconds: float, max_pages: int, memory_mb: int = MEMORY_MB, ocr: Ocr | None = None
    ) -> None:
        self._max_pages = max_pages
        self._timeout_seconds = timeout_seconds
        self._ocr = ocr
        self._process = WorkerProcess(seconds=timeout_seconds, memory_mb=memory_mb)
        self._drawing = WorkerProcess(seconds=min(PICTURES_SECONDS, timeout_seconds), memory_mb=memory_mb)

    def read(self, path: Path) -> Extraction:
        """Read one document; see ``Extraction.failure`` for why it couldn't be."""
        extraction = self._ask(self._process, path, None)
        pages = pages_to_recognise(extraction)
        if self._ocr is None or not pages or path.suffix.lower() != ".pdf":
            return extraction
        process = WorkerProcess(seconds=self._timeout_seconds + OCR_SECONDS * len(pages), memory_mb=OCR_MEMORY_MB)
        try:
            recognised = self._ask(process, path, {"pages": pages, "max_pixels": self._ocr.max_pixels})
        finally:
            process.close()
        if recognised.failure is None:
            return recognised
        note = f"its pages without text couldn't be recognised: {recognised.failure}"
        return replace(extraction, notes=(*extraction.notes, note), transient=recognised.transient)

    def _ask(self, process: WorkerProcess, path: Path, ocr: dict[str, object] | None) -> Extraction:
        request = {"task": "read", "path": str(path), "max_pages": self._max_pages, "ocr": ocr}
        reply = process.ask(request, _Read)
        if isinstance(reply, NoReply):
            return Extraction(failure=reply.reason, transient=reply.transient)
        if not _is_sound(reply.extraction):
            return Extraction(failure="what the reading process answered contradicts itself", transient=True)
        return reply.extraction

    def pictures(self, path: Path, pages: int) -> dict[int, str]:
        """Draw the first ``pages`` pages of a PDF small; return base64 PNG by page, without those that can't be."""
        found: dict[int, str] = {}
        failures = 0
        for first in range(1, pages + 1, PICTURES_AT_ONCE):
            wanted = list(range(first, min(first + PICTURES_AT_ONCE, pages + 1)))
            reply = self._drawing.ask({"task": "draw", "path": str(path), "pages": wanted}, _Drawn)
            if isinstance(reply, _Drawn):
                found.update({int(page): picture for page, picture in reply.pictures.items()})
            else:
                failures += 1
            if failures > 1:
                break
        return found

    def close(self) -> None:
        """End the process; the next ``read`` starts another."""
        self._process.close()
        self._drawing.close()


def pages_to_recognise(extraction: Extraction) -> list[int]:
    """Return the pages that show something but have no text, or garbled text in fonts that don't name their letters."""
    texts = dict(enumerate(extraction.page_texts, start=1))
    return [
        page.page
        for page in extraction.pages
        if (page.characters < FEW_ON_PAGE and (page.images or page.paths > FEW_PATHS))
        or (page.unmapped_share > UNMAPPED and garbled_share(texts.get(page.page, "")) > REVIEW_GARBLED)
    ]


def _is_sound(extraction: Extraction) -> bool:
    """Tell whether an extraction is one that reading can give: a failure alone, or pages and parts that fit them."""
    if extraction.failure is not None:
        return bool(extraction.failure) and not extraction.parts
    pages = extraction.page_count
    if not pages or [page.page for page in extraction.pages] != list(range(1, pages + 1)):
        return False
    if not _changes_fit(extraction):
        return False
    for part in extraction.parts:
        offsets = [offset for offset, _ in part.page_marks]
        marked = [page for _, page in part.page_marks]
        rising = all(a < b for a, b in pairwise(offsets))
        if not (part.text and part.heading_path and part.level >= 1 and offsets and offsets[0] == 0 and rising):
            return False
        if offsets[-1] >= len(part.text) or not all(1 <= page <= pages for page in (part.page_start, *marked)):
            return False
    return True


def _changes_fit(extraction: Extraction) -> bool:
    """Tell whether there is a text for every page or none, and every change stands within its page's."""
    texts = extraction.page_texts
    if len(texts) not in (0, extraction.page_count):
        return False
    return all(
        1 <= one.page <= extraction.page_count
        and all(texts and 0 <= start < end <= len(texts[one.page - 1]) for start, end in one.spans)
        for one in extraction.removed_texts
    )
