import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from transplantqa.generation import Domain, Prompt
from transplantqa.judging import Pair, StructuredJudge, verdict_schema
from transplantqa.models.protocols import Completion, Request
from transplantqa.records import Label, Outcome

PROMPT = Prompt(
    name="p", version=1, system="Judge for a $reader.", user="Q: $question\n1: $first_answer\n2: $second_answer"
)
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


class Fixed:
    """A model that gives every request the same reply."""

    context_tokens = 4096

    def __init__(self, reply: str, outcome: Outcome = Outcome.OK) -> None:
        self.reply, self.outcome = reply, outcome

    def identity(self) -> dict[str, Any]:
        return {"engine": "fixed"}

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def generate(self, requests: Iterable[Request]) -> Iterator[Completion]:
        for request in requests:
            yield Completion(request.id, self.outcome, self.reply, raw=self.reply)

    def close(self) -> None:
        pass


def judge(reply: str = "", **options: Any) -> StructuredJudge:
    outcome = options.pop("outcome", Outcome.OK)
    return StructuredJudge(model=Fixed(reply, outcome), prompt=PROMPT, domain=DOMAIN, **options)


def reply(label: str, silent: str | None = None) -> str:
    fields = {"reasoning": "r", "label": label, "divergence_topic": "t", "significance": "low", "silent_answer": silent}
    return json.dumps(fields)


@pytest.mark.parametrize(("shown_first", "expected"), [("a", "1: left\n2: right"), ("b", "1: right\n2: left")])
def test_the_pair_says_which_answer_is_shown_first(
    make_pair: Callable[..., Pair], shown_first: str, expected: str
) -> None:
    assert judge().messages(make_pair("left", "right", shown_first=shown_first))[-1].content.endswith(expected)


@pytest.mark.parametrize(("view", "shown"), [("strip", "1: Rest."), ("keep", "1: Rest. [Rest, p. 3]")])
def test_citations_are_shown_or_not_as_configured(make_pair: Callable[..., Pair], view: str, shown: str) -> None:
    content = judge(citations=view).messages(make_pair("Rest. [Rest, p. 3]", "x"))[-1].content
    assert content.split("\n")[1] == shown


@pytest.mark.parametrize(
    ("shown_first", "silent", "side"),
    [("a", "first", "a"), ("a", "second", "b"), ("b", "first", "b"), ("b", "both", "both"), ("a", None, None)],
)
def test_an_absent_verdict_names_the_silent_side_of_the_pair(
    make_pair: Callable[..., Pair], shown_first: str, silent: str | None, side: str | None
) -> None:
    judgement = next(judge(reply("ABSENT", silent)).judge([make_pair("x", "y", shown_first=shown_first)]))
    assert (judgement.label, judgement.silent_side) == (Label.ABSENT, side)


def test_an_unreadable_reply_is_a_failed_judgement_with_its_raw_text(make_pair: Callable[..., Pair]) -> None:
    judgement = next(judge("They are NOT CONTRADICTORY.").judge([make_pair("x", "y")]))
    assert (judgement.outcome, judgement.label, judgement.raw) == (
        Outcome.PARSE_FAILED,
        None,
        "They are NOT CONTRADICTORY.",
    )


def test_the_engines_failure_is_not_read_even_when_it_looks_whole(make_pair: Callable[..., Pair]) -> None:
    judgement = next(judge(reply("DIVERGENT"), outcome=Outcome.OUTPUT_TRUNCATED).judge([make_pair("x", "y")]))
    assert (judgement.outcome, judgement.label) == (Outcome.OUTPUT_TRUNCATED, None)


@pytest.mark.parametrize("raw", [reply("DIVERGENT"), reply("ABSENT", "first"), "nothing"])
def test_parsing_again_from_raw_changes_nothing(make_pair: Callable[..., Pair], raw: str) -> None:
    judgement = next(judge(raw).judge([make_pair("x", "y", shown_first="b")]))
    assert judge().reread(judgement) == judgement


def test_every_pair_of_a_stream_is_judged_once(make_pair: Callable[..., Pair]) -> None:
    pairs = [make_pair("x", "y", shown_first=side, replicate=n) for side in ("a", "b") for n in range(2)]
    judged = [(item.shown_first, item.replicate) for item in judge(reply("CONSISTENT")).judge(pairs)]
    assert judged == [("a", 0), ("a", 1), ("b", 0), ("b", 1)]


def test_the_seed_is_part_of_the_method_only_where_it_decides() -> None:
    assert judge(order="fixed", seed=1).identity() == judge(order="fixed", seed=2).identity()
    assert judge(order="random", seed=1).identity() != judge(order="random", seed=2).identity()


def test_the_schema_has_its_enums_in_place_and_allows_nothing_else() -> None:
    schema = verdict_schema(200)
    assert "$ref" not in json.dumps(schema)
    assert schema["required"] == ["reasoning", "label", "divergence_topic", "significance", "silent_answer"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["label"]["enum"] == [str(label) for label in Label]
