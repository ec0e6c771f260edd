"""Which document answered which question, as a drawing of few shapes however many cells there are."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from transplantqa.records import SILENT_OUTCOMES, Outcome
from transplantqa.store.run_folder import RunFolder

STATES: Mapping[str, str] = {"a": "answered", "s": "silent", "r": "silent by retrieval", "f": "failed"}
"""State codes with the words for them; a cell that doesn't exist is a space."""

_CODES = {str(outcome): "f" for outcome in Outcome} | {
    str(Outcome.OK): "a",
    **dict.fromkeys(map(str, SILENT_OUTCOMES), "s"),
    str(Outcome.EMPTY_RETRIEVAL): "r",
}


@dataclass(frozen=True)
class Coverage:
    """The grid: question ids (rows, most answered first), document ids (columns, by institution), a code a cell."""

    questions: tuple[str, ...]
    documents: tuple[str, ...]
    rows: tuple[str, ...]

    def rules(self) -> str:
        """Return an SVG path that parts the columns."""
        return "".join(f"M{x} 0v{len(self.rows)}" for x in range(1, len(self.documents)))

    def paths(self) -> dict[str, str]:
        """Return state to an SVG path over the grid in units of cells; neighbours in a row are one rectangle."""
        parts: dict[str, list[str]] = {state: [] for state in STATES}
        for y, row in enumerate(self.rows):
            for state, start, length in _stretches(row):
                if state in parts:
                    parts[state].append(f"M{start} {y}h{length}v1h-{length}z")
        return {state: "".join(found) for state, found in parts.items() if found}


def coverage(run: RunFolder, documents: Sequence[Mapping[str, Any]]) -> Coverage:
    """Return the grid of a run's answers.

    Args:
        run: the run.
        documents: the readable documents, in the order of the columns.
    """
    column = {row["document_id"]: place for place, row in enumerate(documents)}
    grid: dict[str, list[str]] = {}
    for question, document, variant, outcome in _cells(run):
        row = grid.setdefault(question, [" "] * len(column))
        if variant == "default" and document in column:
            row[column[document]] = _CODES.get(outcome, "f")
    order = sorted(grid, key=lambda question: (-grid[question].count("a"), question))
    return Coverage(tuple(order), tuple(column), tuple("".join(grid[question]) for question in order))


def _cells(run: RunFolder) -> Iterable[tuple[str, str, str, str]]:
    table = run.table("answers", ["question_id", "document_id", "variant", "outcome"])
    return zip(*(table[name].to_pylist() for name in table.column_names), strict=True)


def _stretches(row: str) -> Iterator[tuple[str, int, int]]:
    start = 0
    for state, run in groupby(row):
        length = len(list(run))
        yield state, start, length
        start += length
