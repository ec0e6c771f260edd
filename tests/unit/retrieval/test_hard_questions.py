"""What users will try: nothing to search for, odd scripts, repeated headings, five hundred pages, broken models."""

import unicodedata
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from transplantqa.models.protocols import Embedder
from transplantqa.records import Evidence, Outcome, Question
from transplantqa.retrieval import BM25, Dense, HeroQA, Hybrid, Retriever, SourceDocument
from transplantqa.retrieval.table import read_evidence

MakeSource = Callable[..., SourceDocument]
RANKERS: Any = ["dense", "bm25", "section_body", "section_title"]


def ask(retriever: Retriever, source: SourceDocument, *texts: str) -> list[Evidence]:
    questions = [Question(f"q{at}", text) for at, text in enumerate(texts)]
    return read_evidence(retriever.retrieve(questions, source))


def shown(evidence: Evidence, source: SourceDocument) -> list[str]:
    sections = {section.section_id: section.text for section in source.sections}
    return [sections[one.section_id][one.char_start : one.char_end] for one in evidence.passages]


def hero(embedder: Embedder, **settings: Any) -> HeroQA:
    return HeroQA(**{"embedder": embedder, "reranker": None, "rankers": RANKERS, "route_max_chars": 0, **settings})


@pytest.mark.parametrize("text", ["", "???", "what should I do", "\u200b", "\U0001f97a"])
def test_a_question_without_terms_is_left_to_the_embeddings_and_shifts_no_other(
    guide: SourceDocument, embedder: Embedder, text: str
) -> None:
    before, bare, after = ask(hero(embedder), guide, "aspirin", text, "fruit")
    assert {score.ranker for one in bare.candidates for score in one.rankers} == {"dense", "section_title"}
    assert before.passages == ask(hero(embedder), guide, "aspirin")[0].passages
    assert after.passages == ask(hero(embedder), guide, "fruit")[0].passages


@pytest.mark.parametrize("text", ["", "???", "what should I do"])
def test_words_alone_find_nothing_for_a_question_without_terms(guide: SourceDocument, text: str) -> None:
    first, bare = ask(BM25(), guide, "aspirin", text)
    assert first.outcome is Outcome.OK
    assert (bare.outcome, bare.error) == (Outcome.EMPTY_RETRIEVAL, "no chunk matches the question")


def test_a_word_in_one_of_two_chunks_is_found_there_and_in_no_other(make_source: MakeSource) -> None:
    source = make_source([("Food", ["Eat grapefruit never.", "Eat apples often."])])
    (evidence,) = ask(BM25(), source, "grapefruit")
    assert [(one.chunk_id, one.rankers[0].score > 0) for one in evidence.candidates] == [("doc/c00", True)]
    (both,) = ask(BM25(), source, "eat")
    assert [one.chunk_id for one in both.candidates] == ["doc/c00", "doc/c01"]  # a term of every chunk still counts


def test_a_document_of_one_chunk_is_found_by_every_ranker(make_source: MakeSource, embedder: Embedder) -> None:
    source = make_source([("Food", ["Eat well and drink water."])])
    (evidence,) = ask(hero(embedder, passage_tokens=4), source, "drink water food")
    assert [score.rank for score in evidence.candidates[0].rankers] == [1, 1, 1, 1]
    assert shown(evidence, source) == ["Eat well and drink water."]


def test_sections_with_one_heading_are_told_apart_by_their_text(make_source: MakeSource, embedder: Embedder) -> None:
    source = make_source([("Medicines", ["Take aspirin."]), ("Medicines", ["Take tacrolimus at night."])])
    (evidence,) = ask(hero(embedder, top_k=1), source, "medicines tacrolimus night")
    titles = [score.score for one in evidence.candidates for score in one.rankers if score.ranker == "section_title"]
    assert titles[0] == titles[1]
    assert shown(evidence, source) == ["Take tacrolimus at night."]


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKD"])
def test_composed_and_decomposed_letters_find_each_other(make_source: MakeSource, form: Any) -> None:
    source = make_source([("Pain", ["Prenez du caf\u00e9 d\u00e9caf\u00e9in\u00e9."]), ("Food", ["Eat well."])])
    (evidence,) = ask(BM25(), source, unicodedata.normalize(form, "caf\u00e9"))
    assert shown(evidence, source) == ["Prenez du caf\u00e9 d\u00e9caf\u00e9in\u00e9."]


@pytest.mark.parametrize("between", ["\u200b", "\u00ad", "\ufeff", "\u2060"])
def test_characters_nobody_sees_do_not_hide_a_word(make_source: MakeSource, between: str) -> None:
    source = make_source([("Pain", [f"Take tacro{between}limus."]), ("Food", ["Eat well."])])
    assert shown(ask(BM25(), source, "tacrolimus")[0], source) == [f"Take tacro{between}limus."]


