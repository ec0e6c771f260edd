"""A document laid out for ranking: chunks in the order of their ids, with their sections and neighbours."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from transplantqa.errors import InputError
from transplantqa.records import Chunk, Section
from transplantqa.retrieval.layout import Layout, lay_out
from transplantqa.retrieval.protocols import SourceDocument

Analysis = TypeVar("Analysis")
ChunkText = Literal["plain", "headed"]
"""What is searched of a chunk: its text alone, or with its section's heading before it."""


@dataclass(frozen=True, eq=False)
class IndexedDocument:
    """Positions (columns) are places in ``chunks``, which is sorted by chunk id so that ties end there.

    ``heads`` are what stands before each chunk's text when it is searched.
    """

    source: SourceDocument
    chunks: tuple[Chunk, ...]
    sections: dict[str, Section]
    heads: tuple[str, ...]
    siblings: dict[str, list[int]]
    """Section id to the positions of its chunks in reading order."""
    _analyses: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def document_id(self) -> str:
        """The document's id."""
        return self.source.document.document_id

    @property
    def texts(self) -> list[str]:
        """What is searched of each chunk, by position."""
        return [head + chunk.text for head, chunk in zip(self.heads, self.chunks, strict=True)]

    def analysed(self, language: str, analyse: Callable[[], Analysis]) -> Analysis:
        """Return what ``analyse`` makes of the document in this language, made by whichever ranker asks first."""
        if language not in self._analyses:
            self._analyses[language] = analyse()
        found: Analysis = self._analyses[language]
        return found

    @cached_property
    def layout(self) -> Layout:
        """The chunks in reading order, as arrays."""
        return lay_out(self.chunks, self.sections, self.siblings)

    def searchable_sections(self) -> list[Section]:
        """Return the sections that have chunks, in reading order."""
        return [section for section in self.source.sections if section.section_id in self.siblings]

    def columns_of_sections(self) -> NDArray[np.intp]:
        """Return for each chunk the place of its section in ``searchable_sections``."""
        place = {section.section_id: at for at, section in enumerate(self.searchable_sections())}
        return np.array([place[chunk.section_id] for chunk in self.chunks], dtype=np.intp)


def index_document(source: SourceDocument, chunk_text: ChunkText = "plain") -> IndexedDocument:
    """Lay a document out for ranking; chunks without text are left out: there's nothing to find in them.

    Raises:
        InputError: if two chunks share an id or a chunk names a section the document doesn't have.
    """
    chunks = tuple(sorted((c for c in source.chunks if c.text.strip()), key=lambda chunk: chunk.chunk_id))
    sections = {section.section_id: section for section in source.sections}
    _check(source, chunks, sections)
    siblings: dict[str, list[int]] = {}
    for position in sorted(range(len(chunks)), key=lambda at: (chunks[at].char_start, chunks[at].order)):
        siblings.setdefault(chunks[position].section_id, []).append(position)
    headed = chunk_text == "headed"
    heads = tuple(f"{sections[chunk.section_id].heading}\n" if headed else "" for chunk in chunks)
    return IndexedDocument(source, chunks, sections, heads, siblings)


def _check(source: SourceDocument, chunks: Sequence[Chunk], sections: dict[str, Section]) -> None:
    name = source.document.document_id
    ids = [chunk.chunk_id for chunk in chunks]
    if len(set(ids)) < len(ids):
        twice = next(a for a, b in pairwise(ids) if a == b)
        raise InputError(f"document {name!r}: chunk id {twice!r} is used twice.\nIngest the document again.")
    lost = next((chunk for chunk in chunks if chunk.section_id not in sections), None)
    if lost is not None:
        raise InputError(
            f"document {name!r}: chunk {lost.chunk_id!r} names section {lost.section_id!r}, which isn't there.\n"
            "Ingest the document again."
        )
