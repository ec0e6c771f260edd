import json

import pytest

from transplantqa.judging.group_parsing import parse_group
from transplantqa.records import Label, Outcome

A, B = {"label": "CONSISTENT"}, {"label": "DIVERGENT", "divergence_topic": "time", "significance": "low"}
BOTH = json.dumps({"1": A, "2": B})
OK, BAD, CUT = Outcome.OK, Outcome.PARSE_FAILED, Outcome.OUTPUT_TRUNCATED


LISTS = '{"1":["consistent"],"2":["They clash.","DIVERGENT","time","low"],"3":["ABSENT","second"]}'


def test_a_list_is_read_by_its_label_reasoning_before_it_and_details_after_it() -> None:
    one, two, three = parse_group(LISTS, 3)
    assert (one.label, one.reasoning) == (Label.CONSISTENT, None)
    stated = (two.label, two.reasoning, two.divergence_topic, two.significance)
    assert stated == (Label.DIVERGENT, "They clash.", "time", "low")
    assert (three.label, three.silent_shown) == (Label.ABSENT, "second")


@pytest.mark.parametrize(
    "items",
    [[], ["NOT CONTRADICTORY"], ["CONSISTENT", "DIVERGENT", "low"], ["CONSISTENT", "low"], ["a", "b", "ABSENT"]],
)
def test_a_list_without_one_label_in_its_place_is_refused(items: list[str]) -> None:
    assert labels(json.dumps({"1": items, "2": ["CONSISTENT"]})) == [BAD, "CONSISTENT"]


def test_of_a_cut_reply_the_lists_that_stand_whole_are_read() -> None:
    assert labels(LISTS[:-12], 3, cut=True) == ["CONSISTENT", "DIVERGENT", CUT]


def labels(raw: str, size: int = 2, *, cut: bool = False) -> list[str | Outcome]:
    return [str(one.label) if one.outcome is OK else one.outcome for one in parse_group(raw, size, cut=cut)]


@pytest.mark.parametrize(
    "raw",
    [
        BOTH,
        f"Here you are:\n```json\n{BOTH}\n```\nDone.",
        f"<think>maybe {json.dumps({'1': B})}</think>{BOTH}",
        json.dumps({"2": B, "1": A}),
        BOTH + BOTH,
    ],
)
def test_every_number_gets_its_own_verdict(raw: str) -> None:
    assert labels(raw) == ["CONSISTENT", "DIVERGENT"]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (json.dumps({"1": A}), ["CONSISTENT", BAD]),
        (json.dumps({"1": {"label": "not contradictory"}, "2": B}), [BAD, "DIVERGENT"]),
        (json.dumps({"1": "CONSISTENT", "2": B}), [BAD, "DIVERGENT"]),
        ('{"1":{"label":"CONSISTENT","label":"DIVERGENT"},"2":{"label":"CONSISTENT"}}', [BAD, "CONSISTENT"]),
        ('{"1":{"label":"CONSISTENT"},"1":{"label":"ABSENT"},"2":{"label":"CONSISTENT"}}', [BAD, "CONSISTENT"]),
        ('{"1":{"label":"CONSISTENT",},"2":{"label":"ABSENT"}}', [BAD, "ABSENT"]),
        ("", [BAD, BAD]),
        ("CONSISTENT, DIVERGENT", [BAD, BAD]),
        (BOTH + json.dumps({"1": B, "2": B}), [BAD, BAD]),
    ],
)
def test_a_bad_verdict_fails_only_itself_and_two_replies_fail_all(raw: str, expected: list[object]) -> None:
    assert labels(raw) == expected


def test_a_cut_reply_gives_the_verdicts_that_stand_whole() -> None:
    raw = json.dumps({"1": A, "2": B, "3": A})
    assert labels(raw[: raw.index('"3"') + 8], 3, cut=True) == ["CONSISTENT", "DIVERGENT", CUT]


def test_a_verdict_quoted_inside_reasoning_is_no_verdict() -> None:
    decoy = {"reasoning": 'It could be {"1": {"label": "ABSENT"}}, but no.', **A}
    assert labels(json.dumps({"1": decoy, "2": B})) == ["CONSISTENT", "DIVERGENT"]
    cut = json.dumps({"1": decoy, "2": B})[:-20]
    assert labels(cut, cut=True) == ["CONSISTENT", CUT]


def test_unclosed_reasoning_fails_all() -> None:
    assert labels("<think>" + BOTH) == [Outcome.REASONING_UNCLOSED] * 2