@pytest.mark.parametrize(
    ("language", "first", "second", "question"),
    [
        ("german", "Nehmen Sie die Tabletten.", "Essen Sie Obst.", "Tablette"),
        ("spanish", "Tome los medicamentos.", "Coma fruta.", "\u00bfel medicamento?"),
        (
            "russian",
            "\u041f\u0435\u0439\u0442\u0435 \u0442\u0430\u0431\u043b\u0435\u0442\u043a\u0438.",
            "\u0415\u0448\u044c\u0442\u0435.",
            "\u0442\u0430\u0431\u043b\u0435\u0442\u043a\u0430",
        ),
        ("none", "\u79fb\u690d\u5f8c\u306e\u98df\u4e8b", "\u85ac\u3092\u98f2\u3080", "\u98df\u4e8b"),
        (
            "none",
            "\u0926\u0935\u093e \u0932\u0947\u0902",
            "\u0916\u093e\u0928\u093e \u0916\u093e\u090f\u0901",
            "\u0926\u0935\u093e",
        ),
        (
            "english",
            "\u062a\u0646\u0627\u0648\u0644 \u0627\u0644\u062f\u0648\u0627\u0621",
            "\u0643\u0644",
            "\u0627\u0644\u062f\u0648\u0627\u0621",
        ),
    ],
)
def test_other_languages_are_searched(
    make_source: MakeSource, language: Any, first: str, second: str, question: str
) -> None:
    source = make_source([("A", [first]), ("B", [second])])
    assert shown(ask(BM25(language=language), source, question)[0], source) == [first]


class Broken:
    """Raises for passages of one kind: chunks (``dense``) or headings (``section_title``)."""

    def __init__(self, marker: str) -> None:
        self._marker = marker

    def identity(self) -> dict[str, str]:
        return {"embedder": "broken"}

    def embed_queries(self, texts: Sequence[str]) -> Any:
        return np.ones((len(texts), 2), dtype=np.float32)

    def embed_passages(self, texts: Sequence[str]) -> Any:
        if self._marker in texts:
            raise RuntimeError("out of memory")
        return np.ones((len(texts), 2), dtype=np.float32)


@pytest.mark.parametrize("marker", ["Travel", "Carry your medicines in hand luggage."])
def test_one_failing_ranker_of_four_fails_each_unit_with_its_reason(guide: SourceDocument, marker: str) -> None:
    found = ask(hero(Broken(marker)), guide, "aspirin", "fruit", "what")
    assert [(one.question_id, one.outcome) for one in found] == [(f"q{at}", Outcome.ENGINE_ERROR) for at in range(3)]
    assert {one.error for one in found} == {"embedder: RuntimeError: out of memory"}
    assert all(not one.passages and not one.candidates and one.top_score is None for one in found)


@pytest.fixture(scope="module")
def pages() -> list[tuple[str, list[str]]]:
    """Five hundred sections of three chunks, a page each; one of them says something of its own."""
    parts = [
        (f"Part {number % 40}", [f"Rest on day {number} at hour {hour}. " * 12 for hour in range(3)])
        for number in range(500)
    ]
    parts[371][1][1] = "Call the zebra line at any hour."
    return parts


def test_five_hundred_pages_are_searched_within_the_budget(
    make_source: MakeSource, embedder: Embedder, pages: list[tuple[str, list[str]]]
) -> None:
    source = make_source(pages)
    retriever = hero(embedder, evidence_tokens=300, confidence={"intercept": 5.0}, fallback_below=0.5)
    found = ask(retriever, source, *["Which zebra line do I call?"] * 3, *[f"Rest on day {n}?" for n in range(40)])
    assert len(found) == 43
    for evidence in found[:3]:
        assert "doc/c1114" in {one.chunk_id for one in evidence.candidates if one.kept}
        assert any("zebra" in text for text in shown(evidence, source))
    assert all(0 < one.tokens <= 300 and one.tokens == sum(p.tokens for p in one.passages) for one in found)
    assert max(len(one.candidates) for one in found) <= 4 * 30


def test_a_fallback_over_five_hundred_pages_shows_the_largest_fitting_set_and_says_so(
    make_source: MakeSource, embedder: Embedder, pages: list[tuple[str, list[str]]]
) -> None:
    source = make_source(pages)
    retriever = hero(embedder, confidence={"intercept": -5.0}, fallback_below=0.5, fallback_tokens=1_000)
    (evidence,) = ask(retriever, source, "Which zebra line do I call?")
    assert evidence.route == "fallback"
    assert 800 < evidence.tokens <= 1_000
    assert any("zebra" in text for text in shown(evidence, source))
    orders = [int(one.section_id.removeprefix("doc/s")) for one in evidence.passages]
    assert orders == sorted(orders)
    assert f"the {len(orders)} sections that fit are shown" in evidence.candidates[0].why


@pytest.mark.parametrize("make", [lambda e: Dense(embedder=e), lambda e: Hybrid(embedder=e, reranker=None), hero])
def test_no_questions_are_no_evidence(guide: SourceDocument, embedder: Embedder, make: Any) -> None:
    assert ask(make(embedder), guide) == []
