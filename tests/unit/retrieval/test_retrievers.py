from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from transplantqa.errors import ConfigError, ModelError
from transplantqa.models.protocols import Embedder, Identity
from transplantqa.records import Evidence, Outcome, Question
from transplantqa.retrieval import BM25, Dense, FullDocument, HeroQA, Hybrid, Retriever, SourceDocument
from transplantqa.retrieval.table import read_evidence

MakeSource = Callable[..., SourceDocument]
MakeQuestions = Callable[..., list[Question]]


class LengthReranker:
    """Prefers short passages; ``scores`` overrides what it returns."""

    def __init__(self, scores: Sequence[float] | None = None) -> None:
        self._scores = scores

    def identity(self) -> Identity:
        return {"reranker": "length"}

    def score(self, question: str, passages: Sequence[str]) -> list[float]:
        return list(self._scores) if self._scores is not None else [-float(len(text)) for text in passages]


class BrokenEmbedder:
    """Fails as told when passages are embedded."""

    def __init__(self, failure: Exception) -> None:
        self._failure = failure

    def identity(self) -> Identity:
        return {}

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.ones((len(texts), 2), dtype=np.float32)

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise self._failure


class ShortEmbedder(BrokenEmbedder):
    """Returns one vector too few."""

    def __init__(self) -> None:
        super().__init__(ValueError())

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.ones((len(texts) - 1, 2), dtype=np.float32)


class NotANumberEmbedder(BrokenEmbedder):
    """The vector of a question with "odd" in it isn't finite."""

    def __init__(self) -> None:
        super().__init__(ValueError())

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array([[np.nan if "odd" in text else 1.0, 0.0] for text in texts], dtype=np.float32)

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.ones((len(texts), 2), dtype=np.float32)


def hero(embedder: Embedder, **settings: Any) -> HeroQA:
    rankers = ["dense", "bm25", "section_body", "section_title"]
    return HeroQA(**{"embedder": embedder, "reranker": None, "rankers": rankers, **settings})


def texts_of(evidence: Evidence, source: SourceDocument) -> list[str]:
    sections = {section.section_id: section.text for section in source.sections}
    return [sections[one.section_id][one.char_start : one.char_end] for one in evidence.passages]


def retrieve(retriever: Retriever, source: SourceDocument, questions: Sequence[Question]) -> list[Evidence]:
    return read_evidence(retriever.retrieve(questions, source))


@pytest.mark.parametrize("written", ["2 mg", "2mg", "2\u200b mg", "\uff12 mg"])
def test_a_dose_of_one_digit_finds_its_chunk(
    guide: SourceDocument, make_questions: MakeQuestions, written: str
) -> None:
    (evidence,) = retrieve(BM25(top_k=1), guide, make_questions(written))
    assert texts_of(evidence, guide) == ["Take tacrolimus 2 mg twice a day."]


def test_a_ligature_in_the_document_is_found(make_source: MakeSource, make_questions: MakeQuestions) -> None:
    source = make_source([("Pain", ["Call the o\ufb03ce about swelling."]), ("Food", ["Eat well."])])
    (evidence,) = retrieve(BM25(), source, make_questions("office"))
    assert texts_of(evidence, source) == ["Call the o\ufb03ce about swelling."]


def test_evidence_comes_in_the_order_of_the_questions(
    guide: SourceDocument, make_questions: MakeQuestions, embedder: Embedder
) -> None:
    questions = make_questions("aspirin", "fruit", "luggage")
    found = retrieve(Hybrid(embedder=embedder, reranker=None), guide, questions)
    assert [evidence.question_id for evidence in found] == ["q0", "q1", "q2"]


def test_a_question_gets_the_same_evidence_alone_and_among_others(
    guide: SourceDocument, make_questions: MakeQuestions, embedder: Embedder
) -> None:
    questions = make_questions("aspirin dose", "fruit", "may I eat grapefruit")
    among = retrieve(Hybrid(embedder=embedder, reranker=None), guide, questions)
    alone = [retrieve(Hybrid(embedder=embedder, reranker=None), guide, [question])[0] for question in questions]
    assert among == alone


