import pytest
from sklearn.metrics import roc_auc_score

from transplantqa.records import Evidence, GoldEvidence, Outcome, Question
from transplantqa.retrieval import BM25, FullDocument, SourceDocument
from transplantqa.retrieval.evaluation import Measure, RetrievalCell, measure_retrieval, pair_with_gold, separation
from transplantqa.retrieval.protocols import Retriever
from transplantqa.retrieval.table import read_evidence

ASPIRIN = GoldEvidence("q", "doc", silent=False, stance="5", quotes=("Take aspirin 5 mg in the morning.",))
SILENT = GoldEvidence("q", "doc", silent=True)


def cells(retriever: Retriever, source: SourceDocument, gold: GoldEvidence, text: str) -> list[RetrievalCell]:
    evidence = read_evidence(retriever.retrieve([Question("q", text)], source))
    chunks = {chunk.chunk_id: chunk.section_id for chunk in source.chunks}
    return pair_with_gold(evidence, [gold], {"doc": source.sections}, chunks)


def test_a_quote_whose_section_ranks_first_is_recalled_at_one(guide: SourceDocument) -> None:
    measures = measure_retrieval(cells(BM25(), guide, ASPIRIN, "aspirin"))
    assert measures["section_recall_at_1"] == Measure(1.0, 1)
    assert measures["section_mrr"] == Measure(1.0, 1)


def test_a_section_of_the_second_rank_counts_half(guide: SourceDocument) -> None:
    measures = measure_retrieval(cells(BM25(), guide, ASPIRIN, "carry luggage, take medicine"))
    assert measures["section_mrr"] == Measure(0.5, 1)
    assert (measures["section_recall_at_1"].value, measures["section_recall_at_3"].value) == (0.0, 1.0)


def test_a_quote_ranked_but_not_shown_is_missing_from_the_evidence(guide: SourceDocument) -> None:
    measures = measure_retrieval(cells(BM25(top_k=1), guide, ASPIRIN, "carry luggage, take medicine"))
    assert measures["evidence_recall"] == Measure(0.0, 1)


def test_the_whole_document_shows_every_quote_and_ranks_none(guide: SourceDocument) -> None:
    measures = measure_retrieval(cells(FullDocument(), guide, ASPIRIN, "aspirin"))
    assert (measures["evidence_recall"], measures["section_recall_at_1"]) == (Measure(1.0, 1), Measure(None, 0))


def test_silence_decided_by_the_retriever_is_right_where_gold_is_silent(guide: SourceDocument) -> None:
    retriever = BM25(confidence={"intercept": -5.0}, silence_below=0.5)
    measures = measure_retrieval(cells(retriever, guide, SILENT, "aspirin"))
    assert (measures["silence_accuracy"], measures["missed_silence_rate"]) == (Measure(1.0, 1), Measure(0.0, 1))


def test_failed_evidence_is_in_no_measure() -> None:
    failed = Evidence("q", "doc", "retrieved", (), (), None, 0, Outcome.ENGINE_ERROR, "no memory")
    assert pair_with_gold([failed], [ASPIRIN], {"doc": ()}, {}) == []


def test_separation_is_scikit_learns_auc_ties_included() -> None:
    addressed, silent = [0.9, 0.5, 0.5, 0.2], [0.5, 0.1, 0.2]
    expected = roc_auc_score([1] * 4 + [0] * 3, addressed + silent)
    assert separation(addressed, silent).value == pytest.approx(expected)
