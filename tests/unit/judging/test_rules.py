from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transplantqa.judging import Pair, RulesJudge
from transplantqa.judging.rules import topic
from transplantqa.records import Label

JUDGE = RulesJudge(consistent_from=0.5, consistent_with_numbers_from=0.3)


@pytest.mark.parametrize(
    ("a", "b", "label"),
    [
        ("Do not eat raw fish or eggs.", "You may eat raw fish when it is fresh.", Label.CONTRADICTORY),
        ("Keep away from pets for six weeks.", "Keep away from pets for three months.", Label.DIVERGENT),
        ("Drive again after six weeks.", "Driving is fine again after 6 weeks.", Label.CONSISTENT),
        ("Bring your pill list.", "Come fasting and on time.", Label.COMPLEMENTARY),
    ],
)
def test_each_rule_gives_its_label(a: str, b: str, label: Label) -> None:
    assert JUDGE.label(a, b)[0] is label


def test_citations_are_not_content() -> None:
    assert JUDGE.label("Rest well. [Rest, p. 9]", "Rest well. [Sleep, p. 12]")[0] is Label.CONSISTENT


TEXTS = st.lists(
    st.sampled_from(
        [
            "do not",
            "may",
            "never",
            "eat",
            "fish",
            "raw",
            "six",
            "weeks",
            "3",
            "times a week",
            ".",
            "You",
            "safe",
            "mg",
            "\n-",
        ]
    ),
    max_size=14,
).map(" ".join)


@given(TEXTS, TEXTS)
def test_the_label_is_the_same_whichever_answer_comes_first(a: str, b: str) -> None:
    assert JUDGE.label(a, b)[0] is JUDGE.label(b, a)[0]


@given(st.text(max_size=100), st.text(max_size=100))
def test_any_two_texts_get_the_same_label_both_ways(a: str, b: str) -> None:
    assert JUDGE.label(a, b)[0] is JUDGE.label(b, a)[0] is not Label.ABSENT


def test_a_conflict_has_topic_and_significance_and_other_labels_have_not(make_pair: Callable[..., Pair]) -> None:
    pairs = [
        make_pair("Keep away from pets for six weeks.", "Keep away from pets for a year."),
        make_pair("Bring your pill list.", "Come fasting."),
    ]
    judged = [replace(item, seconds=0.0) for item in JUDGE.judge(pairs)]
    assert [(item.label, item.divergence_topic, item.significance) for item in judged] == [
        (Label.DIVERGENT, "keep away from pets", "low"),
        (Label.COMPLEMENTARY, None, None),
    ]


def test_a_conflict_with_a_word_of_danger_is_grave(make_pair: Callable[..., Pair]) -> None:
    judge = RulesJudge(consistent_from=0.5, consistent_with_numbers_from=0.3, danger_words=("flood",))
    pairs = [
        make_pair("After a flood stay out for six weeks.", "After a flood stay out for a year."),
        make_pair("Keep away from pets for six weeks.", "Keep away from pets for a year."),
    ]
    assert [item.significance for item in judge.judge(pairs)] == ["high", "low"]


def test_the_topic_falls_back_on_the_question() -> None:
    assert topic("When may I swim again?", "Six weeks.", "Three months.") == "swim"
