"""What annotators read: a question and two answers, without anything that tells whose they are or what a judge said."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from transplantqa.generation import citations
from transplantqa.report.text import plain
from transplantqa.sheets import sheet
from transplantqa.store.run_folder import RunFolder
from transplantqa.validation.blinding import masker

CSV_COLUMNS = ("sample", "item", "question", "answer_1", "answer_2", "label", "significance", "note")
NO_TEXT = "(no text)"


@dataclass(frozen=True, slots=True)
class Item:
    """One pair as annotators see it; ``item`` is an id that says nothing."""

    item: str
    question: str
    answer_1: str
    answer_2: str


def items_of(run: RunFolder, pairs: Sequence[Mapping[str, Any]], design: Mapping[str, Any]) -> list[Item]:
    """Return the items of sampled pairs, in their order.

    Args:
        run: where the texts are.
        pairs: rows with item, question_id, document_a, document_b and first (the answer shown first: a or b).
        design: of the sample. ``names`` hidden masks names of institutions and documents, ``citations`` hidden leaves
            citations of sections out; one that an older sample doesn't name is shown.
    """
    documents = run.table("documents", ["document_id", "institution", "title", "source_file"]).to_pylist()
    cover = masker(documents) if design.get("names") == "hidden" else str
    cited = citations.strip if design.get("citations") == "hidden" else str
    wanted = {(row["question_id"], row[side]) for row in pairs for side in ("document_a", "document_b")}
    answers = answer_texts(run, wanted)
    questions = {row["question_id"]: row["text"] for row in run.rows("questions")}
    found = []
    for row in pairs:
        sides = [cited(answers[row["question_id"], row[side]]) for side in ("document_a", "document_b")]
        first, second = sides if row["first"] == "a" else reversed(sides)
        texts = (plain(cover(text)).strip() or NO_TEXT for text in (questions[row["question_id"]], first, second))
        found.append(Item(row["item"], *texts))
    return found


def answer_texts(run: RunFolder, cells: set[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Return the text of each of these (question, document) cells that has an answer."""
    found: dict[tuple[str, str], str] = {}
    for batch in run.batches("answers", columns=["question_id", "document_id", "variant", "text"]):
        for row in batch.to_pylist():
            key = (row["question_id"], row["document_id"])
            if row["variant"] == "default" and key in cells:
                found[key] = row["text"]
    return found


def spreadsheet(items: Sequence[Item], sample_id: str) -> bytes:
    """Return items as CSV for a spreadsheet: UTF-8 with a mark, a line a pair, no cell that would be a formula."""
    return sheet(
        CSV_COLUMNS,
        [(sample_id, one.item, one.question, one.answer_1, one.answer_2, None, None, None) for one in items],
    )
