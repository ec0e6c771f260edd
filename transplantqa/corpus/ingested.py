"""A file to ingest, what ingestion makes of it, and how one becomes the other."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Literal

from transplantqa.corpus.chunking import Table, chunk_spans
from transplantqa.corpus.extraction import Extraction, Part
from transplantqa.corpus.lines import Removed
from transplantqa.corpus.page_quality import judge_pages
from transplantqa.corpus.quality import judge, with_doubt
from transplantqa.corpus.repeated_headers import with_headers
from transplantqa.models.protocols import Tokenizer
from transplantqa.records import Chunk, Document, Outcome, Section, Verdict
from transplantqa.store.hashing import digest

CUT_ROW = "a table row longer than a chunk was cut between cells"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A document before it is read. ``source_file`` is its path as the table shows it, within the corpus folder.

    ``notes`` go before the reasons of the verdict, whatever that is.
    """

    document_id: str
    path: Path
    source_file: str
    institution: str
    group: str
    sha256: str
    phase: str | None = None
    title: str | None = None
    year: int | None = None
    licence: str | None = None
    redistributable: bool = False
    notes: tuple[str, ...] = ()

    @property
    def inputs_sha256(self) -> str:
        """Hash of all that its row is made from: the file's bytes and kind, and what the manifest says of it."""
        facts = (self.institution, self.group, self.phase, self.title, self.year, self.licence, self.redistributable)
        return digest([self.sha256, self.document_id, self.source_file, self.path.suffix.lower(), *facts, *self.notes])


@dataclass(frozen=True, slots=True)
class IngestedPage:
    """One page: its own verdict, and its ``text`` as the file (or OCR) gives it, before cleaning.

    ``text_from`` is "file", "ocr" (read off the page's picture) or "none".
    """

    page: int
    characters: int
    text_from: Literal["file", "ocr", "none"]
    verdict: Verdict
    reasons: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class IngestedDocument:
    """A document with its sections and chunks in reading order; a rejected one has none.

    ``outcome`` is ``engine_error`` when reading failed for a reason that isn't the file's: it is rejected this time,
    and tried again. ``removed`` counts what cleaning changed and took out, by kind; ``removed_texts`` is each piece of
    that, with its places; ``headings_from`` names where the headings came from. ``page_labels`` has one label a page,
    null where that is the page's place in the file.
    """

    document: Document
    sections: tuple[Section, ...] = ()
    chunks: tuple[Chunk, ...] = ()
    removed: Mapping[str, int] = field(default_factory=dict)
    headings_from: str = "none"
    removed_texts: tuple[Removed, ...] = ()
    page_labels: tuple[str | None, ...] = ()
    pages: tuple[IngestedPage, ...] = ()
    outcome: Outcome = Outcome.OK


def assemble(source: SourceFile, extraction: Extraction, tokenizer: Tokenizer, chunk_tokens: int) -> IngestedDocument:
    """Judge an extraction and, unless it is rejected, cut it into sections and chunks."""
    judgement = judge(extraction)
    sections: list[Section] = []
    chunks: list[Chunk] = []
    repeated = 0
    cut_rows: list[int] = []
    if judgement.verdict != "reject":
        for part in extraction.parts:
            offsets = tokenizer.offsets(part.text)
            cuts = chunk_spans(part.text, offsets, chunk_tokens, [Table(*table) for table in part.tables])
            cut_rows += [_page_at(part, cut.cut_row) for cut in cuts if cut.cut_row is not None]
            whole, spans = with_headers(part, cuts)
            if whole is not part:
                repeated += sum(cut.header is not None for cut in cuts)
                offsets = tokenizer.offsets(whole.text)
            section = _section(source.document_id, len(sections) + 1, whole, len(offsets))
            sections.append(section)
            chunks += _chunks(section, whole, spans, len(chunks) + 1)
    if cut_rows:
        judgement = with_doubt(judgement, _cut_rows_note(cut_rows))
    document = Document(
        document_id=source.document_id,
        institution=source.institution,
        group=source.group,
        phase=source.phase,
        title=source.title or extraction.title or source.path.stem,
        year=source.year,
        source_file=source.source_file,
        sha256=source.sha256,
        pages=extraction.page_count,
        characters=sum(len(section.text) for section in sections),
        tokens=sum(section.tokens for section in sections),
        licence=source.licence,
        redistributable=source.redistributable,
        verdict=judgement.verdict,
        reasons=source.notes + judgement.reasons,
    )
    return IngestedDocument(
        document,
        tuple(sections),
        tuple(chunks),
        {
            **extraction.removed,
            **({"repeated_headers": repeated} if repeated else {}),
            **({"cut_rows": len(cut_rows)} if cut_rows else {}),
        },
        extraction.headings_from,
        extraction.removed_texts,
        tuple(page.label for page in extraction.pages),
        _pages(extraction, cut_rows),
        Outcome.ENGINE_ERROR if extraction.transient else Outcome.OK,
    )


def _cut_rows_note(pages: Sequence[int]) -> str:
    what = "a table row is" if len(pages) == 1 else f"{len(pages):,} table rows are"
    return f"{what} longer than a chunk and cut between cells, first on page {min(pages)}"


def _pages(extraction: Extraction, cut_rows: Collection[int]) -> tuple[IngestedPage, ...]:
    texts = dict(enumerate(extraction.page_texts, start=1))
    pages = []
    for facts, judged in zip(extraction.pages, judge_pages(extraction), strict=True):
        source: Literal["file", "ocr", "none"] = "none"
        if facts.characters:
            source = "file" if facts.confidence is None else "ocr"
        one = judged if facts.page not in cut_rows else with_doubt(judged, CUT_ROW)
        text = texts.get(facts.page, "")
        pages.append(IngestedPage(facts.page, facts.characters, source, one.verdict, one.reasons, text))
    return tuple(pages)


def _section(document_id: str, order: int, part: Part, tokens: int) -> Section:
    return Section(
        section_id=f"{document_id}#{order:03d}-{slug(part.heading)}",
        document_id=document_id,
        order=order,
        level=part.level,
        heading=part.heading,
        heading_path=part.heading_path,
        page_start=min(part.page_start, part.page_marks[0][1]),
        page_end=part.page_marks[-1][1],
        text=part.text,
        tokens=tokens,
    )


def _page_at(part: Part, position: int) -> int:
    return part.page_marks[max(0, bisect_right(part.page_marks, position, key=itemgetter(0)) - 1)][1]


def _chunks(section: Section, part: Part, spans: Sequence[tuple[int, int, int]], first: int) -> list[Chunk]:
    return [
        Chunk(
            chunk_id=f"{section.section_id}/{number}",
            document_id=section.document_id,
            section_id=section.section_id,
            order=first + number - 1,
            page_start=_page_at(part, start),
            page_end=_page_at(part, end - 1),
            char_start=start,
            char_end=end,
            text=section.text[start:end],
            tokens=tokens,
        )
        for number, (start, end, tokens) in enumerate(spans, start=1)
    ]


def slug(text: str) -> str:
    """Return a short lower-case name for use inside an id: letters and digits joined by hyphens, without accents."""
    bare = "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c))
    return re.sub(r"[\W_]+", "-", bare).strip("-")[:48].strip("-") or "section"
