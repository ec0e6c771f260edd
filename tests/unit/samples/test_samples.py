"""What holds of every bundled sample."""

import csv
import re
from collections import Counter, defaultdict
from itertools import combinations
from pathlib import Path

import pytest

from transplantqa.corpus.gold import Gold
from transplantqa.records import CONFLICT_LABELS, Document, Question
from transplantqa.samples.build import build, titles


def test_the_committed_pdfs_are_what_the_script_makes(folder: Path) -> None:
    changed = [
        document_id
        for document_id, title in titles(folder).items()
        if build(folder, document_id, title) != (folder / "pdf" / f"{document_id}.pdf").read_bytes()
    ]
    assert changed == []


def test_there_is_no_pdf_or_source_without_a_manifest_row(folder: Path) -> None:
    stems = {path.stem for name in ("pdf", "source") for path in (folder / name).iterdir()}
    assert sorted(stems) == sorted(titles(folder))


def test_every_page_prints_its_number(pdf_pages: dict[str, list[str]]) -> None:
    unnumbered = [
        (document_id, number)
        for document_id, pages in pdf_pages.items()
        for number, text in enumerate(pages, start=1)
        if not re.search(rf"\b{number}\b", text)
    ]
    assert unnumbered == []


def test_documents_have_headings_of_two_levels(sources: dict[str, str]) -> None:
    for text in sources.values():
        assert text.count("\n## ") >= 3
        assert text.count("\n### ") >= 6


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


def test_every_question_is_answered_by_two_documents_or_more(gold: Gold) -> None:
    answered = Counter(cell.question_id for cell in gold.evidence if not cell.silent)
    assert min(answered.values()) >= 2


def test_conflicts_and_only_conflicts_have_topic_and_significance(gold: Gold) -> None:
    for pair in gold.pairs:
        assert (pair.topic is not None) is (pair.label in CONFLICT_LABELS)
        assert (pair.significance is not None) is (pair.label in CONFLICT_LABELS)


def test_every_significance_is_planted(gold: Gold) -> None:
    assert {pair.significance for pair in gold.pairs} == {None, "low", "medium", "high"}


def test_question_groups_are_groups_of_documents(questions: list[Question], documents: list[Document]) -> None:
    assert {g for q in questions for g in q.groups} <= {d.group for d in documents}


@pytest.mark.parametrize("name", ["manifest.csv", "questions.csv"])
def test_tables_have_no_ragged_rows(folder: Path, name: str) -> None:
    with (folder / name).open(encoding="utf-8", newline="") as lines:
        assert len({len(row) for row in csv.reader(lines)}) == 1
