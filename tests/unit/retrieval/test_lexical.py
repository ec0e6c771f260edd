from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import bm25s
import numpy as np
import pytest

from transplantqa.retrieval import SourceDocument
from transplantqa.retrieval.counts import TermCounts, document_counts
from transplantqa.retrieval.fusion import ABSENT
from transplantqa.retrieval.indexed import ChunkText, index_document
from transplantqa.retrieval.lexical import AskedTerms, LexicalIndex
from transplantqa.retrieval.terms import TermAnalyzer

PASSAGES = [["take", "2", "mg"], ["take", "5", "mg", "mg"], [], ["rest"]]


@pytest.fixture
def index() -> LexicalIndex:
    return LexicalIndex(TermCounts.of(PASSAGES), k1=1.5, b=0.75)


def test_scores_are_those_of_bm25s(index: LexicalIndex) -> None:
    reference = bm25s.BM25(k1=1.5, b=0.75, method="lucene")
    reference.index(PASSAGES, show_progress=False)
    scores = index.match(AskedTerms([["mg", "rest", "mg"]])).scores[0]
    assert np.where(scores == ABSENT, 0, scores) == pytest.approx(reference.get_scores(["mg", "rest", "mg"]))


def test_a_passage_that_shares_no_term_is_absent(index: LexicalIndex) -> None:
    assert (index.match(AskedTerms([["2"]])).scores[0] == ABSENT).tolist() == [False, True, True, True]


def test_a_question_without_terms_proposes_nothing(index: LexicalIndex) -> None:
    assert (index.match(AskedTerms([[], ["mg"]])).scores[0] == ABSENT).all()


def test_a_question_without_terms_covers_nothing(index: LexicalIndex) -> None:
    assert index.match(AskedTerms([[]])).document_coverage.tolist() == [0.0]


def test_a_document_without_terms_is_searched_without_error() -> None:
    assert (LexicalIndex(TermCounts.of([[], []]), 1.5, 0.75).match(AskedTerms([["mg"]])).scores == ABSENT).all()


def test_coverage_weighs_terms_by_idf(index: LexicalIndex) -> None:
    def idf(frequency: int) -> float:
        return float(np.log1p((4 - frequency + 0.5) / (frequency + 0.5)))

    match = index.match(AskedTerms([["mg", "5", "ferry"]]))
    total = idf(2) + idf(1) + idf(0)
    assert match.coverage[0] == pytest.approx([idf(2) / total, (idf(2) + idf(1)) / total, 0, 0])
    assert match.document_coverage[0] == pytest.approx((idf(2) + idf(1)) / total)


def test_a_question_scores_the_same_alone_and_among_others(index: LexicalIndex) -> None:
    alone = index.match(AskedTerms([["take", "5"]])).scores[0]
    among = index.match(AskedTerms([["rest", "mg", "2", "take"], ["take", "5"], []])).scores[1]
    assert np.array_equal(alone, among)


def counts_by_hand(texts: list[str]) -> list[Counter[str]]:
    analyzer = TermAnalyzer("english")
    return [Counter(analyzer.terms(text)) for text in texts]


def as_counters(counts: TermCounts) -> list[Counter[str]]:
    names = {column: term for term, column in counts.columns.items()}
    rows = counts.matrix.toarray()
    return [Counter({names[at]: int(row[at]) for at in np.flatnonzero(row)}) for row in rows]


@pytest.mark.parametrize("chunk_text", ["plain", "headed"])
def test_shared_counts_are_those_of_each_text_analysed_alone(
    guide: SourceDocument, make_source: Callable[..., SourceDocument], chunk_text: ChunkText
) -> None:
    split = make_source([("Do\u0301ses", ["Take 2.5mg of tacro", "limus, 1,000 mg."])])
    (section,) = split.sections
    torn = replace(section, text=section.text.replace("\n", ""))  # a word that goes over two chunks
    first, second = split.chunks
    moved = replace(second, char_start=second.char_start - 1, char_end=second.char_end - 1)
    for source in (guide, SourceDocument(split.document, (torn,), (first, moved))):
        document = index_document(source, chunk_text)
        chunks, sections = document_counts(document, TermAnalyzer("english"))
        bodies = [f"{section.heading}\n{section.text}" for section in document.searchable_sections()]
        assert as_counters(chunks) == counts_by_hand(document.texts)
        assert as_counters(sections) == counts_by_hand(bodies)