def test_fewer_chunks_than_asked_for_are_no_error(make_source: MakeSource, embedder: Embedder) -> None:
    source = make_source([("Food", ["Eat well."])])
    (evidence,) = retrieve(Hybrid(embedder=embedder, reranker=None, top_k=50), source, [Question("q", "eat")])
    assert (evidence.outcome, len(evidence.passages)) == (Outcome.OK, 1)


def test_a_question_of_stop_words_is_left_to_the_dense_ranker(guide: SourceDocument, embedder: Embedder) -> None:
    (evidence,) = retrieve(Hybrid(embedder=embedder, reranker=None), guide, [Question("q", "what should I do?")])
    assert evidence.outcome is Outcome.OK
    assert {score.ranker for one in evidence.candidates for score in one.rankers} == {"dense"}


def test_a_question_that_matches_nothing_is_silence_with_a_reason(guide: SourceDocument) -> None:
    (evidence,) = retrieve(BM25(), guide, [Question("q", "what should I do?")])
    assert (evidence.outcome, evidence.error) == (Outcome.EMPTY_RETRIEVAL, "no chunk matches the question")


@pytest.mark.parametrize("name", ["bm25", "dense", "hybrid", "full_document", "hero_qa"])
def test_a_document_without_chunks_is_silent_with_a_reason(
    make_source: MakeSource, embedder: Embedder, name: str
) -> None:
    retrievers: dict[str, Retriever] = {
        "bm25": BM25(),
        "dense": Dense(embedder=embedder),
        "hybrid": Hybrid(embedder=embedder, reranker=None),
        "full_document": FullDocument(),
        "hero_qa": hero(embedder),
    }
    (evidence,) = retrieve(retrievers[name], make_source([]), [Question("q", "eat")])
    assert (evidence.outcome, evidence.error) == (Outcome.EMPTY_RETRIEVAL, "the document has no text to search")


def test_every_candidate_says_what_became_of_it(guide: SourceDocument, embedder: Embedder) -> None:
    (evidence,) = retrieve(Hybrid(embedder=embedder, reranker=None, top_k=1), guide, [Question("q", "aspirin")])
    words = [(one.kept, one.why) for one in evidence.candidates]
    assert words == [(True, "kept")] + [(False, "dropped: below the top 1")] * 4


def test_a_chunk_without_the_words_has_no_bm25_rank(guide: SourceDocument, embedder: Embedder) -> None:
    (evidence,) = retrieve(Hybrid(embedder=embedder, reranker=None), guide, [Question("q", "aspirin")])
    ranked = {one.chunk_id for one in evidence.candidates if any(score.ranker == "bm25" for score in one.rankers)}
    assert ranked == {"doc/c03"}


def test_the_reranker_decides_the_order_of_what_it_sees(guide: SourceDocument, embedder: Embedder) -> None:
    retriever = Hybrid(embedder=embedder, reranker=LengthReranker(), rerank_top=5, top_k=1)
    (evidence,) = retrieve(retriever, guide, [Question("q", "tacrolimus")])
    assert texts_of(evidence, guide) == ["Eat fresh fruit every day."]


def test_candidates_beyond_the_rerankers_view_follow_in_fused_order(guide: SourceDocument, embedder: Embedder) -> None:
    retriever = Hybrid(embedder=embedder, reranker=LengthReranker(), rerank_top=2)
    (evidence,) = retrieve(retriever, guide, [Question("q", "tacrolimus")])
    fused = [one.fused_score for one in evidence.candidates if one.rerank_score is None]
    assert len(fused) == 3
    assert fused == sorted(fused, reverse=True)


@pytest.mark.parametrize("scores", [[1.0], [1.0, float("nan"), 1.0, 1.0, 1.0]])
def test_a_reranker_that_answers_wrongly_fails_the_unit(
    guide: SourceDocument, embedder: Embedder, scores: list[float]
) -> None:
    retriever = Hybrid(embedder=embedder, reranker=LengthReranker(scores))
    (evidence,) = retrieve(retriever, guide, [Question("q", "tacrolimus")])
    assert evidence.outcome is Outcome.ENGINE_ERROR
    assert "reranker" in str(evidence.error)
    assert evidence.passages == ()


