"""Questions from a file: CSV, JSON lines, a JSON list, Parquet."""

import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from transplantqa.corpus.paths import located
from transplantqa.corpus.tabular import Problems, TableRow, find_columns, list_value, nearest, read_table, text_value
from transplantqa.errors import InputError
from transplantqa.records import Question
from transplantqa.store.hashing import text_sha256

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "question_id"),
    "text": ("text", "question", "question_text"),
    "groups": ("groups", "group"),
    "topics": ("topics", "topic"),
    "subtopics": ("subtopics", "subtopic", "sub_topic", "sub_topics", "sub-topic", "sub-topics"),
    "source": ("source",),
}


class QuestionFile:
    """Reads questions strictly: every fault of the file is told at once, with its line, and none is repaired silently.

    Ids and everything else stay text as written ("007", "NA"), outer white space aside. Several groups, topics or
    sub-topics have the separator between them (in JSON and Parquet, a list); no group means the question is general.

    Args:
        path: a .csv, .tsv, .jsonl, .json or .parquet file (a path, or ``package:NAME/FILE``).
        columns: field (id, text, groups, topics, subtopics, source) to its column's name, where that isn't a usual one.
        select: ids of the only questions wanted; all when null.
        limit: how many of those wanted to take, from the first; all when null.
        duplicates: what a repeated id is: an "error", or all but the "first" left out.
        gold: file of what people found, to measure systems against; null when there is none.
        max_characters: length above which a question is taken for a mistake (an unclosed quote, a pasted document).
        ids: where ids come from: a "column", or the "text" itself, for files that have none ("q_" and its hash).
        separator: what stands between several groups, topics or sub-topics in one value.
    """

    def __init__(  # noqa: PLR0913 - a configuration's keys
        self,
        *,
        path: str,
        columns: dict[str, str] | None = None,
        select: list[str] | None = None,
        limit: Annotated[int, Field(ge=1)] | None = None,
        duplicates: Literal["error", "first"] = "error",
        max_characters: Annotated[int, Field(ge=1)] = 4000,
        gold: str | None = None,
        ids: Literal["column", "text"] = "column",
        separator: Annotated[str, Field(min_length=1, max_length=3)] = "|",
    ) -> None:
        self.path = path
        self.ids = ids
        self.separator = separator
        self.columns = columns
        self.select = select
        self.limit = limit
        self.duplicates = duplicates
        self.max_characters = max_characters
        self.gold = None if gold is None else located(gold)

    def load(self) -> tuple[Question, ...]:
        """Return the questions in the order of the file, or of ``select``; raises InputError with every problem."""
        rows, problems = read_table(located(self.path), "questions")
        needed = {"text", *(self.columns or {}), *(["id"] if self.ids == "column" else [])}
        columns = find_columns(rows, self._accepted(), needed, problems)
        questions: dict[str, tuple[int, Question]] = {}
        for row in rows:
            question = self._question(row, columns, problems)
            key = unicodedata.normalize("NFC", question.question_id)  # ids that look the same are the same
            earlier = questions.get(key)
            if earlier is None:
                questions[key] = (row.line, question)
            elif self.duplicates == "error" and question.question_id:
                problems.add(
                    row.line,
                    f'id "{question.question_id}" was already used on {problems.unit} {earlier[0]}.',
                    "Give each question its own id, or run with questions.duplicates=first to keep the first.",
                )
        problems.raise_any()
        chosen = self._selected({question.question_id: question for _, question in questions.values()})
        return chosen[: self.limit]

    def _accepted(self) -> dict[str, tuple[str, ...]]:
        accepted = dict(COLUMNS)
        for field, name in (self.columns or {}).items():
            if field not in COLUMNS:
                known = ", ".join(COLUMNS)
                raise InputError(
                    f"questions.columns: there is no field {field}.{nearest(field, COLUMNS)}\nFields: {known}."
                )
            accepted[field] = (name,)
        return accepted

    def _question(self, row: TableRow, columns: Mapping[str, str], problems: Problems) -> Question:
        text = text_value(row, columns["text"], problems)
        name = f"q_{text_sha256(text)[:12]}" if self.ids == "text" else text_value(row, columns["id"], problems)
        if not name:
            problems.add(row.line, "the id is empty.", "Give each question an id of its own.")
        elif "\n" in name or len(name) > 200:
            problems.add(
                row.line, "the id has a line break in it or is longer than 200 characters.", "Is a quote missing?"
            )
        if not text:
            problems.add(row.line, f'question "{name}" has no text.', "Write the question, or take the line out.")
        elif len(text) > self.max_characters:
            problems.add(
                row.line,
                f'question "{name}" is {len(text):,} characters long, more than {self.max_characters:,}.',
                "Shorten it, close its quotes, or raise questions.max_characters.",
            )
        return Question(
            question_id=name,
            text=text,
            groups=list_value(row, columns.get("groups"), problems, self.separator),
            topics=list_value(row, columns.get("topics"), problems, self.separator),
            subtopics=list_value(row, columns.get("subtopics"), problems, self.separator),
            source=text_value(row, columns.get("source"), problems) or None,
        )

    def _selected(self, questions: Mapping[str, Question]) -> tuple[Question, ...]:
        if self.select is None:
            return tuple(questions.values())
        missing = [name for name in dict.fromkeys(self.select) if name not in questions]
        if missing:
            file = Path(self.path).name
            raise InputError(
                "\n\n".join(
                    f'questions.select: {file} has no question "{name}".{nearest(name, questions)}\n'
                    "Use ids as they stand in the file."
                    for name in missing
                )
            )
        return tuple(questions[name] for name in dict.fromkeys(self.select))
