import json
import re
from collections.abc import Callable

import pytest

from transplantqa.generation import Domain, Prompt
from transplantqa.judging import LabelOnlyJudge, Pair
from transplantqa.models import Scripted
from transplantqa.records import Label, Outcome

USER = "Q: $question\n1: $first_answer\n2: $second_answer"
DOMAIN = Domain(
    name="test",
    document_noun="leaflet",
    institution_noun="office",
    group_noun="branch",
    general_label="general",
    role="a clerk",
    reader="visitor",
    abstention="NOT ADDRESSED",
)


def judge(label: str, details: str = '{"divergence_topic":"time","significance":"low"}') -> LabelOnlyJudge:
    return LabelOnlyJudge(
        model=Scripted(replies={"They are": details, "^Q:": label}),
        prompt=Prompt(name="l", version=1, system="Label.", user=USER),
        details_prompt=Prompt(name="d", version=1, system="Why.", user=USER + "\nThey are $label"),
        domain=DOMAIN,
    )


@pytest.mark.parametrize("label", list(Label))
def test_only_conflicts_get_a_second_call(make_pair: Callable[..., Pair], label: Label) -> None:
    made = judge(json.dumps({"label": label}))
    (judgement,) = made.judge([make_pair("x", "y")])
    conflict = label in {Label.DIVERGENT, Label.CONTRADICTORY}
    assert judgement.label is label
    assert (judgement.divergence_topic, judgement.significance) == (("time", "low") if conflict else (None, None))
    assert made._model.calls == 1 + conflict  # type: ignore[attr-defined]


def test_an_unreadable_label_fails_and_costs_no_second_call(make_pair: Callable[..., Pair]) -> None:
    made = judge("It is NOT DIVERGENT")
    (judgement,) = made.judge([make_pair("x", "y")])
    assert (judgement.outcome, judgement.label) == (Outcome.PARSE_FAILED, None)
    assert made._model.calls == 1  # type: ignore[attr-defined]


def test_an_unreadable_second_reply_leaves_the_label_and_says_so(make_pair: Callable[..., Pair]) -> None:
    (judgement,) = judge('{"label":"DIVERGENT"}', "it matters a lot").judge([make_pair("x", "y")])
    assert (judgement.outcome, judgement.label, judgement.significance) == (Outcome.OK, Label.DIVERGENT, None)
    assert re.search("second reply", judgement.error or "")


def test_the_cost_of_both_calls_is_the_pairs(make_pair: Callable[..., Pair]) -> None:
    (agreed,) = judge('{"label":"CONSISTENT"}').judge([make_pair("x", "y")])
    (differ,) = judge('{"label":"DIVERGENT"}').judge([make_pair("x", "y")])
    assert differ.completion_tokens == agreed.completion_tokens + 1
    assert differ.prompt_tokens > 2 * agreed.prompt_tokens


@pytest.mark.parametrize("label", ["DIVERGENT", "CONSISTENT"])
def test_reading_both_replies_again_changes_nothing(make_pair: Callable[..., Pair], label: str) -> None:
    made = judge(json.dumps({"label": label}))
    (judgement,) = made.judge([make_pair("x", "y", shown_first="b")])
    assert made.reread(judgement) == judgement


def test_every_pair_of_a_stream_is_judged_once(make_pair: Callable[..., Pair]) -> None:
    pairs = [make_pair("x", "y", question_id=f"q{n}") for n in range(5)]
    judged = judge('{"label":"DIVERGENT"}').judge(pairs)
    assert sorted(one.question_id for one in judged) == [f"q{n}" for n in range(5)]
