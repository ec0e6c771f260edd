"""One question of a run: what each document's answer says and how the answers relate; or how one came about."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from transplantqa.cli import plain_arguments
from transplantqa.errors import EXIT_OK, ConfigError, InputError
from transplantqa.report.audit import audit, usage
from transplantqa.report.relations import relations
from transplantqa.report.text import plain
from transplantqa.store.run_folder import RunFolder, newest_run, open_run

Row = Mapping[str, Any]

USAGE = "transplantqa show question=ID [document=ID] [run=RUN] [artifacts=DIR]"


def show(run: RunFolder, question_id: str, document_id: str | None = None) -> RenderableType:
    """Return one question as something rich can print; with a document, the audit of that answer's evidence.

    Raises:
        InputError: if the run has no such question, or didn't ask it of that document.
    """
    question = _one(run, "questions", question_id)
    if question is None:
        raise InputError(f"{run.path}: has no question {question_id!r}.\n{_some(run)}")
    answers = _of_question(run, "answers", question_id)
    if document_id is not None:
        return _show_document(run, question, answers, document_id)
    comparisons = _of_question(run, "comparisons", question_id)
    return Group(_heading(run, question), _answers(run, answers), *relations(_ordered(answers), comparisons))


def main(arguments: Sequence[str]) -> int:
    """Print what ``show`` returns for ``question=ID [document=ID] [run=RUN] [artifacts=DIR]``; return the exit code.

    Without ``run`` the newest run is meant.

    Raises:
        ConfigError: for arguments that aren't these.
        InputError: if there is no such run, question or document.
    """
    given = plain_arguments(arguments, ("question", "document", "run", "artifacts"), USAGE)
    if "question" not in given:
        raise ConfigError(f"question: needs a value.\nUsage: {USAGE}")
    artifacts = Path(given.get("artifacts", "artifacts"))
    run = open_run(artifacts, given["run"]) if "run" in given else newest_run(artifacts)
    Console().print(show(run, given["question"], given.get("document")))
    return EXIT_OK


def _one(run: RunFolder, table: str, question_id: str) -> Row | None:
    rows = _of_question(run, table, question_id)
    return rows[0] if rows else None


def _of_question(run: RunFolder, table: str, question_id: str) -> list[Row]:
    found: list[Row] = []
    for batch in run.batches(table):
        found += batch.filter(pc.equal(batch["question_id"], question_id)).to_pylist()
    return found


def _some(run: RunFolder) -> str:
    ids = run.table("questions", ["question_id"])["question_id"].to_pylist()
    return f"It has {len(ids)}, for example {', '.join(map(repr, ids[:5]))}." if ids else "It has none at all."


def _heading(run: RunFolder, question: Row) -> RenderableType:
    groups = ", ".join(question["groups"]) or "general"
    topics = ", ".join([*question["topics"], *question["subtopics"]])
    facts = f"{question['question_id']}  {groups}  {topics}  system {run.system}"
    return Group(Text(plain(question["text"]), style="bold"), Text(plain(facts)), Text())


def _answers(run: RunFolder, answers: Sequence[Row]) -> RenderableType:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_lines=True)
    for column in ("", "document", "outcome", "answer", "cited"):
        table.add_column(column, overflow="fold")
    institutions = _institutions(run)
    for number, answer in enumerate(_ordered(answers), start=1):
        document = answer["document_id"]
        named = f"{document}\n{institutions.get(document, '')}"
        variant = "" if answer["variant"] == "default" else f" ({answer['variant']})"
        table.add_row(
            str(number),
            Text(plain(named)),
            Text(plain(answer["outcome"] + variant)),
            Text(plain(answer["text"] or answer["error"] or "").strip()),
            Text("\n".join(map(_citation, answer["citations"]))),
        )
    return table


def _citation(citation: Row) -> str:
    page = f", p. {citation['page']}" if citation["page"] is not None else ""
    unknown = "" if citation["valid"] else " (not in the evidence)"
    return f"{plain(citation['heading'])}{page}{unknown}"


def _institutions(run: RunFolder) -> dict[str, str]:
    rows = run.table("documents", ["document_id", "institution"]).to_pylist()
    return {row["document_id"]: row["institution"] for row in rows}


def _ordered(answers: Sequence[Row]) -> list[Row]:
    return sorted(answers, key=lambda answer: (answer["document_id"], answer["variant"]))


def _show_document(run: RunFolder, question: Row, answers: Sequence[Row], document_id: str) -> RenderableType:
    chosen = [answer for answer in _ordered(answers) if answer["document_id"] == document_id]
    evidence = [
        row for row in _of_question(run, "evidence", question["question_id"]) if row["document_id"] == document_id
    ]
    if not chosen and not evidence:
        asked = ", ".join(sorted({answer["document_id"] for answer in answers})) or "no document"
        raise InputError(
            f"{run.path}: question {question['question_id']!r} was not asked of document {document_id!r}.\n"
            f"It was asked of {asked}."
        )
    parts: list[RenderableType] = [_heading(run, question), _answers(run, chosen)]
    parts += [usage(answer) for answer in chosen]
    for row in evidence:
        parts += audit(run, row)
    return Group(*parts)
