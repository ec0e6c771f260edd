"""Cells that are decided before a generator sees them: the retriever found silence, or failed."""

from transplantqa.generation.protocols import Cell
from transplantqa.records import Answer, Outcome


def without_call(cell: Cell, abstention: str) -> Answer | None:
    """Return the answer of a cell whose evidence is empty or failed, or none when the generator must answer it.

    Evidence that is ``ok`` without passages is a control's: the generator is asked with nothing to read.
    """
    question_id, document_id = cell.question.question_id, cell.document_id
    if cell.evidence.outcome is Outcome.OK:
        return None
    if cell.evidence.outcome is Outcome.EMPTY_RETRIEVAL:
        return Answer(question_id, document_id, Outcome.EMPTY_RETRIEVAL, text=abstention)
    reason = cell.evidence.error or "the retriever failed"
    return Answer(question_id, document_id, Outcome.ENGINE_ERROR, text="", error=reason)
