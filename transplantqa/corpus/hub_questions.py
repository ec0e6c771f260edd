"""Questions from a dataset on the Hugging Face Hub, whatever its columns are called."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from transplantqa.corpus.paths import located
from transplantqa.corpus.questions import COLUMNS, QuestionFile
from transplantqa.errors import InputError
from transplantqa.records import Question


class HubQuestions:
    """Fetches one file of a dataset at a revision and reads it as strictly as a file of one's own.

    Args:
        repo: OWNER/NAME of the dataset.
        revision: branch, tag or commit; a commit gives the same questions tomorrow.
        file: the file's path in the dataset: .csv, .tsv, .jsonl, .json or .parquet.
        columns: field (id, text, groups, topics, subtopics, source) to its column's name, where that isn't a usual one.
        ids: where ids come from: a "column", or the "text" itself, for files that have none.
        separator: what stands between several groups, topics or sub-topics in one value.
        group_names: a group's name in the file to the documents' name of it; null: asked of every document.
        select: ids of the only questions wanted; all when null.
        limit: how many of those wanted to take, from the first; all when null.
        duplicates: what a repeated id is: an "error", or all but the "first" left out.
        max_characters: length above which a question is taken for a mistake.
        gold: file of what people found, to measure systems against; null when there is none.
    """

    def __init__(  # noqa: PLR0913 - a configuration's keys
        self,
        *,
        repo: Annotated[str, Field(pattern=r"^[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*$")],
        revision: Annotated[str, Field(min_length=1)] = "main",
        file: Annotated[str, Field(min_length=1)] = "data.csv",
        columns: dict[str, str] | None = None,
        ids: Literal["column", "text"] = "column",
        separator: Annotated[str, Field(min_length=1, max_length=3)] = "|",
        group_names: dict[str, str | None] | None = None,
        select: list[str] | None = None,
        limit: Annotated[int, Field(ge=1)] | None = None,
        duplicates: Literal["error", "first"] = "error",
        max_characters: Annotated[int, Field(ge=1)] = 4000,
        gold: str | None = None,
    ) -> None:
        self.repo = repo
        self.revision = revision
        self.file = file
        self.group_names: Mapping[str, str | None] = group_names or {}
        self.gold = None if gold is None else located(gold)
        self._reader: dict[str, Any] = {
            "columns": columns,
            "ids": ids,
            "separator": separator,
            "select": select,
            "limit": limit,
            "duplicates": duplicates,
            "max_characters": max_characters,
        }

    def load(self) -> tuple[Question, ...]:
        """Return the questions in the order of the file, or of ``select``.

        Raises:
            InputError: there is no such dataset or file; or every problem of the file, and how to name its columns.
            HubUnavailableError: the Hub doesn't answer.
        """
        path = self._fetch()
        try:
            found = QuestionFile(path=str(path), **self._reader).load()
        except InputError as error:
            fields = ", ".join(COLUMNS)
            raise InputError(
                f"{self.repo} at {self.revision}:\n{error}\n\n"
                f"Say which column is what: 'questions.columns={{text: COLUMN, groups: COLUMN}}'; fields are {fields}. "
                "A file without ids: questions.ids=text"
            ) from error
        return tuple(replace(question, groups=self._groups(question)) for question in found)

    def _groups(self, question: Question) -> tuple[str, ...]:
        named = [self.group_names.get(name, name) for name in question.groups]
        return () if None in named else tuple(dict.fromkeys(name for name in named if name is not None))

    def _fetch(self) -> Path:
        from transplantqa.hub.dataset import HubDataset  # noqa: PLC0415 - heavy

        dataset = HubDataset(self.repo)
        commit = dataset.resolve(self.revision)
        files = dataset.files(commit)
        if self.file not in files:
            listed = ", ".join(sorted(files)[:20]) or "none"
            raise InputError(
                f"{self.repo} at {self.revision}: has no file {self.file}.\n"
                f"Name one with questions.file=...; there are: {listed}."
            )
        return dataset.download(self.file, commit)
