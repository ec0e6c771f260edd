"""Which question is asked of which document."""

import pytest

from transplantqa.corpus import plan
from transplantqa.errors import InputError
from transplantqa.records import Document, Question, Verdict


def document(name: str, group: str, verdict: Verdict = "accept") -> Document:
    return Document(name, "Center", group, None, name, None, f"{name}.pdf", "0" * 64, 1, 100, 20, None, False, verdict)


GENERAL = Question("g1", "May I swim?")
KIDNEY = Question("k1", "How much to drink?", groups=("kidney",))
BOTH = Question("b1", "How soon home?", groups=("kidney", "liver"))


def test_a_general_question_is_asked_of_every_document() -> None:
    assert plan([GENERAL], [document("b", "liver"), document("a", "kidney")]) == [("g1", "a"), ("g1", "b")]


def test_a_group_question_is_asked_of_its_groups_documents() -> None:
    documents = [document("a", "kidney"), document("b", "liver"), document("c", "heart")]
    assert plan([KIDNEY, BOTH], documents) == [("b1", "a"), ("k1", "a"), ("b1", "b")]


def test_a_rejected_document_is_asked_nothing() -> None:
    assert plan([GENERAL], [document("a", "kidney", "reject"), document("b", "kidney", "review")]) == [("g1", "b")]


def test_cells_do_not_depend_on_the_order_of_the_inputs() -> None:
    documents = [document("a", "kidney"), document("b", "liver")]
    questions = [GENERAL, KIDNEY, BOTH]
    assert plan(questions[::-1], documents[::-1]) == plan(questions, documents)


def test_a_group_no_document_has_is_an_error_with_the_nearest_spelling() -> None:
    question = Question("q1", "What?", groups=("Kidny",))
    with pytest.raises(InputError) as caught:
        plan([question], [document("a", "kidney"), document("b", "liver")])
    assert str(caught.value) == (
        'questions: no document has group "Kidny", which q1 asks for. Did you mean "kidney"?\n'
        "Groups of the documents: kidney, liver. Correct the group, or leave it empty for a general question."
    )


def test_a_group_left_out_by_a_slice_of_the_corpus_is_no_error() -> None:
    assert plan([KIDNEY], [document("b", "liver")], known_groups=["kidney", "liver"]) == []


def test_a_group_whose_only_document_is_unreadable_is_no_error() -> None:
    assert plan([KIDNEY], [document("a", "kidney", "reject")]) == []
