"""How often passages have each term, as a sparse matrix: made once a document and shared by its lexical rankers."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
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
        counted = [
            Counter(columns.setdefault(term, len(columns)) for term in terms)  # columns are numbered as terms come
            for terms in passages
        ]
        return cls(_matrix(counted, len(columns)), columns)


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
    counted = []
    for text in texts:
        words = Counter(analyzer.words(text))
        row: dict[int, int] = defaultdict(int)
        for column, count in zip(map(columns.__getitem__, words), words.values(), strict=True):
            row[column] += count
        row.pop(STOP_WORD, None)
        counted.append(row)
    return TermCounts(_matrix(counted, len(columns.terms)), columns.terms)


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


def _matrix(counted: Sequence[dict[int, int]], width: int) -> Any:
    from scipy.sparse import csr_array  # noqa: PLC0415

    starts = np.cumsum([0, *map(len, counted)])
    columns: NDArray[np.intp] = np.fromiter((at for one in counted for at in one), np.intp, int(starts[-1]))
    values = np.fromiter((count for one in counted for count in one.values()), np.float64, int(starts[-1]))
    return csr_array((values, columns, starts), shape=(len(counted), width))