@pytest.mark.parametrize("embedder", [BrokenEmbedder(RuntimeError("out of memory")), ShortEmbedder()])
def test_a_failing_embedder_fails_every_unit_with_its_reason(
    guide: SourceDocument, make_questions: MakeQuestions, embedder: Embedder
) -> None:
    found = retrieve(Hybrid(embedder=embedder, reranker=None), guide, make_questions("a fruit", "b aspirin"))
    assert [evidence.outcome for evidence in found] == [Outcome.ENGINE_ERROR] * 2
    assert all(str(evidence.error).startswith("embedder:") for evidence in found)


def test_a_question_vector_that_is_not_finite_fails_that_question_alone(
    guide: SourceDocument, make_questions: MakeQuestions
) -> None:
    retriever = Hybrid(embedder=NotANumberEmbedder(), reranker=None)
    found = retrieve(retriever, guide, make_questions("fruit", "odd fruit", "aspirin"))
    assert [evidence.outcome for evidence in found] == [Outcome.OK, Outcome.ENGINE_ERROR, Outcome.OK]


def test_a_problem_the_user_must_mend_stops_the_run(guide: SourceDocument) -> None:
    retriever = Dense(embedder=BrokenEmbedder(ModelError("weights: no such file.\nGive its path.")))
    with pytest.raises(ModelError):
        retrieve(retriever, guide, [Question("q", "fruit")])


def test_a_question_is_embedded_once_however_many_documents(
    guide: SourceDocument,
    make_questions: MakeQuestions,
    embedder: Any,
) -> None:
    retriever = Dense(embedder=embedder)
    for _ in range(2):
        retrieve(retriever, guide, make_questions("fruit", "aspirin", "fruit"))
    assert embedder.queries == ["fruit", "aspirin"]


def test_a_chunk_scores_as_its_best_window(make_source: MakeSource, embedder: Embedder) -> None:
    long = "Aspirin dose. Some other words that follow on and on. More of these words again."
    source = make_source([("One", [long, "Aspirin and plenty of unrelated other talk here."])])
    retriever = Dense(embedder=embedder, dense_window_sentences=1)
    (evidence,) = retrieve(retriever, source, [Question("q", "aspirin dose")])
    assert evidence.candidates[0].rankers[0].score == pytest.approx(1.0)


def test_a_headed_chunk_is_found_by_its_heading(guide: SourceDocument) -> None:
    (evidence,) = retrieve(BM25(chunk_text="headed", top_k=1), guide, [Question("q", "travel")])
    assert texts_of(evidence, guide) == ["Carry your medicines in hand luggage."]


def test_confidence_is_the_logistic_of_the_signals(guide: SourceDocument) -> None:
    retriever = BM25(confidence={"intercept": -1.0, "document_coverage": 2.0})
    (evidence,) = retrieve(retriever, guide, [Question("q", "aspirin")])
    assert evidence.top_score == pytest.approx(1 / (1 + np.exp(-1.0)), abs=1e-6)


def test_low_confidence_is_silence_that_keeps_the_candidates(guide: SourceDocument) -> None:
    retriever = BM25(confidence={"intercept": -1.0, "document_coverage": 1.5}, silence_below=0.5)
    (evidence,) = retrieve(retriever, guide, [Question("q", "aspirin ferry harbour")])
    assert (evidence.outcome, evidence.passages, evidence.tokens) == (Outcome.EMPTY_RETRIEVAL, (), 0)
    assert [one.kept for one in evidence.candidates] == [False]
    assert "is below 0.5" in evidence.candidates[0].why


def test_a_weight_without_its_signal_is_refused() -> None:
    with pytest.raises(ConfigError, match="no signal cosine"):
        BM25(confidence={"intercept": 0.0, "cosine": 1.0})


def test_a_threshold_without_confidence_is_refused() -> None:
    with pytest.raises(ConfigError, match="silence_below"):
        BM25(silence_below=0.5)


