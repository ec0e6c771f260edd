"""Answers and relations of a bounded choice of questions, as the compact data that the page's script shows."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from transplantqa.report.page.stances import CONFLICT, stances
from transplantqa.report.relations import FAILED_MARK, RELATION_MARKS
from transplantqa.report.text import plain, shortened
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
    quotes: int = 2
    quote_characters: int = 320


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
    read = _evidence(run, chosen, bounds)
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


def _evidence(run: RunFolder, chosen: Sequence[str], bounds: Bounds) -> dict[tuple[str, str], list[list[str]]]:
    """Return (question, document) to the passages read, best first: section, pages, and a quote where it may be given.

    Text is quoted of documents marked redistributable alone; of the others it stays in the run's tables.
    """
    if not run.has_table("evidence") or not run.has_table("sections"):
        return {}
    rows = run.table("documents", ["document_id", "redistributable"]).to_pylist()
    open_to_all = {row["document_id"] for row in rows if row["redistributable"]}
    columns = ["section_id", "document_id", "heading", "heading_path", "text"]
    sections = {row["section_id"]: row for row in run.table("sections", columns).to_pylist()}
    found = {}
    for rows in _by_question(run, "evidence", chosen, EVIDENCE_COLUMNS).values():
        for row in rows:
            quotes = bounds.quotes if row["document_id"] in open_to_all else 0
            shown: dict[tuple[str, str], str] = {}
            for place, passage in enumerate(sorted(row["passages"], key=lambda passage: passage["rank"])):
                section = sections.get(passage["section_id"])
                quote = _quote(section, passage, bounds.quote_characters) if place < quotes else ""
                shown.setdefault((_heading(section, passage), _pages(passage)), quote)
            found[row["question_id"], row["document_id"]] = [[*where, quote] for where, quote in shown.items()]
    return found


def _heading(section: Row | None, passage: Row) -> str:
    named = passage["section_id"] if section is None else " > ".join(section["heading_path"] or [section["heading"]])
    return plain(named)


def _quote(section: Row | None, passage: Row, characters: int) -> str:
    text = "" if section is None else section["text"][passage["char_start"] : passage["char_end"]]
    return shortened(text, characters)


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
    judged = [
        row
        for row in comparisons
        if row["decided_by"] == "judge" and row["document_a"] in place and row["document_b"] in place
    ]
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
    ]
    return {"reasons": kept, "reasons_left_out": max(0, len(judged) - bounds.reasons)}
