"""How long prompts will be, from what is known of evidence, documents and answers."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

from transplantqa.errors import ModelError
from transplantqa.models import Message, Scripted
from transplantqa.planning.evidence import Expected, expected_evidence
from transplantqa.planning.meter import MESSAGE_TOKENS, Meter
from transplantqa.planning.prompts import REFERENCE_TOKENS, Judging, of_documents, of_evidence, of_pairs
from transplantqa.records import Document


class Letters:
    """A tokenizer of letters, spaces left out: two a word of the tests."""

    def identity(self) -> dict[str, Any]:
        return {}

    def offsets(self, text: str) -> list[tuple[int, int]]:
        return [(place, place + 1) for place, letter in enumerate(text) if letter != " "]


class Away(Scripted):
    """A model whose tokenizer can't be had."""

    def count_tokens(self, text: str) -> int:
        raise ModelError("vLLM is not installed.\nInstall it.")


def meter(sample: Sequence[str] = ("ab cd ef gh",)) -> Meter:
    return Meter(Scripted(), Letters(), sample)


def document(characters: int, tokens: int) -> Document:
    return Document(
        "d", "i", "g", None, "t", None, "f", "0", 1, characters, tokens, None, redistributable=False, verdict="accept"
    )


def test_the_scale_is_the_models_tokens_by_word_piece_and_by_character() -> None:
    assert (meter().per_wordpiece, meter().per_character) == (0.5, 4 / 11)


def test_a_model_that_cannot_count_is_named_and_word_pieces_are_counted() -> None:
    counted = Meter(Away(), Letters(), ["ab cd"])
    assert counted.per_wordpiece == 1.0
    assert counted.note is not None
    assert "vLLM is not installed." in counted.note


def test_messages_count_with_their_marks() -> None:
    assert meter().messages([Message("system", "a b c"), Message("user", "d")]) == 3 + 1 + 2 * MESSAGE_TOKENS


def test_a_document_within_the_route_goes_whole_and_a_longer_one_by_its_best_chunks() -> None:
    hero = {"route_max_chars": 1000, "evidence_tokens": 3000, "top_k": 4, "passage_tokens": 600}
    assert expected_evidence(hero, 512, document(900, 250)) == Expected(250, is_whole_document=True)
    assert expected_evidence(hero, 512, document(90_000, 25_000)) == Expected(2400, is_whole_document=False)


def test_chunks_that_are_not_expanded_are_as_long_as_chunks() -> None:
    flat = {"evidence_tokens": 3000, "top_k": 5, "passage": "chunk", "passage_tokens": 2048}
    assert expected_evidence(flat, 512, None) == Expected(2560, is_whole_document=False)


def test_the_budget_limits_what_ranks_would_allow_and_the_document_limits_both() -> None:
    flat = {"evidence_tokens": 1000, "top_k": 5, "passage": "chunk"}
    assert expected_evidence(flat, 512, None) == Expected(1000, is_whole_document=False)
    assert expected_evidence(flat, 512, document(9000, 700)) == Expected(700, is_whole_document=False)


def test_a_retriever_without_limits_shows_the_document_whole_so_an_unread_one_is_unknown() -> None:
    assert expected_evidence({}, 512, document(9000, 2000)) == Expected(2000, is_whole_document=True)
    assert expected_evidence({}, 512, None) is None


def test_evidence_prompts_are_fixed_part_passages_references_and_question() -> None:
    rows = [
        {"question_id": "q1", "document_id": "d", "route": "full_document", "passages": [1, 2], "tokens": 100},
        {"question_id": "q2", "document_id": "d", "route": "full_document", "passages": [1, 2], "tokens": 100},
        {"question_id": "q1", "document_id": "e", "route": "retrieved", "passages": [1], "tokens": 40},
    ]
    evidence = pa.Table.from_pylist([{**row, "outcome": "ok"} for row in rows])
    sizes, cached, counts = of_evidence(evidence, 10, {"q1": 5, "q2": 7}, meter())
    whole, best = 10 + 50 + 2 * REFERENCE_TOKENS, 10 + 20 + REFERENCE_TOKENS
    assert sizes.tolist() == [whole + 5, whole + 7, best + 5]
    assert cached.tolist() == [10, whole, 10]  # the second question of a whole document shares all before it
    assert counts.tolist() == [1, 1, 1]


def test_cells_that_evidence_shows_to_be_silent_are_no_calls() -> None:
    row = {"question_id": "q1", "document_id": "d", "route": "retrieved", "passages": [1], "tokens": 100}
    evidence = pa.Table.from_pylist([{**row, "outcome": "empty_retrieval"}])
    assert len(of_evidence(evidence, 10, {"q1": 5}, meter())[0]) == 0


def test_documents_without_evidence_are_a_class_each() -> None:
    asked = [(Expected(1000, is_whole_document=False), [4.0, 6.0]), (Expected(500, is_whole_document=True), [5.0] * 10)]
    sizes, cached, counts = of_documents(asked, 10, meter(), passage_tokens=500)
    assert sizes.tolist() == [10 + 500 + 2 * REFERENCE_TOKENS + 5, 10 + 250 + REFERENCE_TOKENS + 5]
    assert cached.tolist() == pytest.approx([10, 10 + (250 + REFERENCE_TOKENS) * 0.9])
    assert counts.tolist() == [2, 10]


def test_pair_prompts_have_both_answers_and_share_the_first() -> None:
    answers = pa.table({"question_id": ["q1", "q1"], "document_id": ["a", "b"], "text": ["x" * 11, "x" * 22]})
    planned = pa.table({"question_id": ["q1"], "document_a": ["a"], "document_b": ["b"]})
    sizes, cached, counts = of_pairs(planned, answers, Judging(10), {"q1": 3}, meter())
    assert (sizes.tolist(), cached.tolist(), counts.tolist()) == ([10 + 3 + 4 + 8], [10 + 3 + 4], [1])


def test_pairs_judged_together_share_a_call_and_the_answer_shown_first() -> None:
    answers = pa.table({"question_id": ["q1", "q1"], "document_id": ["a", "b"], "text": ["x" * 11, "x" * 22]})
    planned = pa.table({"question_id": ["q1"], "document_a": ["a"], "document_b": ["b"]})
    sizes, _, counts = of_pairs(planned, answers, Judging(10, group_size=4), {"q1": 3}, meter())
    assert (sizes.tolist(), counts.tolist()) == ([10 + 3 + 4 + 4 * 8], [0.25])
