"""How often passages have each term, as a sparse matrix: made once a document and shared by its lexical rankers."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transplantqa.retrieval.indexed import IndexedDocument
from transplantqa.retrieval.terms import TermAnalyzer

STOP_WORD = -1


@dataclass(frozen=True)
class TermCounts:
    """Counts of shape (passages, terms), sparse by row, and the column of each term."""

    matrix: Any
    columns: dict[str, int]

    @classmethod
    def of(cls, passages: Sequence[Sequence[str]]) -> "TermCounts":
        """Count the terms of passages; a passage without terms is fine."""
        columns: dict[str, int] = {}
        found = [columns.setdefault(term, len(columns)) for terms in passages for term in terms]
        return cls(_matrix([len(terms) for terms in passages], np.array(found, dtype=np.intp), len(columns)), columns)


class _Columns(dict[str, int]):
    """From a word to the column of its term, numbered as they come, or ``STOP_WORD``."""

    def __init__(self, analyzer: TermAnalyzer) -> None:
        super().__init__()
        self._analyzer = analyzer
        self.terms: dict[str, int] = {}

    def __missing__(self, word: str) -> int:
        term = self._analyzer.term(word)
        self[word] = STOP_WORD if term is None else self.terms.setdefault(term, len(self.terms))
        return self[word]


def count_texts(texts: Sequence[str], analyzer: TermAnalyzer) -> TermCounts:
    """Count the terms of texts; only their distinct words are analysed."""
    columns = _Columns(analyzer)
    words = [analyzer.words(text) for text in texts]
    found = np.fromiter(map(columns.__getitem__, chain.from_iterable(words)), np.intp)
    return TermCounts(_matrix([len(one) for one in words], found, len(columns.terms)), columns.terms)


def document_counts(document: IndexedDocument, analyzer: TermAnalyzer) -> tuple[TermCounts, TermCounts]:
    """Return the counts of what is searched of each chunk, by position, and of each searchable section with heading.

    A section that its chunks hold without overlap isn't analysed again: no word crosses the white space between them.
    """
    from scipy.sparse import csr_array  # noqa: PLC0415

    sections = document.searchable_sections()
    chunks = [chunk.text for chunk in document.chunks]
    headings = [section.heading for section in sections]
    whole = [at for at, section in enumerate(sections) if not _is_tiled(document, section.section_id)]
    counts = count_texts([*chunks, *headings, *(sections[at].text for at in whole)], analyzer)
    own = {at: len(chunks) + len(headings) + number for number, at in enumerate(whole)}
    section_of = document.columns_of_sections()
    heads = [[len(chunks) + int(section_of[at])] if head else [] for at, head in enumerate(document.heads)]
    of_chunks = [[at, *head] for at, head in enumerate(heads)]
    of_sections = [
        [len(chunks) + at, *([own[at]] if at in own else document.siblings[section.section_id])]
        for at, section in enumerate(sections)
    ]

    def gathered(rows: Sequence[Sequence[int]]) -> TermCounts:
        starts = np.cumsum([0, *map(len, rows)])
        picked = np.array([at for row in rows for at in row], dtype=np.intp)
        chooser = csr_array((np.ones(len(picked)), picked, starts), shape=(len(rows), counts.matrix.shape[0]))
        return TermCounts((chooser @ counts.matrix).tocsr(), counts.columns)

    return gathered(of_chunks), gathered(of_sections)


def _is_tiled(document: IndexedDocument, section_id: str) -> bool:
    """Whether a section's chunks hold all its text but white space, and there is white space between any two."""
    text, place = document.sections[section_id].text, 0
    for number, position in enumerate(document.siblings[section_id]):
        chunk = document.chunks[position]
        between = text[place : chunk.char_start]
        if chunk.char_start < place or between.strip() or (number and not between):
            return False
        place = chunk.char_end
    return not text[place:].strip()


def _matrix(lengths: Sequence[int], columns: NDArray[np.intp], width: int) -> Any:
    """Count columns, ``STOP_WORD`` left out, that stand in rows of these lengths."""
    from scipy.sparse import coo_array  # noqa: PLC0415

    rows = np.repeat(np.arange(len(lengths)), lengths)
    terms = columns != STOP_WORD
    each = (np.ones(int(terms.sum())), (rows[terms], columns[terms]))
    return coo_array(each, shape=(len(lengths), width)).tocsr()
