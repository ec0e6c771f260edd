"""The process that reads documents: one JSON request a line in, one JSON extraction a line out.

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
from typing import IO

from transplantqa.corpus.extraction import Extraction


def read_document(path: Path, max_pages: int) -> Extraction:
    """Read one document by the kind its name ends in."""
    try:
        if path.stat().st_size == 0:
            return Extraction(failure="empty file: it has 0 bytes")
        return _read(path, max_pages)
    except MemoryError:
        return Extraction(failure="reading it needs more memory than the limit")
    except RecursionError:
        return Extraction(failure="not a readable file: its structure is nested without end")
    except OSError as error:
        return Extraction(failure=f"the file can't be opened: {error.strerror or error}")


def _read(path: Path, max_pages: int) -> Extraction:
    suffix = path.suffix.lower()
    if suffix == ".pdf":
        from transplantqa.corpus.pdf import read_pdf  # noqa: PLC0415 - a library loads only where its kind of file comes

        return read_pdf(path, max_pages)
    if suffix == ".docx":
        from transplantqa.corpus.docx_files import read_docx  # noqa: PLC0415

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


def _claim_output() -> IO[str]:
    """Keep standard output for replies alone: whatever a library prints goes nowhere."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="surrogatepass", newline="\n")
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    return replies


def main() -> None:
    """Answer requests until the input closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _limit_memory(int(sys.argv[1]))
    replies = _claim_output()
    for line in sys.stdin.buffer:
        request = json.loads(line)
        _limit_processor(request["seconds"])
        extraction = read_document(Path(request["path"]), request["max_pages"])
        replies.write(json.dumps(extraction.to_json()) + "\n")
        replies.flush()


if __name__ == "__main__":
    main()
