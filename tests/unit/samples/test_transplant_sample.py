import csv
import re
from collections import Counter, defaultdict
from itertools import combinations
from pathlib import Path

import pypdfium2 as pdfium
import pytest

from transplantqa.corpus.gold import Gold, load_gold
from transplantqa.records import CONFLICT_LABELS, Document, Label, Question
from transplantqa.samples.transplant.build import FOLDER, build, titles


def manifest_ids() -> list[str]:
    return sorted(titles())


@pytest.mark.parametrize("document_id", manifest_ids())
def test_the_committed_pdf_is_what_the_script_makes(document_id: str) -> None:
    committed = (FOLDER / "pdf" / f"{document_id}.pdf").read_bytes()
    assert build(document_id, titles()[document_id]) == committed


def test_there_is_no_pdf_or_source_without_a_manifest_row() -> None:
    stems = {path.stem for folder in ("pdf", "source") for path in (FOLDER / folder).iterdir()}
    assert sorted(stems) == manifest_ids()


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


def test_every_page_prints_its_number(pdf_pages: dict[str, list[str]]) -> None:
    unnumbered = [
        (document_id, number)
        for document_id, pages in pdf_pages.items()
        for number, text in enumerate(pages, start=1)
        if not re.search(rf"\b{number}\b", text)
    ]
    assert unnumbered == []


def test_handbooks_have_headings_of_two_levels(sources: dict[str, str]) -> None:
    for text in sources.values():
        assert text.count("\n## ") >= 3
        assert text.count("\n### ") >= 6


def test_one_handbook_has_an_outline_and_the_others_typography_alone(documents: list[Document]) -> None:
    entries = {}
    for document in documents:
        with pdfium.PdfDocument(FOLDER / document.source_file) as pdf:
            entries[document.document_id] = len(list(pdf.get_toc()))
    assert {document_id for document_id, count in entries.items() if count} == {"kidney_center_a_combined"}


def test_different_institutions_share_no_run_of_twelve_words(
    documents: list[Document], sources: dict[str, str]
) -> None:
    writers: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for document in documents:
        words = re.findall(r"[a-z0-9']+", sources[document.document_id].lower())
        for start in range(len(words) - 11):
            writers[tuple(words[start : start + 12])].add(document.institution)
    assert [" ".join(run) for run, names in writers.items() if len(names) > 1] == []


def test_every_quote_stands_in_its_source(
    squeezed_quotes: list[tuple[str, str]], squeezed_sources: dict[str, str]
) -> None:
    assert [(d, quote) for d, quote in squeezed_quotes if quote not in squeezed_sources[d]] == []


def test_every_quote_can_be_read_from_its_pdf(
    squeezed_quotes: list[tuple[str, str]], squeezed_pdfs: dict[str, str]
) -> None:
    assert [(d, quote) for d, quote in squeezed_quotes if quote not in squeezed_pdfs[d]] == []


def test_quotes_are_one_to_three_a_cell_and_of_quotable_length(gold: Gold) -> None:
    answered = [cell for cell in gold.evidence if not cell.silent]
    assert {len(cell.quotes) for cell in answered} <= {1, 2, 3}
    assert [quote for cell in answered for quote in cell.quotes if not 28 <= len(quote) <= 250] == []


def test_gold_has_a_row_for_every_applicable_cell(
    gold: Gold, questions: list[Question], documents: list[Document]
) -> None:
    applicable = [
        (q.question_id, d.document_id) for q in questions for d in documents if not q.groups or d.group in q.groups
    ]
    assert sorted((cell.question_id, cell.document_id) for cell in gold.evidence) == sorted(applicable)


def test_gold_has_a_row_for_every_applicable_pair(
    gold: Gold, questions: list[Question], documents: list[Document]
) -> None:
    expected = [
        (q.question_id, a, b)
        for q in questions
        for a, b in combinations(sorted(d.document_id for d in documents if not q.groups or d.group in q.groups), 2)
    ]
    assert sorted((p.question_id, p.document_a, p.document_b) for p in gold.pairs) == sorted(expected)


def test_about_half_of_the_cells_are_silent(gold: Gold) -> None:
    silent = sum(cell.silent for cell in gold.evidence)
    assert 0.45 <= silent / len(gold.evidence) <= 0.60


def test_every_question_is_answered_by_two_documents_or_more(gold: Gold) -> None:
    answered = Counter(cell.question_id for cell in gold.evidence if not cell.silent)
    assert min(answered.values()) >= 2


def test_every_label_is_planted_at_least_twenty_times(gold: Gold) -> None:
    counts = Counter(pair.label for pair in gold.pairs)
    assert min(counts[label] for label in Label) >= 20


def test_conflicts_and_only_conflicts_have_topic_and_significance(gold: Gold) -> None:
    for pair in gold.pairs:
        assert (pair.topic is not None) is (pair.label in CONFLICT_LABELS)
        assert (pair.significance is not None) is (pair.label in CONFLICT_LABELS)


def test_every_significance_is_planted(gold: Gold) -> None:
    assert {pair.significance for pair in gold.pairs} == {None, "low", "medium", "high"}


def test_there_are_general_and_group_questions_over_thirteen_topics(questions: list[Question]) -> None:
    assert len(questions) >= 28
    assert sum(not q.groups for q in questions) >= 16
    assert min(Counter(g for q in questions for g in q.groups).values()) >= 4
    assert len({topic for q in questions for topic in q.topics}) == 13
    assert all(q.topics and q.subtopics and q.source for q in questions)


def test_questions_are_about_as_long_as_patients_write_them(questions: list[Question]) -> None:
    words = [len(q.text.split()) for q in questions]
    assert 18 <= sum(words) / len(words) <= 26


def test_question_groups_are_groups_of_documents(questions: list[Question], documents: list[Document]) -> None:
    assert {g for q in questions for g in q.groups} <= {d.group for d in documents}


def test_a_slice_of_the_sample_has_the_gold_of_the_whole(
    gold: Gold, questions: list[Question], documents: list[Document]
) -> None:
    kept = {d.document_id for d in documents if d.group == "kidney"}
    part = load_gold(FOLDER / "gold.yaml", questions[:6], [d for d in documents if d.document_id in kept])
    asked = {q.question_id for q in questions[:6]}
    assert set(part.pairs) == {p for p in gold.pairs if p.question_id in asked and {p.document_a, p.document_b} <= kept}


@pytest.mark.parametrize("name", ["manifest.csv", "questions.csv"])
def test_tables_have_no_ragged_rows(name: str) -> None:
    path: Path = FOLDER / name
    with path.open(encoding="utf-8", newline="") as lines:
        assert len({len(row) for row in csv.reader(lines)}) == 1
