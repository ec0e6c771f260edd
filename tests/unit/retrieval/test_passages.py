from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from transplantqa.retrieval import SourceDocument
from transplantqa.retrieval.indexed import IndexedDocument, index_document
from transplantqa.retrieval.passages import (
    MERGED,
    OVER_BUDGET,
    Assembly,
    Expansion,
    PassageOrder,
    PassagePolicy,
    assemble,
    fitting_sections,
    focus_on,
)
from transplantqa.retrieval.terms import TermAnalyzer
from transplantqa.store.hashing import text_sha256

FOCUS = focus_on("tacrolimus dose", TermAnalyzer("english"))


@pytest.fixture
def document(guide: SourceDocument) -> IndexedDocument:
    return index_document(guide)


def shown(document: IndexedDocument, assembly: Assembly) -> list[str]:
    return [
        document.sections[passage.section_id].text[passage.char_start : passage.char_end]
        for passage in assembly.passages
    ]


def policy(
    tokens: int = 100, expansion: Expansion = "chunk", passage_tokens: int = 100, order: PassageOrder = "rank"
) -> PassagePolicy:
    return PassagePolicy(tokens, expansion, passage_tokens, order)


def test_chunks_are_shown_best_first(document: IndexedDocument) -> None:
    texts = shown(document, assemble(document, [4, 0], policy(), FOCUS))
    assert texts == ["Carry your medicines in hand luggage.", "Eat fresh fruit every day."]


def test_document_order_keeps_the_rank_beside_it(document: IndexedDocument) -> None:
    passages = assemble(document, [4, 0], policy(order="document"), FOCUS).passages
    assert [(passage.section_id, passage.rank) for passage in passages] == [("doc/s00", 2), ("doc/s02", 1)]


def test_neighbouring_chunks_are_one_passage(document: IndexedDocument) -> None:
    assert shown(document, assemble(document, [1, 0], policy(), FOCUS)) == [document.sections["doc/s00"].text]


def test_a_chunk_is_expanded_to_its_section(document: IndexedDocument) -> None:
    texts = shown(document, assemble(document, [2], policy(expansion="section"), FOCUS))
    assert texts == [document.sections["doc/s01"].text]


def test_expansion_stops_at_the_passage_bound(document: IndexedDocument) -> None:
    texts = shown(document, assemble(document, [2], policy(expansion="section", passage_tokens=13), FOCUS))
    assert texts == ["Take tacrolimus 2 mg twice a day."]


def test_a_chunk_within_a_shown_passage_is_kept_and_said_so(document: IndexedDocument) -> None:
    assert assemble(document, [2, 3], policy(expansion="section"), FOCUS).why[3] == MERGED


def test_a_chunk_over_the_budget_is_passed_over_for_a_smaller_one(document: IndexedDocument) -> None:
    assembly = assemble(document, [2, 3, 0], policy(tokens=12), FOCUS)
    assert (assembly.why[3], shown(document, assembly)[1]) == (OVER_BUDGET, "Eat fresh fruit every day.")


def test_a_best_chunk_larger_than_the_budget_is_cut_to_its_best_sentence(
    make_source: Callable[..., SourceDocument],
) -> None:
    text = "Rest well and sleep long. The tacrolimus dose is 2 mg. Call us any time of day."
    document = index_document(make_source([("Doses", [text])]))
    assembly = assemble(document, [0], policy(tokens=8), FOCUS)
    assert shown(document, assembly) == ["The tacrolimus dose is 2 mg."]


def test_largest_fitting_set_prefers_the_sections_of_the_best_chunks(document: IndexedDocument) -> None:
    passages = fitting_sections(document, [4, 2], limit=20)
    assert [passage.section_id for passage in passages] == ["doc/s01", "doc/s02"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    chosen=st.lists(st.integers(0, 4), unique=True),
    tokens=st.integers(1, 40),
    passage_tokens=st.integers(1, 40),
    expansion=st.sampled_from(["chunk", "section"]),
    order=st.sampled_from(["rank", "document"]),
)
def test_passages_keep_the_budget_and_are_honest_spans(
    document: IndexedDocument,
    chosen: list[int],
    tokens: int,
    passage_tokens: int,
    expansion: Expansion,
    order: PassageOrder,
) -> None:
    assembly = assemble(document, chosen, policy(tokens, expansion, passage_tokens, order), FOCUS)
    assert sum(passage.tokens for passage in assembly.passages) <= tokens
    assert bool(assembly.passages) == bool(chosen)
    assert set(assembly.why) == set(chosen)
    assert sorted(passage.rank for passage in assembly.passages) == list(range(1, len(assembly.passages) + 1))
    spans: dict[str, int] = {}
    for passage in sorted(assembly.passages, key=lambda one: (one.section_id, one.char_start)):
        text = document.sections[passage.section_id].text
        assert spans.get(passage.section_id, 0) <= passage.char_start < passage.char_end <= len(text)
        assert passage.text_sha256 == text_sha256(text[passage.char_start : passage.char_end])
        spans[passage.section_id] = passage.char_end
