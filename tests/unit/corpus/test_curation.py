"""From raw candidates to a question set: what goes, why, and what is flagged."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transplantqa.corpus.curate_command import main
from transplantqa.corpus.curation import curate, personal_data, step_counts
from transplantqa.corpus.questions import QuestionFile
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


def test_the_command_writes_a_question_file_and_a_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "raw.csv"
    source.write_text('id,text,groups\na,"When may I drive, and ""far""?",kidney|liver\nb,Thanks,\n', encoding="utf-8")
    assert main([str(source), f"out={tmp_path / 'out'}"]) == 0
    (question,) = QuestionFile(path=str(tmp_path / "out" / "questions.csv")).load()
    log = [json.loads(line) for line in (tmp_path / "out" / "log.jsonl").read_text(encoding="utf-8").split("\n")[:-1]]
    assert (question.question_id, question.text, question.groups) == (
        "a",
        'When may I drive, and "far"?',
        ("kidney", "liver"),
    )
    assert [(line["question_id"], line["step"], line["why"]) for line in log] == [
        ("a", "kept", ""),
        ("b", "no question", "fewer than 3 words"),
    ]
    assert "no question            1" in capsys.readouterr().out
