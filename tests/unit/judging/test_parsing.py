import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transplantqa.judging import parse
from transplantqa.records import CONFLICT_LABELS, Label, Outcome


def stated(**changes: Any) -> str:
    reply = {
        "reasoning": "One says 3, the other 4.",
        "label": "DIVERGENT",
        "divergence_topic": "days",
        "significance": "medium",
        "silent_answer": None,
    }
    return json.dumps(reply | changes)


@pytest.mark.parametrize(
    "raw",
    [
        stated(),
        f"```json\n{stated()}\n```",
        f"Here is my verdict: {stated()} I hope {{this}} helps.",
        f'<think>maybe {{"label": "CONSISTENT"}}?</think>\n{stated()}',
        f'maybe {{"label": "CONSISTENT"}}?</think>{stated()}',
        f"{stated()}\n{stated()}",
        stated(label=" divergent "),
        '{"label": "DIVERGENT", "rationale": "line one\nline\ttwo"}',
        f'{{"note": 1}} {stated()}',
        stated(reasoning='Not {"label": "CONSISTENT"}, nor "label": "ABSENT".'),
    ],
    ids=[
        "plain",
        "fenced",
        "prose",
        "decoy in thoughts",
        "no opening tag",
        "repeated",
        "spelling",
        "raw newline",
        "other object",
        "decoy in the reasoning",
    ],
)
def test_a_label_stated_once_is_read(raw: str) -> None:
    assert parse(raw).label is Label.DIVERGENT


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        ("", "empty reply"),
        ("The answers are NOT CONTRADICTORY.", "no JSON object"),
        (stated(label="CONFLICTING"), "unknown label"),
        (stated(label="NOT CONTRADICTORY"), "unknown label"),
        (stated(label="4. Divergent"), "unknown label"),
        (stated(label=None), "unknown label"),
        (stated(label=["DIVERGENT"]), "unknown label"),
        (f"{stated()}\n{stated(label='CONSISTENT')}", "several different"),
        ('{"label":"CONSISTENT","label":"DIVERGENT"}', "key given twice"),
        ('{"label":"CONSISTENT","Label":"DIVERGENT"}', "key given twice"),
        ('{"verdict": {"label": "DIVERGENT"}}', "no JSON object with a label"),
        ('[{"label": "DIVERGENT"}, {"label": "CONSISTENT"}]', "several different"),
        ("{'label': 'DIVERGENT',}", "malformed"),
        ('{label: "CONTRADICTORY"}\n' + stated(), "malformed"),
        ('{"label": "DIVERGENT", "reasoning": "cut', "malformed"),
        ('{"candidates": [{"label": "DIVERGENT"}, {"la', "malformed"),
        ('{"label": "DIVERGENT", "topics": [' + "\n " * 500, "malformed"),
        ("{" * 5000, "malformed"),
    ],
)
def test_what_is_not_stated_plainly_is_a_failure_with_its_reason(raw: str, why: str) -> None:
    parsed = parse(raw)
    assert (parsed.outcome, parsed.label) == (Outcome.PARSE_FAILED, None)
    assert why in (parsed.error or "")


def test_reasoning_that_never_ends_is_its_own_failure() -> None:
    parsed = parse('<think>I lean to {"label": "CONSISTENT"} because')
    assert (parsed.outcome, parsed.label) == (Outcome.REASONING_UNCLOSED, None)


@pytest.mark.parametrize("label", list(Label))
def test_significance_belongs_to_conflict_alone(label: Label) -> None:
    assert parse(stated(label=label)).significance == ("medium" if label in CONFLICT_LABELS else None)


@pytest.mark.parametrize("value", ["severe", "", 3, None, ["high"]])
def test_an_unknown_significance_is_dropped_and_the_label_kept(value: object) -> None:
    parsed = parse(stated(significance=value))
    assert (parsed.label, parsed.significance) == (Label.DIVERGENT, None)


@pytest.mark.parametrize(("label", "shown"), [("ABSENT", "second"), ("CONSISTENT", None)])
def test_the_silent_answer_is_read_for_absent_alone(label: str, shown: str | None) -> None:
    assert parse(stated(label=label, silent_answer="Second")).silent_shown == shown


def test_the_field_names_of_kindred_judges_are_understood() -> None:
    raw = '{"label": "DIVERGENT", "topics": ["dose", "time"], "clinical_significance": "High", "rationale": "x"}'
    parsed = parse(raw)
    assert (parsed.divergence_topic, parsed.significance, parsed.reasoning) == ("dose; time", "high", "x")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.sampled_from(list(Label)),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["label", "reasoning", "x"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.lists(st.one_of(st.text(max_size=20), JSON.map(json.dumps), st.sampled_from(list(Label))), max_size=5))
def test_a_label_is_never_returned_that_was_not_stated(parts: list[str]) -> None:
    raw = " ".join(parts)
    parsed = parse(raw)
    assert (parsed.label is not None) == (parsed.outcome is Outcome.OK)
    assert parsed.label is None or f'"label": "{parsed.label}"' in raw


@given(st.text())
def test_free_text_never_becomes_a_label(text: str) -> None:
    assert parse(text).label is None or "{" in text
