"""Which question is asked of which document."""

from collections.abc import Collection, Iterable, Sequence

from transplantqa.corpus.tabular import nearest
from transplantqa.errors import InputError
from transplantqa.records import Document, Question


def plan(
    questions: Sequence[Question], documents: Iterable[Document], known_groups: Collection[str] = ()
) -> list[tuple[str, str]]:
    """Return the (question id, document id) cells: general questions with every document, others with their groups'.

    Rejected documents are asked nothing. Cells are in order of document, then question id, so that neighbours share the
    longest prompt prefix and the order depends on nothing but the ids.

    Args:
        questions: no groups means general.
        documents: of any verdict; a group counts as known even if all its documents are rejected.
        known_groups: groups of the whole corpus, where ``documents`` is only a slice of it: a question of one of these
            is left without cells instead of being a mistake.

    Raises:
        InputError: a question names a group that no document has.
    """
    ordered = sorted(documents, key=lambda document: document.document_id)
    known = {document.group for document in ordered} | set(known_groups)
    _check_groups(questions, known)
    by_id = sorted(questions, key=lambda question: question.question_id)
    cells: list[tuple[str, str]] = []
    asked: dict[str, list[str]] = {}
    for document in ordered:
        if document.verdict == "reject":
            continue
        if document.group not in asked:
            asked[document.group] = [q.question_id for q in by_id if not q.groups or document.group in q.groups]
        cells.extend((question_id, document.document_id) for question_id in asked[document.group])
    return cells


def _check_groups(questions: Sequence[Question], known: Collection[str]) -> None:
    unknown: dict[str, list[str]] = {}
    for question in questions:
        for group in question.groups:
            if group not in known:
                unknown.setdefault(group, []).append(question.question_id)
    if not unknown:
        return
    groups = ", ".join(sorted(known)) or "none"
    messages = []
    for group in sorted(unknown):
        ids = sorted(unknown[group])
        shown = ", ".join(ids[:5]) + (f" and {len(ids) - 5} more" if len(ids) > 5 else "")
        messages.append(
            f'questions: no document has group "{group}", which {shown} {"asks" if len(ids) == 1 else "ask"} for.'
            f"{nearest(group, known)}\n"
            f"Groups of the documents: {groups}. Correct the group, or leave it empty for a general question."
        )
    raise InputError("\n\n".join(messages))
