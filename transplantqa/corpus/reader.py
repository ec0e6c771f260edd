"""Documents read and drawn in a process of their own, which can die without taking the run along."""

from itertools import pairwise
from pathlib import Path

from transplantqa.corpus.extraction import Extraction
from transplantqa.corpus.process import NoReply, Reply, WorkerProcess

MEMORY_MB = 480
"""Address space of the reading process; it starts with 30, and a 200-page handbook takes it to about 100. Ours."""
PICTURES_AT_ONCE = 16
"""Pages drawn in one request: a page that can't be drawn costs no others but these. Ours."""

PICTURES_SECONDS = 4.0
"""Processor time for drawing so many pages; usually it takes a quarter of a second. Ours."""


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
    """

    def __init__(self, *, timeout_seconds: float, max_pages: int, memory_mb: int = MEMORY_MB) -> None:
        self._max_pages = max_pages
        self._process = WorkerProcess(seconds=timeout_seconds, memory_mb=memory_mb)
        self._drawing = WorkerProcess(seconds=min(PICTURES_SECONDS, timeout_seconds), memory_mb=memory_mb)

    def read(self, path: Path) -> Extraction:
        """Read one document; see ``Extraction.failure`` for why it couldn't be."""
        request = {"task": "read", "path": str(path), "max_pages": self._max_pages}
        reply = self._process.ask(request, _Read)
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


def _is_sound(extraction: Extraction) -> bool:
    """Tell whether an extraction is one that reading can give: a failure alone, or pages and parts that fit them."""
    if extraction.failure is not None:
        return bool(extraction.failure) and not extraction.parts
    pages = extraction.page_count
    if not pages or [page.page for page in extraction.pages] != list(range(1, pages + 1)):
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
