"""Answers and relations of a bounded choice of questions, as the compact data that the page's script shows."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from transplantqa.report.page.stances import CONFLICT, stances
from transplantqa.report.relations import FAILED_MARK, RELATION_MARKS
from transplantqa.report.text import plain
from transplantqa.store.run_folder import RunFolder

Row = dict[str, Any]
ANSWER_COLUMNS = ["question_id", "document_id", "variant", "outcome", "text", "citations", "error"]
EVIDENCE_COLUMNS = ["question_id", "document_id", "passages"]


@dataclass(frozen=True)
class Bounds:
    """How much detail a page carries; all are ours, so that a page of any run opens on a phone."""

    questions: int = 200
    bytes: int = 8 * 2**20
    answer_characters: int = 4_000
    reasons: int = 60


@dataclass(frozen=True)
class Detail:
    """The chosen questions' detail, and how many were left out."""

    questions: tuple[Row, ...]
    left_out: int


def detail(run: RunFolder, ranked: Sequence[str], place: Mapping[str, int], bounds: Bounds) -> Detail:
    """Return the detail of as many of the first questions as the bounds allow.

    Args:
        run: the run.
        ranked: every question's id, the most telling first.
        place: document id to its number on the page.
        bounds: how much.
    """
    chosen = list(ranked[: bounds.questions])
    answers = _by_question(run, "answers", chosen, ANSWER_COLUMNS)
    comparisons = _by_question(run, "comparisons", chosen, None)
    read = _evidence(run, chosen)
    found: list[Row] = []
    size = 0
    for question in chosen:
        one = _question(question, answers.get(question, []), comparisons.get(question, []), place, bounds)
        for answer in one["answers"]:
            answer["e"] = read.get((question, answer.pop("id")), [])
        size += len(json.dumps(one, ensure_ascii=False).encode("utf-8", "replace"))
        if size > bounds.bytes and found:
            break
        found.append(one)
    return Detail(tuple(found), len(ranked) - len(found))


def _by_question(
    run: RunFolder, table: str, chosen: Sequence[str], columns: Sequence[str] | None
) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    wanted = pa.array(chosen, pa.string())
    for batch in run.batches(table, columns=columns):
        for row in batch.filter(pc.is_in(batch["question_id"], value_set=wanted)).to_pylist():
            found.setdefault(row["question_id"], []).append(row)
    return found


def _evidence(run: RunFolder, chosen: Sequence[str]) -> dict[tuple[str, str], list[list[str]]]:
    """Return (question, document) to the sections read, each with its pages; their text stays in the run's tables."""
    if not run.has_table("evidence") or not run.has_table("sections"):
        return {}
    table = run.table("sections", ["section_id", "heading", "heading_path"]).to_pylist()
    heading = {row["section_id"]: " > ".join(row["heading_path"] or [row["heading"]]) for row in table}
    found = {}
    for rows in _by_question(run, "evidence", chosen, EVIDENCE_COLUMNS).values():
        for row in rows:
            shown = {
                (plain(heading.get(passage["section_id"], passage["section_id"])), _pages(passage)): None
                for passage in row["passages"]
            }
            found[row["question_id"], row["document_id"]] = [list(entry) for entry in shown]
    return found


def _pages(passage: Row) -> str:
    first, last = passage["page_start"], passage["page_end"]
    return f"p. {first}" if first == last else f"p. {first}-{last}"


def _question(
    question: str, answers: Sequence[Row], comparisons: Sequence[Row], place: Mapping[str, int], bounds: Bounds
) -> Row:
    shown = sorted(
        (row for row in answers if row["document_id"] in place),
        key=lambda row: (place[row["document_id"]], row["variant"]),
    )
    documents = [row["document_id"] for row in shown if row["variant"] == "default"]
    labels = {(row["document_a"], row["document_b"]): row["label"] for row in comparisons}
    answered = [row["document_id"] for row in shown if row["variant"] == "default" and row["outcome"] == "ok"]
    return {
        "q": question,
        "answers": [_answer(row, place, bounds) for row in shown],
        "documents": [place[name] for name in documents],
        "marks": _marks(documents, {key: (label or FAILED_MARK) for key, label in labels.items()}),
        "stances": [[place[name] for name in stance] for stance in stances(answered, labels)],
        **_reasons(comparisons, place, bounds),
    }


def _answer(row: Row, place: Mapping[str, int], bounds: Bounds) -> Row:
    text = plain(row["text"] or row["error"] or "").strip()
    cut = len(text) > bounds.answer_characters
    return {
        "id": row["document_id"],
        "d": place[row["document_id"]],
        "v": row["variant"],
        "o": row["outcome"],
        "t": text[: bounds.answer_characters] + ("…" if cut else ""),
        "c": [[plain(found["heading"]), found["page"], found["valid"]] for found in row["citations"]],
    }


def _marks(documents: Sequence[str], labels: Mapping[tuple[str, str], str]) -> str:
    """Return a mark a pair, row by row above the diagonal; a space where a pair wasn't compared."""
    marks = []
    for number, left in enumerate(documents):
        for right in documents[number + 1 :]:
            label = labels.get((min(left, right), max(left, right)))
            marks.append(" " if label is None else RELATION_MARKS.get(label, FAILED_MARK))
    return "".join(marks)


def _reasons(comparisons: Sequence[Row], place: Mapping[str, int], bounds: Bounds) -> Row:
    """Return the judged pairs, conflicts first, and how many were left out."""
    order = list(RELATION_MARKS)
    judged = [row for row in comparisons if row["decided_by"] == "judge" and row["document_a"] in place]
    judged.sort(
        key=lambda row: (
            row["label"] not in CONFLICT,
            -order.index(row["label"]) if row["label"] in order else 0,
            row["document_a"],
            row["document_b"],
        )
    )
    kept = [
        {
            "a": place[row["document_a"]],
            "b": place[row["document_b"]],
            "l": row["label"] or row["outcome"],
            "s": row["significance"],
            "topic": plain(row["divergence_topic"] or ""),
            "r": plain(row["reasoning"] or "").strip()[: bounds.answer_characters],
            "turns": row["consistent"] is False,
        }
        for row in judged[: bounds.reasons]
        if row["document_b"] in place
    ]
    return {"reasons": kept, "reasons_left_out": max(0, len(judged) - bounds.reasons)}
