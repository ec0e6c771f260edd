"""Proposals of a model for questions, and what a person makes of them: nothing is accepted by itself."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from transplantqa.corpus.curation import Limits, curate
from transplantqa.corpus.proposals import Proposal, read_reply, reply_schema
from transplantqa.corpus.review import as_review, read_review, review_counts
from transplantqa.errors import InputError
from transplantqa.records import Question

QUESTION = Question("q1", "hi, can i go swiming 2 weeks after??", ("kidney",), ("life",))


def reply(**changes: object) -> str:
    fields = {"rephrased": "When can I go swimming, 2 weeks after?", "topic": "activity", "subtopic": "swimming"}
    return json.dumps(fields | changes)


def read(text: str, *topics: str) -> Proposal:
    return read_reply(QUESTION, text, topics, Limits())


def test_a_reply_of_the_schema_is_a_proposal() -> None:
    assert read(reply()) == Proposal("q1", "When can I go swimming, 2 weeks after?", "activity", "swimming")


@pytest.mark.parametrize(
    "text",
    [
        *("", "Sure!", reply()[:-5], "[]", reply(topic=None), reply(more=1), reply(topic="x" * 61)),
        *('{"rephrased": "Why?"}', "[" * 5000, "9" * 5000),
    ],
    ids=[
        "empty",
        "prose",
        "half",
        "list",
        "null",
        "another field",
        "too long",
        "fields missing",
        "deep",
        "long number",
    ],
)
def test_what_is_not_of_the_schema_is_a_failure_with_its_reason(text: str) -> None:
    found = read(text)
    assert found.failure.startswith("parse_failed: ")
    assert (found.text, found.topic) == ("", "")


def test_a_wording_that_asks_nothing_is_left_out_and_the_labels_stay() -> None:
    found = read(reply(rephrased="x"))
    assert (found.text, found.topic, found.doubts) == ("", "activity", ("wording left out: fewer than 3 words",))


def test_the_same_wording_proposes_nothing() -> None:
    assert read(reply(rephrased="Hi, can I go swiming 2 weeks after?")).text == ""


def test_doubts_are_told_about_a_wording_with_other_numbers_names_or_words() -> None:
    assert read(reply(rephrased="Can I go swimming 3 weeks after?")).doubts == ("other numbers than in the original",)
    assert "may still hold personal data: name" in read(reply(rephrased="Can I ask Dr. Smith 2 things?")).doubts
    assert "no word in common with the original" in read(reply(rephrased="What is a kidney?")).doubts


def test_only_topics_to_choose_from_are_proposed() -> None:
    assert reply_schema(("diet", "life"))["properties"]["topic"] == {"type": "string", "enum": ["diet", "life"]}
    found = read(reply(), "diet", "life")
    assert (found.topic, found.doubts) == ("", ("topic left out: not one of those to choose from",))


Review = Callable[..., Path]


@pytest.fixture
def review(tmp_path: Path) -> Review:
    """Write the review file of one question and fill in some of its columns."""

    def write(**columns: str) -> Path:
        path = tmp_path / "review.csv"
        text = as_review(curate([QUESTION]), {"q1": read(reply())})
        (row,) = csv.DictReader(text.splitlines())
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(row))
            writer.writeheader()
            writer.writerow(row | columns)
        return path

    return write


@pytest.mark.parametrize(
    ("answer", "text", "topics", "step"),
    [
        ("", QUESTION.text, ("life",), "undecided"),
        ("no", QUESTION.text, ("life",), "as it was"),
        ("Yes", "When can I go swimming, 2 weeks after?", ("activity",), "accepted"),
        ("text", "When can I go swimming, 2 weeks after?", ("life",), "accepted"),
        ("topics", QUESTION.text, ("activity",), "accepted"),
        ("drop", QUESTION.text, ("life",), "dropped"),
    ],
)
def test_only_what_a_person_accepts_changes_a_question(
    review: Review, answer: str, text: str, topics: tuple[str, ...], step: str
) -> None:
    (one,) = read_review(review(accept=answer))
    assert (one.question.text, one.question.topics, one.step) == (text, topics, step)
    assert (one.original, one.question.groups) == (QUESTION.text, ("kidney",))
    assert review_counts([one])[step] == 1


def test_no_cell_is_a_formula_and_what_is_accepted_is_as_it_was_proposed(tmp_path: Path) -> None:
    asked = Question("q1", "- when may i swim?", ("+kidney", "liver"))
    proposed = Proposal("q1", '=HYPERLINK("http://x","When may I swim?")', "@life", "swimming")
    text = as_review(curate([asked]), {"q1": proposed})
    (row,) = csv.DictReader(text.split("\n"))
    assert not any(cell.startswith(("=", "+", "-", "@")) for cell in row.values())
    path = tmp_path / "review.csv"
    path.write_text(text.replace("swim?,,", "swim?,yes,"), encoding="utf-8")
    (one,) = read_review(path)
    assert (one.original, one.question.groups) == (asked.text, asked.groups)
    assert (one.question.text, one.question.topics, one.step) == (proposed.text, ("@life",), "accepted")


def test_a_wording_that_the_person_edited_is_taken_as_edited(review: Review) -> None:
    (one,) = read_review(review(accept="yes", proposed_text="May I swim after two weeks?"))
    assert one.question.text == "May I swim after two weeks?"


def test_an_answer_that_is_not_understood_is_told_with_its_line(review: Review) -> None:
    with pytest.raises(InputError, match=r'review.csv, line 2: accept "maybe" isn.t understood.\nWrite yes, text'):
        read_review(review(accept="maybe"))
