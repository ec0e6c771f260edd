"""The review file: what was proposed for each question, and what a person decided of it."""

import csv
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from transplantqa.corpus.curation import Decision
from transplantqa.corpus.proposals import Proposal
from transplantqa.corpus.tabular import Problems, TableRow, find_columns, list_value, read_table, text_value
from transplantqa.formulas import guarded, unguarded
from transplantqa.records import Question

COLUMNS = (
    "question_id",
    "text",
    "accept",
    "proposed_text",
    "proposed_topic",
    "proposed_subtopic",
    "flags",
    "doubts",
    "groups",
    "topics",
    "subtopics",
    "source",
)
TEXT, TOPICS = "text", "topics"
ANSWERS: Mapping[str, frozenset[str]] = {
    "yes": frozenset({TEXT, TOPICS}),
    "y": frozenset({TEXT, TOPICS}),
    TEXT: frozenset({TEXT}),
    TOPICS: frozenset({TOPICS}),
    "no": frozenset(),
    "n": frozenset(),
    "": frozenset(),
}
DROP = "drop"


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A question after review: the one to ask, and ``step``, which says what the person decided."""

    question: Question
    original: str
    step: str


def as_review(decisions: Sequence[Decision], proposals: Mapping[str, Proposal]) -> str:
    """Return the kept questions with what is proposed for each, as CSV; ``accept`` is empty, for a person.

    No cell is a formula to a spreadsheet; ``read_review`` takes the apostrophes off again.
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for decision in decisions:
        question = decision.question
        proposal = proposals.get(question.question_id, Proposal(question.question_id))
        cells = {
            "question_id": question.question_id,
            "text": question.text,
            "accept": "",
            "proposed_text": proposal.text,
            "proposed_topic": proposal.topic,
            "proposed_subtopic": proposal.subtopic,
            "flags": "|".join(decision.flags),
            "doubts": "|".join((*proposal.doubts, *((proposal.failure,) if proposal.failure else ()))),
            "groups": "|".join(question.groups),
            "topics": "|".join(question.topics),
            "subtopics": "|".join(question.subtopics),
            "source": question.source or "",
        }
        writer.writerow({column: guarded(cell) for column, cell in cells.items()})
    return text.getvalue()


def has_decisions(path: Path) -> bool:
    """Tell whether a person has filled in anything of the review file."""
    if not path.is_file():
        return False
    rows, _ = read_table(path, "questions")
    return any(str(row.values.get("accept") or "").strip() for row in rows)


def read_review(path: Path) -> list[Reviewed]:
    """Return the questions as a person decided; raises InputError with every problem of the file.

    ``accept`` is yes (wording and labels as they stand in the file, edited or not), text, topics, no, or drop; empty
    leaves the question as it was.
    """
    rows, problems = read_table(path, "questions")
    accepted = {column: (column,) for column in COLUMNS}
    columns = find_columns(rows, accepted, ("question_id", "text", "accept", "proposed_text"), problems)
    found = [_reviewed(row, columns, problems) for row in rows]
    counts = Counter(one.question.question_id for one in found)
    for row, one in zip(rows, found, strict=True):
        if counts[one.question.question_id] > 1:
            problems.add(row.line, f'id "{one.question.question_id}" is there more than once.', "Keep one of them.")
    problems.raise_any()
    return found


def _reviewed(row: TableRow, columns: Mapping[str, str], problems: Problems) -> Reviewed:
    cells = {name: unguarded(cell) if isinstance(cell, str) else cell for name, cell in row.values.items()}
    row = TableRow(row.line, cells)
    values = {column: text_value(row, columns.get(column), problems) for column in COLUMNS}
    question = Question(
        question_id=values["question_id"],
        text=values["text"],
        groups=list_value(row, columns.get("groups"), problems),
        topics=list_value(row, columns.get("topics"), problems),
        subtopics=list_value(row, columns.get("subtopics"), problems),
        source=values["source"] or None,
    )
    answer = values["accept"].casefold()
    if answer == DROP:
        return Reviewed(question, values["text"], "dropped")
    if answer not in ANSWERS:
        problems.add(
            row.line,
            f'accept "{values["accept"]}" isn\'t understood.',
            "Write yes, text, topics, no or drop; empty leaves the question as it was.",
        )
    wanted = ANSWERS.get(answer, frozenset())
    if TEXT in wanted and values["proposed_text"]:
        question = replace(question, text=values["proposed_text"])
    if TOPICS in wanted:
        topic, subtopic = values["proposed_topic"], values["proposed_subtopic"]
        question = replace(
            question,
            topics=(topic,) if topic else question.topics,
            subtopics=(subtopic,) if subtopic else question.subtopics,
        )
    changed = (question.text != values["text"]) or TOPICS in wanted
    step = "accepted" if changed else "undecided" if not answer else "as it was"
    return Reviewed(question, values["text"], step)


def review_counts(reviewed: Sequence[Reviewed]) -> dict[str, int]:
    """Return how many questions ended in each step of the review."""
    counts = Counter(one.step for one in reviewed)
    return {step: counts[step] for step in ("accepted", "as it was", "undecided", "dropped")}
