"""From raw candidates to a question set: what goes, why, and what is flagged."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transplantqa.corpus.curation import Limits, curate, personal_data, step_counts
from transplantqa.records import Question


def steps(*texts: str) -> list[str]:
    return [decision.step for decision in curate([Question(f"q{n}", text) for n, text in enumerate(texts)])]


def test_the_first_of_questions_with_the_same_words_is_kept() -> None:
    assert steps("When may I drive?", "when may I DRIVE", "When may I swim?") == ["kept", "duplicate", "kept"]


def test_nearly_the_same_words_are_a_near_duplicate() -> None:
    long = "How many weeks after the operation may I go back to work and lift heavy things"
    assert steps(f"{long}?", f"{long} again?") == ["kept", "near-duplicate"]


def test_one_other_word_in_a_short_question_is_another_question() -> None:
    assert steps("May I drink coffee in the morning?", "May I drink alcohol in the morning?") == ["kept", "kept"]


@pytest.mark.parametrize("text", ["Why?", "Thanks for all your help.", "what " * 61])
def test_what_can_not_be_asked_is_no_question(text: str) -> None:
    assert steps(text) == ["no question"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Can I write to jane.doe@example.org?", "e-mail address"),
        ("Can you call me at (555) 123-4567?", "phone number"),
        ("My surgery was on 03/14/2024, when can I drive?", "date"),
        ("I am MRN 1234567, is my result in?", "record number"),
        ("Did Dr. Smith say that I can drive?", "name"),
        ("Can a 54-year-old get a kidney?", "age"),
        ("I am 54 and tired, can I drive?", "age"),
        ("Since March 3, 2024 I itch, is that normal?", "date"),
        ("On 3 May I had surgery, may I swim?", "date"),
        ("My SSN? 123-45-6789, is that needed?", "social security number"),
    ],
)
def test_what_may_point_to_a_person_is_flagged(text: str, kind: str) -> None:
    assert personal_data(text) == (kind,)


def test_a_plain_question_is_not_flagged() -> None:
    assert personal_data("How long after 6 weeks at 120/80 may I lift 10 pounds?") == ()


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=40), max_size=12))
def test_every_candidate_ends_in_one_step_and_what_is_kept_is_kept_again(texts: list[str]) -> None:
    decisions = curate([Question(f"q{n}", text) for n, text in enumerate(texts)])
    counts = step_counts(decisions)
    kept = [decision.question for decision in decisions if decision.step == "kept"]
    assert counts["candidates"] == len(texts) == sum(counts.values()) - counts["candidates"] - counts["flagged"]
    assert [decision.step for decision in curate(kept)] == ["kept"] * len(kept)


def test_articles_and_possessives_tell_no_two_questions_apart() -> None:
    assert steps("How much may I drink after a transplant?", "How much may I drink after my transplant?") == [
        "kept",
        "near-duplicate",
    ]


def test_the_kept_one_of_two_duplicates_takes_over_the_other_ones_groups() -> None:
    kept, gone = curate(
        [Question("a", "May I drive?", ("kidney",)), Question("b", "may I drive", ("liver",), ("life",))]
    )
    assert (kept.question.groups, kept.question.topics, gone.why) == (("kidney", "liver"), ("life",), "of a")


def test_a_duplicate_of_a_general_question_leaves_it_general() -> None:
    kept, _ = curate([Question("a", "May I drive?", ("kidney",)), Question("b", "May I drive?")])
    assert kept.question.groups == ()


def test_questions_of_different_groups_are_no_near_duplicates() -> None:
    text = "How many weeks after the operation may I go back to work and lift heavy things"
    found = curate([Question("a", f"{text}?", ("kidney",)), Question("b", f"{text} again?", ("liver",))])
    assert [one.step for one in found] == ["kept", "kept"]


def test_limits_can_be_set() -> None:
    near = "May I drink coffee in the morning?", "May I drink alcohol in the morning?"
    found = curate([Question(str(n), text) for n, text in enumerate(near)], Limits(near=0.5, min_words=2))
    assert [one.step for one in found] == ["kept", "near-duplicate"]


def test_a_near_duplicate_of_a_question_that_took_over_groups_is_found_under_them() -> None:
    long = "How many weeks after the operation may I go back to work and lift heavy things"
    found = curate(
        [
            Question("a", f"{long}?", ("kidney",)),
            Question("b", f"{long}?", ("liver",)),
            Question("c", f"{long} again?", ("kidney", "liver")),
        ]
    )
    assert [one.step for one in found] == ["kept", "duplicate", "near-duplicate"]


def test_questions_that_differ_by_a_sign_are_two() -> None:
    assert steps("Is a level > 5 dangerous?", "Is a level < 5 dangerous?") == ["kept", "kept"]