def test_the_full_document_is_every_section_in_order(guide: SourceDocument) -> None:
    (evidence,) = retrieve(FullDocument(), guide, [Question("q", "aspirin")])
    assert texts_of(evidence, guide) == [section.text for section in guide.sections]
    assert (evidence.route, evidence.top_score) == ("full_document", None)


def test_hero_qa_gives_a_short_document_whole(guide: SourceDocument, embedder: Embedder) -> None:
    (evidence,) = retrieve(hero(embedder), guide, [Question("q", "aspirin")])
    assert (evidence.route, len(evidence.passages)) == ("full_document", 3)


def test_hero_qa_searches_a_document_longer_than_the_route(guide: SourceDocument, embedder: Embedder) -> None:
    (evidence,) = retrieve(hero(embedder, route_max_chars=20, top_k=1), guide, [Question("q", "aspirin dose mg")])
    assert evidence.route == "retrieved"
    assert texts_of(evidence, guide) == [guide.sections[1].text]


def test_hero_qa_searches_a_document_larger_than_the_budget(guide: SourceDocument, embedder: Embedder) -> None:
    (evidence,) = retrieve(hero(embedder, evidence_tokens=20), guide, [Question("q", "aspirin")])
    assert (evidence.route, evidence.tokens <= 20) == ("retrieved", True)


def test_hero_qa_ranks_with_all_four(guide: SourceDocument, embedder: Embedder) -> None:
    (evidence,) = retrieve(hero(embedder, route_max_chars=0), guide, [Question("q", "medicines aspirin")])
    names = {score.ranker for one in evidence.candidates for score in one.rankers}
    assert names == {"dense", "bm25", "section_body", "section_title"}


def test_weak_evidence_falls_back_to_the_whole_document(guide: SourceDocument, embedder: Embedder) -> None:
    retriever = hero(embedder, route_max_chars=0, confidence={"intercept": -2.0}, fallback_below=0.5)
    (evidence,) = retrieve(retriever, guide, [Question("q", "aspirin")])
    assert (evidence.route, len(evidence.passages)) == ("fallback", 3)
    assert "so the document is shown" in evidence.candidates[0].why


def test_a_fallback_that_does_not_fit_shows_the_best_sections_and_says_so(
    guide: SourceDocument, embedder: Embedder
) -> None:
    retriever = hero(
        embedder, route_max_chars=0, confidence={"intercept": -2.0}, fallback_below=0.5, fallback_tokens=15
    )
    (evidence,) = retrieve(retriever, guide, [Question("q", "take aspirin mg in the morning")])
    assert texts_of(evidence, guide) == [guide.sections[1].text]
    assert "the 1 sections that fit are shown" in evidence.candidates[0].why


def test_a_fallback_that_no_section_fits_shows_the_chosen_pieces(guide: SourceDocument, embedder: Embedder) -> None:
    retriever = hero(
        embedder, route_max_chars=0, confidence={"intercept": -2.0}, fallback_below=0.5, fallback_tokens=1, top_k=1
    )
    (evidence,) = retrieve(retriever, guide, [Question("q", "take aspirin mg in the morning")])
    assert (evidence.route, len(evidence.passages)) == ("retrieved", 1)


def test_silence_comes_before_the_fallback(guide: SourceDocument, embedder: Embedder) -> None:
    retriever = hero(embedder, route_max_chars=0, confidence={"intercept": -2.0}, fallback_below=0.5, silence_below=0.3)
    (evidence,) = retrieve(retriever, guide, [Question("q", "aspirin")])
    assert evidence.outcome is Outcome.EMPTY_RETRIEVAL


@pytest.mark.parametrize("setting", ["top_k", "evidence_tokens", "rrf_k", "dense_window_sentences", "passage_tokens"])
def test_what_changes_evidence_is_in_the_identity(embedder: Embedder, setting: str) -> None:
    changed: dict[str, Any] = {setting: 7}
    plain = Hybrid(embedder=embedder, reranker=None).identity()
    assert Hybrid(embedder=embedder, reranker=None, **changed).identity() != plain
