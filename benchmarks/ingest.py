"""Reading documents: speed beside other extractors, headings and pages against the truth, hard inputs.

``python -m benchmarks.ingest``; pypdf and pdfplumber, of the development group, are measured where they are installed.
``--quick`` reads four documents for speed instead of twenty, four golden ones of a kind instead of sixty, and every
second hard input.
"""

import multiprocessing
import os
import resource
import shutil
import tempfile
import time
from collections.abc import Sequence
from importlib import resources
from itertools import islice
from pathlib import Path

from benchmarks.extractors import cost, installed
from benchmarks.figures import Figure, Target, figure, main
from benchmarks.golden_pdfs import Golden, Kind, golden
from benchmarks.hard_pdfs import hard_pdfs
from transplantqa.corpus import SourceFile
from transplantqa.corpus.ingested import IngestedDocument, assemble
from transplantqa.corpus.pdf import read_pdf
from transplantqa.corpus.reader import Reader
from transplantqa.models import WordPieceTokenizer

TIMEOUT_SECONDS = 30.0
ROUNDS = 3
F1_TARGETS: dict[Kind, float] = {"tagged": 0.95, "outlined": 0.95, "plain": 0.85}


def measure(quick: bool) -> list[Figure]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        return [
            *speed(folder, quick),
            *accuracy(folder / "one.pdf", 4 if quick else 60),
            *hard(folder / "one.pdf", quick),
        ]


def speed(folder: Path, quick: bool) -> list[Figure]:
    """Read the same handbooks with every extractor: the bundled ones and long generated ones."""
    shared = folder / "shared"
    shared.mkdir()
    sample = resources.files("transplantqa") / "samples" / "transplant"
    with resources.as_file(sample) as path:
        for pdf in sorted(path.rglob("*.pdf"))[: 3 if quick else None]:
            shutil.copy(pdf, shared)
    for seed in range(1 if quick else 10):
        (shared / f"golden{seed}.pdf").write_bytes(golden(seed, "plain", 10 if quick else 40).data)
    costs = {name: cost(name, shared) for name in installed()}
    for name in ("ours", "pypdfium2") * (
        1 if quick else ROUNDS
    ):  # in turns: what else the machine does then meets both
        costs[name] = min(costs[name], cost(name, shared), key=lambda one: one.cpu_seconds)
    own = costs["ours"]
    found = [figure(f"pages, {name}", one.rate, "per CPU s") for name, one in costs.items()]
    found += [figure(f"peak memory, {name}", one.peak_mib, "MiB") for name, one in costs.items()]
    found.append(figure("bare pypdfium2 over ours", costs["pypdfium2"].rate / own.rate, "times", Target("<=", 5)))
    if "pdfplumber" in costs:
        found.append(figure("ours over pdfplumber", own.rate / costs["pdfplumber"].rate, "times", Target(">=", 10)))
    return found


def accuracy(path: Path, documents: int) -> list[Figure]:
    """Compare headings, levels and pages with what was set."""
    found = []
    for kind, target in F1_TARGETS.items():
        pairs = []
        for seed in range(documents):
            truth = golden(seed, kind)
            path.write_bytes(truth.data)
            source = SourceFile("d", path, "one.pdf", "A", "g", "0" * 64)
            pairs.append((truth, assemble(source, read_pdf(path, 1000), WordPieceTokenizer(), 512)))
        counts = [_matches(truth, read) for truth, read in pairs]
        both, wanted, got, exact, levels = (sum(column) for column in zip(*counts, strict=True))
        found += [
            figure(f"headings, {kind}", 2 * both / (wanted + got), "F1", Target(">=", target)),
            figure(f"first pages of headings, {kind}", exact / both, "share", Target("==", 1)),
            figure(f"levels of headings, {kind}", levels / both, "share"),
            figure(f"words in a chunk of their page and section, {kind}", _traced(pairs), "share", Target(">=", 0.99)),
        ]
    return found


def _matches(truth: Golden, read: IngestedDocument) -> tuple[int, int, int, int, int]:
    """Return headings found, headings there are, headings claimed, and of those found the ones of right page, level."""
    wanted = {heading.text: heading for heading in truth.headings}
    got = {section.heading: section for section in read.sections}
    both = wanted.keys() & got.keys()
    pages = sum(wanted[name].page == got[name].page_start for name in both)
    levels = sum(wanted[name].level == len(got[name].heading_path) for name in both)
    return len(both), len(wanted), len(read.sections), pages, levels


def _traced(pairs: Sequence[tuple[Golden, IngestedDocument]]) -> float:
    """Return the share of marked words that stand in one chunk, whose pages hold theirs, under their heading."""
    right = total = 0
    for truth, read in pairs:
        headings = {section.section_id: section.heading for section in read.sections}
        holders: dict[str, list[tuple[str, int, int]]] = {}
        for chunk in read.chunks:
            place = (headings[chunk.section_id], chunk.page_start, chunk.page_end)
            for word in set(chunk.text.lower().replace(".", " ").split()):
                holders.setdefault(word, []).append(place)
        for mark in truth.marks:
            places = holders.get(mark.word, [])
            total += 1
            right += len(places) == 1 and places[0][0] == mark.heading and places[0][1] <= mark.page <= places[0][2]
    return right / total


def hard(path: Path, quick: bool) -> list[Figure]:
    """Read hard inputs in one reading process after the other, as a run does."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        clock, processor, peak, count, unnamed = pool.apply(_read_hard, (path, 2 if quick else 1))
    return [
        figure("hard inputs", count, "files"),
        figure("slowest hard input, processor time", processor, "s", Target("<=", 5)),
        figure("slowest hard input, by the clock", clock, "s"),
        figure("peak memory over hard inputs", peak, "MiB", Target("<=", 500)),
        figure("hard inputs without text or a named reason", unnamed, "files", Target("==", 0)),
    ]


def _read_hard(path: Path, every: int) -> tuple[float, float, float, int, int]:
    reader = Reader(timeout_seconds=TIMEOUT_SECONDS, max_pages=2000)
    seconds, processor, unnamed = [], [], 0
    for _, data in islice(hard_pdfs(), 0, None, every):
        path.write_bytes(data)
        start, used = time.perf_counter(), processor_seconds()
        extraction = reader.read(path)
        reader.pictures(path, min(2, extraction.page_count))
        seconds.append(time.perf_counter() - start)
        processor.append(processor_seconds() - used)
        source = SourceFile("d", path, "one.pdf", "A", "g", "0" * 64)
        document = assemble(source, extraction, WordPieceTokenizer(), 512).document
        unnamed += extraction.transient or (document.verdict == "reject" and not document.reasons)
    reader.close()
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return max(seconds), max(processor), peak, len(seconds), unnamed


def processor_seconds() -> float:
    """Return the processor time of this process's children so far, those that ended and those that live."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:  # it ended meanwhile, and wasn't this process's: those are waited for
            continue
        if int(fields[1]) == os.getpid():
            ticks += int(fields[11]) + int(fields[12])
    return ended.ru_utime + ended.ru_stime + ticks / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    raise SystemExit(main("ingest", measure))
