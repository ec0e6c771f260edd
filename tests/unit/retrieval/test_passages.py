"""Passages chosen for many questions at once: budget, expansion, merging, and the same as choosing one by one."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from transplantqa.records import Passage
from transplantqa.retrieval import SourceDocument
from transplantqa.retrieval.indexed import IndexedDocument, index_document
from transplantqa.retrieval.passages import (
    MERGED,
    OVER_BUDGET,
    REASONS,
    Assembly,
    Expansion,
    PassageOrder,
    PassagePolicy,
    Spans,
    assemble,
    cut,
    fitting_sections,
    focus_on,
    passage_lists,
)
from transplantqa.retrieval.terms import TermAnalyzer
from transplantqa.store.hashing import text_sha256

FOCUS = focus_on("tacrolimus dose", TermAnalyzer("english"))


@pytest.fixture
def document(guide: SourceDocument) -> IndexedDocument:
    return index_document(guide)


def assembled(
    document: IndexedDocument, chosen: Sequence[Sequence[int]], policy: PassagePolicy
) -> tuple[list[list[Passage]], Assembly]:
    """Return the passages of each question and what ``assemble`` returned."""
    width = max((len(row) for row in chosen), default=0)
    padded = np.array([[*row, *[-1] * (width - len(row))] for row in chosen], dtype=np.intp).reshape(len(chosen), width)
    spans = Spans()
    assembly = assemble(document, padded, policy, spans)
    lists, tokens = passage_lists([assembly.shown], len(chosen), spans)
    passages = [[Passage(**row) for row in rows] for rows in lists.to_pylist()]
    assert tokens.tolist() == [sum(one.tokens for one in rows) for rows in passages]
    return passages, assembly


def shown(document: IndexedDocument, passages: Sequence[Passage]) -> list[str]:
    return [document.sections[one.section_id].text[one.char_start : one.char_end] for one in passages]


def texts(document: IndexedDocument, chosen: Sequence[int], policy: PassagePolicy) -> list[str]:
    (passages,), _ = assembled(document, [chosen], policy)
    return shown(document, passages)


def policy(
    tokens: int = 100, expansion: Expansion = "chunk", passage_tokens: int = 100, order: PassageOrder = "rank"
) -> PassagePolicy:
    return PassagePolicy(tokens, expansion, passage_tokens, order)


def test_chunks_are_shown_best_first(document: IndexedDocument) -> None:
    assert texts(document, [4, 0], policy()) == ["Carry your medicines in hand luggage.", "Eat fresh fruit every day."]


def test_document_order_keeps_the_rank_beside_it(document: IndexedDocument) -> None:
    (passages,), _ = assembled(document, [[4, 0]], policy(order="document"))
    assert [(passage.section_id, passage.rank) for passage in passages] == [("doc/s00", 2), ("doc/s02", 1)]


def test_neighbouring_chunks_are_one_passage(document: IndexedDocument) -> None:
    assert texts(document, [1, 0], policy()) == [document.sections["doc/s00"].text]


def test_a_chunk_is_expanded_to_its_section(document: IndexedDocument) -> None:
    assert texts(document, [2], policy(expansion="section")) == [document.sections["doc/s01"].text]


def test_expansion_stops_at_the_passage_bound(document: IndexedDocument) -> None:
    found = texts(document, [2], policy(expansion="section", passage_tokens=13))
    assert found == ["Take tacrolimus 2 mg twice a day."]


def test_a_chunk_within_a_shown_passage_is_kept_and_said_so(document: IndexedDocument) -> None:
    _, assembly = assembled(document, [[2, 3]], policy(expansion="section"))
    assert REASONS[assembly.why[0, 1]] == MERGED


def test_a_chunk_over_the_budget_is_passed_over_for_a_smaller_one(document: IndexedDocument) -> None:
    (passages,), assembly = assembled(document, [[2, 3, 0]], policy(tokens=12))
    assert REASONS[assembly.why[0, 1]] == OVER_BUDGET
    assert shown(document, passages)[1] == "Eat fresh fruit every day."


def test_chunks_that_overlap_count_no_more_than_their_section(make_source: Callable[..., SourceDocument]) -> None:
    source = make_source([("Doses", ["one two three", "four five six"])])
    (section,) = source.sections
    overlapping = SourceDocument(
        source.document, (type(section)(**{**section.row(), "tokens": 5}),), source.chunks
    )  # as if the two had a word in common
    (passages,), _ = assembled(index_document(overlapping), [[0, 1]], policy(tokens=5))
    assert [passage.tokens for passage in passages] == [5]


def test_a_best_chunk_larger_than_the_budget_is_cut_to_its_best_sentence(
    make_source: Callable[..., SourceDocument],
) -> None:
    text = "Rest well and sleep long. The tacrolimus dose is 2 mg. Call us any time of day."
    document = index_document(make_source([("Doses", [text])]))
    assert texts(document, [0], policy(tokens=8)) == []
    assert shown(document, [cut(document, 0, 8, FOCUS)]) == ["The tacrolimus dose is 2 mg."]


def test_largest_fitting_set_prefers_the_sections_of_the_best_chunks(document: IndexedDocument) -> None:
    order = np.array([[4, 2, 0, 1, 3], [4, 2, 0, 1, 3]])
    fitting = fitting_sections(document, order, np.array([2, 0]), limit=20)
    assert [passage.section_id for passage in fitting.passages] == ["doc/s00", "doc/s01", "doc/s02"]
    assert fitting.ranks.tolist() == [[0, 2, 1], [1, 0, 2]]  # of 12, 13 and 6 tokens


CHOICES = st.lists(st.lists(st.integers(0, 4), unique=True), min_size=1, max_size=4)
POLICIES = st.builds(
    PassagePolicy,
    st.integers(1, 40),
    st.sampled_from(["chunk", "section"]),
    st.integers(1, 40),
    st.sampled_from(["rank", "document"]),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(chosen=CHOICES, policy=POLICIES)
def test_passages_keep_the_budget_and_are_honest_spans(
    document: IndexedDocument, chosen: list[list[int]], policy: PassagePolicy
) -> None:
    for passages in assembled(document, chosen, policy)[0]:
        assert sum(passage.tokens for passage in passages) <= policy.evidence_tokens
        assert sorted(passage.rank for passage in passages) == list(range(1, len(passages) + 1))
        spans: dict[str, int] = {}
        for passage in sorted(passages, key=lambda one: (one.section_id, one.char_start)):
            text = document.sections[passage.section_id].text
            assert spans.get(passage.section_id, 0) <= passage.char_start < passage.char_end <= len(text)
            assert passage.text_sha256 == text_sha256(text[passage.char_start : passage.char_end])
            spans[passage.section_id] = passage.char_end


def one_by_one(
    document: IndexedDocument, chosen: Sequence[int], policy: PassagePolicy
) -> tuple[list[tuple[str, set[int]]], list[str]]:
    """Choose for one question as the docstring says, with sets: the runs best first, and what became of each choice."""
    runs: list[tuple[str, set[int]]] = []
    why = []
    for position in chosen:
        section = document.chunks[position].section_id
        siblings = document.siblings[section]
        place = siblings.index(position)
        if any(name == section and place in run for name, run in runs):
            why.append("merged")
            continue
        wide = {place}
        tokens = [document.chunks[at].tokens for at in siblings]
        on = {1, -1} if policy.expansion == "section" else set()
        while on:
            for side in (1, -1):
                nearest = max(wide) + 1 if side == 1 else min(wide) - 1
                fits = 0 <= nearest < len(siblings) and (
                    sum(tokens[at] for at in wide) + tokens[nearest] <= policy.passage_tokens
                )
                if side in on and fits:
                    wide.add(nearest)
                else:
                    on.discard(side)
        for run in (wide, {place}):
            touched = [
                other for other in runs if other[0] == section and any(abs(a - b) <= 1 for a in other[1] for b in run)
            ]
            merged = run.union(*(other[1] for other in touched))
            first = min((runs.index(other) for other in touched), default=len(runs))
            after = [other for other in runs if other not in touched]
            after.insert(first, (section, merged))
            total = sum(document.chunks[document.siblings[name][at]].tokens for name, own in after for at in own)
            if total <= policy.evidence_tokens:
                runs = after
                why.append("kept")
                break
        else:
            why.append("over")
    return runs, why


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
@given(chosen=st.lists(st.lists(st.integers(0, 11), unique=True), min_size=1, max_size=5), policy=POLICIES)
def test_many_questions_at_once_get_what_each_would_get_alone(
    make_source: Callable[..., SourceDocument], chosen: list[list[int]], policy: PassagePolicy
) -> None:
    sizes = [[3, 1, 4, 1, 5], [9, 2], [6, 5, 3, 5, 8]]
    parts = [(f"S{number}", [" ".join(["w"] * size) for size in own]) for number, own in enumerate(sizes)]
    document = index_document(make_source(parts))
    found, assembly = assembled(document, chosen, policy)
    words = {"kept": "kept", MERGED: "merged", OVER_BUDGET: "over"}
    for row, choices in enumerate(chosen):
        runs, why = one_by_one(document, choices, policy)
        assert [words[REASONS[number]] for number in assembly.why[row, : len(choices)]] == why
        best_first = sorted(found[row], key=lambda one: one.rank)
        expected = []
        for name, run in runs:
            members = [document.chunks[document.siblings[name][at]] for at in sorted(run)]
            expected.append((name, members[0].char_start, members[-1].char_end))
        assert [(one.section_id, one.char_start, one.char_end) for one in best_first] == expected
