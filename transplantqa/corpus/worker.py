"""The process that reads and draws documents: one JSON request a line in, one JSON reply with its number a line out.

It can be killed, run out of memory or crash on a hostile file without taking the run along. Run as
``python -m transplantqa.corpus.worker MEMORY_MB``; it imports nothing heavy and ends when its input closes.
"""

import contextlib
import json
import math
import os
import signal
import sys
import time
from pathlib import Path
from typing import IO, Any

from transplantqa.corpus.extraction import Extraction

EXIT_MEMORY = 71
"""Exit code after the limit of memory was met (EX_OSERR: the system refused)."""


Ocr = dict[str, Any] | None
"""What a request says of pages to be recognised: their numbers (``pages``) and ``max_pixels``."""


def read_document(path: Path, max_pages: int, ocr: Ocr = None) -> Extraction:
    """Read one document by the kind its name ends in; raises MemoryError when that is refused."""
    try:
        if path.stat().st_size == 0 and path.is_file():
            return Extraction(failure="empty file: it has 0 bytes")
        return _read(path, max_pages, ocr)
    except RecursionError:
        return Extraction(failure="not a readable file: its structure is nested without end")
    except OSError as error:
        return Extraction(failure=f"the file can't be opened: {error.strerror or error}", transient=True)


def _read(path: Path, max_pages: int, ocr: Ocr) -> Extraction:
    if path.is_dir():
        from transplantqa.corpus.html_manual import read_manual  # noqa: PLC0415

        return read_manual(path, max_pages)
    suffix = path.suffix.lower()
    if suffix == ".pdf":
        return _read_pdf(path, max_pages, ocr)
    if suffix == ".docx":
        from transplantqa.corpus.docx_files import read_docx  # noqa: PLC0415 - loads only where its kind of file comes

        return read_docx(path)
    if suffix in (".html", ".htm", ".xhtml"):
        from transplantqa.corpus.html_files import read_html  # noqa: PLC0415

        return read_html(path)
    from transplantqa.corpus.text_files import read_markdown, read_plain  # noqa: PLC0415

    readers = {".md": read_markdown, ".markdown": read_markdown, ".txt": read_plain, ".text": read_plain}
    if suffix not in readers:
        kinds = "PDF, Word (.docx), HTML, Markdown or text"
        return Extraction(failure=f"files of type {suffix or '(none)'} aren't read: convert it to {kinds}")
    return readers[suffix](path)


def _read_pdf(path: Path, max_pages: int, ocr: Ocr) -> Extraction:
    from transplantqa.corpus.pdf import OcrRequest, read_pdf  # noqa: PLC0415

    if ocr is None:
        return read_pdf(path, max_pages)
    from transplantqa.corpus.ocr import NoOcrError  # noqa: PLC0415

    try:
        return read_pdf(path, max_pages, OcrRequest(frozenset(ocr["pages"]), ocr["max_pixels"]))
    except NoOcrError as error:
        return Extraction(failure=str(error), transient=True)


def _limit_memory(megabytes: int) -> None:
    """Bound the process's address space, where the system can."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource  # noqa: PLC0415 - not on Windows

        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _limit_processor(seconds: float) -> None:
    """Let the system end the process after so much processor time from now on, where it can."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource  # noqa: PLC0415 - not on Windows

        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(time.process_time() + seconds), hard))


def _claim_output() -> IO[bytes]:
    """Keep standard output for replies alone: whatever a library prints goes nowhere."""
    replies = os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    return replies


def encoded(reply: dict[str, Any]) -> bytes:
    """Return a reply as a line of JSON; halves of surrogate pairs, which UTF-8 can't hold, become U+FFFD."""
    text = json.dumps(reply, ensure_ascii=False)
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode() + b"\n"


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    path = Path(request["path"])
    if request["task"] == "draw":
        from transplantqa.corpus.pictures import draw_pages  # noqa: PLC0415

        return {"pictures": {str(page): picture for page, picture in draw_pages(path, request["pages"]).items()}}
    return {"extraction": read_document(path, request["max_pages"], request.get("ocr")).to_json()}


def main() -> None:
    """Answer requests until the input closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _limit_memory(int(sys.argv[1]))
    replies = _claim_output()
    for line in sys.stdin.buffer:
        request = json.loads(line)
        _limit_processor(request["seconds"])
        try:
            reply = encoded({"request": request["request"], **_answer(request)})
        except MemoryError:
            os._exit(EXIT_MEMORY)
        replies.write(reply)
        replies.flush()


if __name__ == "__main__":
    main()
