import bm25s
import numpy as np
import pytest

from transplantqa.retrieval.fusion import ABSENT
from transplantqa.retrieval.lexical import AskedTerms, LexicalIndex

PASSAGES = [["take", "2", "mg"], ["take", "5", "mg", "mg"], [], ["rest"]]


@pytest.fixture
def index() -> LexicalIndex:
    return LexicalIndex(PASSAGES, k1=1.5, b=0.75)


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
    assert (LexicalIndex([[], []], 1.5, 0.75).match(AskedTerms([["mg"]])).scores == ABSENT).all()


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
