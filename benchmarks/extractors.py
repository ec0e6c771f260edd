"""Text of PDFs by several libraries, each in a process of its own: ``python -m benchmarks.extractors NAME FOLDER``."""

import importlib.util
import json
import logging
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transplantqa.corpus.pdf import read_pdf


@dataclass(frozen=True, slots=True)
class Cost:
    """What reading a folder took: pages, processor seconds, and the most memory held, in MiB."""

    pages: int
    cpu_seconds: float
    peak_mib: float

    @property
    def rate(self) -> float:
        """Pages a second of processor time."""
        return self.pages / self.cpu_seconds


def ours(path: Path) -> int:
    return read_pdf(path, 5000).page_count


def pypdfium2(path: Path) -> int:
    library: Any = importlib.import_module("pypdfium2")
    document = library.PdfDocument(path)
    count = len(document)
    for number in range(count):
        page = document[number]
        page.get_textpage().get_text_bounded()
        page.close()
    document.close()
    return count


def pypdf(path: Path) -> int:
    library: Any = importlib.import_module("pypdf")
    pages = library.PdfReader(path).pages
    for page in pages:
        page.extract_text()
    return len(pages)


def pdfplumber(path: Path) -> int:
    library: Any = importlib.import_module("pdfplumber")
    with library.open(path) as document:
        for page in document.pages:
            page.extract_text()
            page.close()
        return len(document.pages)


EXTRACTORS: Mapping[str, Callable[[Path], int]] = {
    "ours": ours,
    "pypdfium2": pypdfium2,
    "pypdf": pypdf,
    "pdfplumber": pdfplumber,
}

REPEATS = {"ours": 3, "pypdfium2": 3}
"""How often all files are read; the quickest time counts, which other work on the machine disturbs least."""


def installed() -> list[str]:
    """Return the extractors that can be measured here."""
    return [name for name in EXTRACTORS if name == "ours" or importlib.util.find_spec(name) is not None]


def cost(name: str, folder: Path) -> Cost:
    """Measure one extractor over all PDFs of a folder, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.extractors", name, str(folder)]
    return Cost(**json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))


def peak_mib() -> float:
    """Return the most memory this process has held; its parent's at the time of its start isn't counted."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def main(name: str, folder: str) -> None:
    logging.disable(logging.CRITICAL)
    paths = sorted(Path(folder).glob("*.pdf"))
    extract = EXTRACTORS[name]
    extract(paths[0])
    seconds = []
    for _ in range(REPEATS.get(name, 1)):
        start = time.process_time()
        pages = sum(extract(path) for path in paths)
        seconds.append(time.process_time() - start)
    print(json.dumps({"pages": pages, "cpu_seconds": min(seconds), "peak_mib": peak_mib()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
