"""The samples as the tests see them: read with the standard library alone, so that only gold.py is under test."""

import csv
import re
import unicodedata
from pathlib import Path

import pypdfium2 as pdfium
import pytest

from transplantqa.corpus.gold import Gold, load_gold
from transplantqa.records import Document, Question
from transplantqa.samples import tenancy, transplant

SAMPLES = {sample.__name__.rsplit(".", 1)[-1]: Path(str(sample.__file__)).parent for sample in (transplant, tenancy)}


def squeeze(text: str) -> str:
    """Keep letters and digits alone, NFKC and case folded: what layout can't change."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text).casefold())


def read_rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def values(cell: str) -> tuple[str, ...]:
    return tuple(value for value in cell.split("|") if value)


@pytest.fixture(scope="module", params=list(SAMPLES.values()), ids=list(SAMPLES))
def folder(request: pytest.FixtureRequest) -> Path:
    """Return the folder of each sample in turn; a test module of one sample overrides it."""
    path: Path = request.param
    return path


@pytest.fixture(scope="module")
def documents(folder: Path) -> list[Document]:
    return [
        Document(
            document_id=row["document_id"],
            institution=row["institution"],
            group=row["group"],
            phase=row["phase"] or None,
            title=row["title"],
            year=int(row["year"]),
            source_file=row["path"],
            sha256="",
            pages=0,
            characters=0,
            tokens=0,
            licence=row["licence"],
            redistributable=row["redistributable"] == "true",
            verdict="accept",
        )
        for row in read_rows(folder / "manifest.csv")
    ]


@pytest.fixture(scope="module")
def questions(folder: Path) -> list[Question]:
    return [
        Question(
            row["id"],
            row["text"],
            values(row["groups"]),
            values(row["topics"]),
            values(row["subtopics"]),
            row["source"],
        )
        for row in read_rows(folder / "questions.csv")
    ]


@pytest.fixture(scope="module")
def gold(folder: Path, questions: list[Question], documents: list[Document]) -> Gold:
    return load_gold(folder / "gold.yaml", questions, documents)


@pytest.fixture(scope="module")
def sources(folder: Path, documents: list[Document]) -> dict[str, str]:
    return {d.document_id: (folder / "source" / f"{d.document_id}.md").read_text("utf-8") for d in documents}


@pytest.fixture(scope="module")
def pdf_pages(folder: Path, documents: list[Document]) -> dict[str, list[str]]:
    pages = {}
    for document in documents:
        with pdfium.PdfDocument(folder / document.source_file) as pdf:
            pages[document.document_id] = [page.get_textpage().get_text_range() for page in pdf]
    return pages


@pytest.fixture(scope="module")
def squeezed_sources(sources: dict[str, str]) -> dict[str, str]:
    return {document_id: squeeze(text) for document_id, text in sources.items()}


@pytest.fixture(scope="module")
def squeezed_pdfs(pdf_pages: dict[str, list[str]]) -> dict[str, str]:
    return {document_id: squeeze("\n".join(pages)) for document_id, pages in pdf_pages.items()}


@pytest.fixture(scope="module")
def squeezed_quotes(gold: Gold) -> list[tuple[str, str]]:
    return [(cell.document_id, squeeze(quote)) for cell in gold.evidence for quote in cell.quotes]
