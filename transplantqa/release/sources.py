"""What the configs ``questions`` and ``documents`` are made from: the runs' own tables, which must not contradict."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from transplantqa.errors import InputError
from transplantqa.release.names import DocumentNames
from transplantqa.store.hashing import digest
from transplantqa.store.run_folder import RunFolder

Row = dict[str, Any]

_SHOWN = 10
_ABOUT_A_DOCUMENT = ("sha256", "institution", "group", "phase", "licence", "redistributable", "verdict", "characters")


@dataclass(frozen=True)
class Sources:
    """Questions, documents and the sections of documents that may be redistributed, over all runs of a release."""

    questions: Sequence[Row]
    documents: Sequence[Row]
    sections: Mapping[str, Sequence[Row]]

    def texts(self) -> dict[str, str]:
        """Return section id to text, for redistributable documents alone."""
        return {row["section_id"]: row["text"] for rows in self.sections.values() for row in rows}

    def withheld(self) -> int:
        """Return how many documents are listed without their text: not to be passed on, or unreadable."""
        return len(self.documents) - len(self.sections)


def gather(runs: Iterable[RunFolder]) -> Sources:
    """Read and unite what the runs asked, and of which documents.

    Raises:
        InputError: naming every question or document that differs between runs.
    """
    questions: dict[str, Row] = {}
    documents: dict[str, Row] = {}
    sections: dict[str, list[Row]] = {}
    problems: list[str] = []
    for run in runs:
        problems += _unite(questions, run.rows("questions"), "question_id", None)
        own = run.rows("documents")
        problems += _unite(documents, own, "document_id", _ABOUT_A_DOCUMENT)
        open_ids = {row["document_id"] for row in own if row["redistributable"]}
        problems += _unite_sections(sections, _sections(run, open_ids))
    if problems:
        more = [f"and {len(problems) - _SHOWN} more"] if len(problems) > _SHOWN else []
        raise InputError(
            "These runs can't be released together:\n"
            + "\n".join([*sorted(set(problems))[:_SHOWN], *more])
            + "\nRun both systems on the same documents and questions, or release them apart."
        )
    return Sources(
        questions=[questions[key] for key in sorted(questions)],
        documents=[documents[key] for key in sorted(documents)],
        sections={key: sections[key] for key in sorted(sections)},
    )


def source_texts(runs: Iterable[RunFolder], names: DocumentNames) -> dict[str, str]:
    """Return published document id to the whole text that was read, also of documents whose text isn't published."""
    texts: dict[str, dict[str, str]] = {}
    for run in runs:
        for batch in run.batches("sections", columns=["section_id", "document_id", "text"]):
            for section_id, document_id, text in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                texts.setdefault(names.document(document_id), {})[section_id] = text
    return {document: "\n".join(sections.values()) for document, sections in texts.items()}


def _unite(known: dict[str, Row], rows: Iterable[Row], key: str, compared: Sequence[str] | None) -> list[str]:
    problems = []
    for row in rows:
        earlier = known.setdefault(row[key], row)
        fields = compared or tuple(row)
        if any(earlier.get(name) != row.get(name) for name in fields):
            problems.append(f"{key.removesuffix('_id')} {row[key]!r} differs between them")
    return problems


def _sections(run: RunFolder, document_ids: set[str]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    if not document_ids:
        return found
    for batch in run.batches("sections"):
        for row in batch.to_pylist():
            if row["document_id"] in document_ids:
                found.setdefault(row["document_id"], []).append(row)
    return {key: sorted(rows, key=lambda row: (row["order"], row["section_id"])) for key, rows in found.items()}


def _unite_sections(known: dict[str, list[Row]], sections: Mapping[str, list[Row]]) -> list[str]:
    problems = []
    for document_id, rows in sections.items():
        earlier = known.setdefault(document_id, rows)
        if earlier is not rows and _text_digest(earlier) != _text_digest(rows):
            problems.append(f"document {document_id!r} was cut into other sections")
    return problems


def _text_digest(rows: Sequence[Row]) -> str:
    return digest([[row["section_id"], row["text"]] for row in rows])
