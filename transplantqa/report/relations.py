"""How the answers to one question relate: a matrix of marks, and the judge's reasons."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from transplantqa.report.text import plain

Row = Mapping[str, Any]

RELATION_MARKS: Mapping[str, str] = {
    "ABSENT": ".",
    "CONSISTENT": "=",
    "COMPLEMENTARY": "+",
    "DIVERGENT": "D",
    "CONTRADICTORY": "X",
}
FAILED_MARK = "?"
_LARGEST_MATRIX = 16  # documents whose relations fit a screen as a matrix


def relations(answers: Sequence[Row], comparisons: Sequence[Row]) -> list[RenderableType]:
    """Return how one question's answers relate: a matrix where it fits a screen, then the judged pairs."""
    documents = [answer["document_id"] for answer in answers if answer["variant"] == "default"]
    parts: list[RenderableType] = []
    if 2 <= len(documents) <= _LARGEST_MATRIX:
        parts += [_matrix(documents, comparisons), Text(_legend()), Text()]
    judged = [row for row in comparisons if row["decided_by"] != "prescreen"]
    if judged:
        parts.append(_reasons(judged))
    silent = len(comparisons) - len(judged)
    if silent:
        parts.append(Text(f"{silent} pairs are ABSENT without a judgement: a side is silent."))
    return parts


def _matrix(documents: Sequence[str], comparisons: Sequence[Row]) -> RenderableType:
    marks = {
        (row["document_a"], row["document_b"]): RELATION_MARKS.get(row["label"] or "", FAILED_MARK)
        for row in comparisons
    }
    table = Table(box=None, pad_edge=False)
    table.add_column("")
    for number in range(1, len(documents) + 1):
        table.add_column(str(number), justify="center")
    for number, left in enumerate(documents, start=1):
        cells = [marks.get((min(left, right), max(left, right)), "") for right in documents]
        table.add_row(str(number), *cells)
    return table


def _legend() -> str:
    marks = [f"{mark} {label.lower()}" for label, mark in RELATION_MARKS.items()]
    return ", ".join([*marks, f"{FAILED_MARK} not decided"])


def _reasons(comparisons: Sequence[Row]) -> RenderableType:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_lines=True)
    for column in ("pair", "relation", "about", "reasoning"):
        table.add_column(column, overflow="fold")
    severity = list(RELATION_MARKS)
    order = sorted(
        comparisons,
        key=lambda row: (
            -(severity.index(row["label"]) if row["label"] in severity else -1),
            row["document_a"],
            row["document_b"],
        ),
    )
    for row in order:
        label = row["label"] or row["outcome"]
        grade = f"\n{row['significance']} significance" if row["significance"] else ""
        inconsistent = "\nchanges with the order shown" if row["consistent"] is False else ""
        table.add_row(
            Text(plain(f"{row['document_a']}\n{row['document_b']}")),
            Text(plain(f"{label}{grade}{inconsistent}")),
            Text(plain(row["divergence_topic"] or "")),
            Text(plain(row["reasoning"] or "").strip()),
        )
    return table
