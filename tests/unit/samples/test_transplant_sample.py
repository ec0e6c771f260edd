from collections import Counter
from pathlib import Path

import pypdfium2 as pdfium
import pytest

from transplantqa.corpus.gold import Gold, load_gold
from transplantqa.records import Document, Label, Question
from transplantqa.samples import transplant


@pytest.fixture(scope="module")
def folder() -> Path:
    return Path(transplant.__file__).parent


def test_there_are_at_least_eight_handbooks_of_five_institutions_in_three_groups_and_phases(
    documents: list[Document],
) -> None:
    assert len(documents) >= 8
    assert len({d.institution for d in documents}) == 5
    assert len({d.group for d in documents}) == 3
    assert len({d.phase for d in documents}) == 3


def test_every_group_has_three_documents_or_more(documents: list[Document]) -> None:
    assert min(Counter(d.group for d in documents).values()) >= 3


def test_one_group_has_two_documents_of_the_same_institution(documents: list[Document]) -> None:
    assert max(Counter((d.institution, d.group) for d in documents).values()) == 2


def test_every_handbook_has_three_to_twelve_pages(pdf_pages: dict[str, list[str]]) -> None:
    assert {document_id: len(pages) for document_id, pages in pdf_pages.items() if not 3 <= len(pages) <= 12} == {}


def test_there_are_short_and_long_handbooks(sources: dict[str, str]) -> None:
    lengths = sorted(map(len, sources.values()))
    assert lengths[0] < 6_000
    assert lengths[-1] > 12_000


def test_one_handbook_has_an_outline_and_the_others_typography_alone(folder: Path, documents: list[Document]) -> None:
    entries = {}
    for document in documents:
        with pdfium.PdfDocument(folder / document.source_file) as pdf:
            entries[document.document_id] = len(list(pdf.get_toc()))
    assert {document_id for document_id, count in entries.items() if count} == {"kidney_center_a_combined"}


def test_about_half_of_the_cells_are_silent(gold: Gold) -> None:
    silent = sum(cell.silent for cell in gold.evidence)
    assert 0.45 <= silent / len(gold.evidence) <= 0.60


def test_every_label_is_planted_at_least_twenty_times(gold: Gold) -> None:
    counts = Counter(pair.label for pair in gold.pairs)
    assert min(counts[label] for label in Label) >= 20


def test_there_are_general_and_group_questions_over_thirteen_topics(questions: list[Question]) -> None:
    assert len(questions) >= 28
    assert sum(not q.groups for q in questions) >= 16
    assert min(Counter(g for q in questions for g in q.groups).values()) >= 4
    assert len({topic for q in questions for topic in q.topics}) == 13
    assert all(q.topics and q.subtopics and q.source for q in questions)


def test_questions_are_about_as_long_as_patients_write_them(questions: list[Question]) -> None:
    words = [len(q.text.split()) for q in questions]
    assert 18 <= sum(words) / len(words) <= 26


def test_a_slice_of_the_sample_has_the_gold_of_the_whole(
    folder: Path, gold: Gold, questions: list[Question], documents: list[Document]
) -> None:
    kept = {d.document_id for d in documents if d.group == "kidney"}
    part = load_gold(folder / "gold.yaml", questions[:6], [d for d in documents if d.document_id in kept])
    asked = {q.question_id for q in questions[:6]}
    assert set(part.pairs) == {p for p in gold.pairs if p.question_id in asked and {p.document_a, p.document_b} <= kept}
