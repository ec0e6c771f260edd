from pathlib import Path

import pytest

from transplantqa.controls.drawing import Drawn
from transplantqa.controls.ratios import Resampling
from transplantqa.controls.same_source import (
    SecondAnswer,
    null_figures,
    null_sentences,
    read_paraphrases,
    varied,
)
from transplantqa.errors import ConfigError, InputError
from transplantqa.records import Answer, Judgement, Label, Outcome, Question

HOW = Resampling(100, 0, 0.95)


def second(question: str, outcome: Outcome, label: Label | None, probability: float = 0.5) -> Drawn[SecondAnswer]:
    judgement = None if label is None else Judgement(question, "d", "d", Outcome.OK, "a", label)
    return Drawn(SecondAnswer(question, "d", Answer(question, "d", outcome, "t"), judgement), probability)


FOUND = [
    second("q1", Outcome.OK, Label.CONSISTENT),
    second("q2", Outcome.OK, Label.DIVERGENT),
    second("q3", Outcome.OK, Label.COMPLEMENTARY, 0.25),
    second("q4", Outcome.OK, Label.ABSENT),
    second("q5", Outcome.ABSTAINED, None),
    second("q6", Outcome.ENGINE_ERROR, None),
]


def test_the_null_is_the_weighted_share_of_conflicts_among_visible_pairs() -> None:
    found = null_figures(FOUND, HOW)
    assert found["null_divergence_rate"].value == pytest.approx(2 / 8)
    assert found["null_divergence_rate"].n == 3


def test_failures_are_in_no_rate() -> None:
    assert null_figures(FOUND, HOW)["null_silence_rate"].value == pytest.approx(2 / 12)


def test_the_headline_is_shown_with_the_null_and_over_it() -> None:
    said = " ".join(null_sentences(FOUND, null_figures(FOUND, HOW), {"divergence_rate": 0.4}, "paraphrase"))
    assert "0.400 between documents, 0.250 within one, +0.150 over the null" in said
    assert "Second answers that failed, of 6: 1 engine_error." in said


def test_where_nothing_could_be_judged_it_is_said_why() -> None:
    failed = [second("q", Outcome.PARSE_FAILED, None), second("r", Outcome.ABSTAINED, None)]
    assert null_sentences(failed, null_figures(failed, HOW), {}, "seed") == [
        "Same-source null (seed): no pair of answers of one document could be judged.",
        "Second answers that failed, of 2: 1 parse_failed.",
    ]


def test_a_greedy_generator_has_no_other_seed_and_one_without_prompt_no_other_prompt() -> None:
    greedy = {"generator": {"model": {"temperature": 0.0, "seed": 0}}}
    with pytest.raises(ConfigError, match="draws nothing at random"):
        varied(greedy, "seed", None)
    with pytest.raises(ConfigError, match="no prompt"):
        varied(greedy, "prompt", {"name": "other"})


def test_another_seed_is_the_only_thing_that_changes() -> None:
    sampled = {"generator": {"model": {"temperature": 0.5, "seed": 3}, "prompt": 1}}
    changed = varied(sampled, "seed", None)
    assert changed == {"generator": {"model": {"temperature": 0.5, "seed": 4}, "prompt": 1}}
    assert sampled["generator"]["model"]["seed"] == 3  # type: ignore[index]


def test_paraphrases_keep_the_question_and_change_its_words(tmp_path: Path) -> None:
    file = tmp_path / "p.csv"
    file.write_text("question_id,text\nq1,Other words?\nq9,Unknown\n", encoding="utf-8")
    questions = {"q1": Question("q1", "Words?", ("g",)), "q2": Question("q2", "More?")}
    assert read_paraphrases(file, questions) == {"q1": Question("q1", "Other words?", ("g",))}
    with pytest.raises(InputError, match="no other words"):
        read_paraphrases(file, {"q2": questions["q2"]})
