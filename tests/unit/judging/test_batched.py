import json
from collections.abc import Callable
from itertools import combinations

import pyarrow as pa
import pytest

from transplantqa.generation import Domain, Prompt
from transplantqa.judging import BatchedJudge, Pair
from transplantqa.judging.groups import Groups
from transplantqa.models import Scripted
from transplantqa.records import Answer, Label, Outcome, Question

PROMPT = Prompt(name="b", version=1, system="Judge.", user="Q: $question\nFirst: $first_answer\n$other_answers")
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
REPLY = {"1": {"label": "CONSISTENT"}, "2": {"label": "ABSENT", "silent_answer": "second"}, "3": {"label": "nothing"}}


def judge(reply: object) -> BatchedJudge:
    text = reply if isinstance(reply, str) else json.dumps(reply)
    return BatchedJudge(model=Scripted(replies={"Q:": text}), prompt=PROMPT, domain=DOMAIN, group_size=3)


def pairs(count: int = 3, group: int = 1) -> list[Pair]:
    answers = [Answer("q", f"d{n}", Outcome.OK, f"text {n} [Rest, p. {n}]") for n in range(count + 1)]
    return [Pair(Question("q", "What?"), answers[0], other, "a", 0, group) for other in answers[1:]]


def test_one_call_gives_a_result_a_pair_and_a_bad_one_fails_only_itself() -> None:
    made = judge(REPLY)
    judged = list(made.judge(pairs()))
    assert [(one.document_b, one.outcome, one.label) for one in judged] == [
        ("d1", Outcome.OK, Label.CONSISTENT),
        ("d2", Outcome.OK, Label.ABSENT),
        ("d3", Outcome.PARSE_FAILED, None),
    ]
    assert judged[1].silent_side == "b"
    assert made._model.calls == 1  # type: ignore[attr-defined]


def test_the_others_are_numbered_and_citations_are_not_shown() -> None:
    content = judge(REPLY).messages(pairs(2))[-1].content
    assert content.endswith("First: text 0\nAnswer 1: text 1\nAnswer 2: text 2")


def test_what_a_call_costs_is_shared_out_whole() -> None:
    model = Scripted(replies={"Q:": json.dumps(REPLY)})
    judged = list(BatchedJudge(model=model, prompt=PROMPT, domain=DOMAIN, group_size=3).judge(pairs()))
    request = judge(REPLY).group_request(pairs())
    assert sum(one.prompt_tokens for one in judged) == sum(model.count_tokens(m.content) for m in request.messages)


def test_every_verdict_can_be_read_again_by_its_place() -> None:
    made = judge(REPLY)
    for place, judgement in enumerate(made.judge(pairs()), start=1):
        assert made.reread(judgement, place) == judgement


def test_an_overflowing_group_fails_as_a_whole() -> None:
    model = Scripted(context_tokens=50)
    judged = BatchedJudge(model=model, prompt=PROMPT, domain=DOMAIN, group_size=3).judge(pairs())
    assert {one.outcome for one in judged} == {Outcome.CONTEXT_OVERFLOW}


def plan(documents: int, shown_first: Callable[[str, str], str] = lambda _a, _b: "a") -> pa.Table:
    names = [f"d{n:02}" for n in range(documents)]
    rows = [
        {
            "question_id": "q",
            "document_a": a,
            "document_b": b,
            "variant": "default",
            "shown_first": shown_first(a, b),
            "replicate": 0,
            "inputs_sha256": f"{a}{b}",
        }
        for a, b in combinations(names, 2)
    ]
    return pa.Table.from_pylist(rows)


def test_groups_hold_pairs_that_show_the_same_answer_first_at_most_so_many() -> None:
    table = plan(6)
    groups = Groups(table, 2)
    members: dict[int, list[tuple[str, str]]] = {}
    for number, row in zip(groups.numbers.tolist(), table.to_pylist(), strict=True):
        members.setdefault(number, []).append((row["document_a"], row["document_b"]))
    assert [len(group) for group in members.values()] == [2, 2, 1, 2, 2, 2, 1, 2, 1]
    assert all(len({first for first, _ in group}) == 1 for group in members.values())


@pytest.mark.parametrize("pending", [1, 4, 9])
def test_a_group_is_the_plans_whatever_of_it_is_pending(pending: int) -> None:
    table = plan(6)
    groups = Groups(table, 3)
    keys = [tuple(row.values())[:-1] for row in table.to_pylist()]
    company = groups.company([keys[pending]])
    assert [groups.numbers[row] for row in company] == [groups.numbers[pending]] * len(company)
    assert pending in company
    assert sorted(groups.places[company]) == list(range(1, len(company) + 1))


def test_the_inputs_of_a_verdict_name_its_whole_group_and_no_other() -> None:
    before = plan(6)
    changed = before.set_column(
        6,
        "inputs_sha256",
        pa.array(["new" if name == "d00d01" else name for name in before["inputs_sha256"].to_pylist()]),
    )
    made = [Groups(table, 2).with_inputs()["inputs_sha256"].to_pylist() for table in (before, changed)]
    numbers = Groups(before, 2).numbers
    assert [old != new for old, new in zip(*made, strict=True)] == (numbers == numbers[0]).tolist()
    assert len(set(made[0])) == len(made[0])


def test_a_plan_without_pairs_has_no_groups() -> None:
    groups = Groups(plan(6).slice(0, 0), 3)
    assert (len(groups.with_inputs()), groups.numbers.tolist()) == (0, [])
