"""The process that reads documents: one JSON request a line in, one JSON extraction a line out.

It can be killed, run out of memory or crash on a hostile file without taking the run along. Run as
``python -m transplantqa.corpus.worker MEMORY_MB``; it imports nothing heavy and ends when its input closes.
"""

import contextlib
import json
import os
import signal
import sys
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
        from transplantqa.corpus.pdf import read_pdf  # noqa: PLC0415 - PDFium loads only where there are PDFs

        return read_pdf(path, max_pages)
    from transplantqa.corpus.text_files import read_markdown, read_plain  # noqa: PLC0415

    readers = {".md": read_markdown, ".markdown": read_markdown, ".txt": read_plain, ".text": read_plain}
    if suffix not in readers:
        return Extraction(
            failure=f"files of type {suffix or '(none)'} aren't read: convert it to PDF, Markdown or text"
        )
    return readers[suffix](path)


def _limit_memory(megabytes: int) -> None:
    """Bound the process's address space, where the system can."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource  # noqa: PLC0415 - not on Windows

        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


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
        extraction = read_document(Path(request["path"]), request["max_pages"])
        replies.write(json.dumps(extraction.to_json()) + "\n")
        replies.flush()


if __name__ == "__main__":
    main()
