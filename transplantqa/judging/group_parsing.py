"""Reads the reply to a group of pairs: a JSON object with one verdict a number, where a bad verdict fails only itself.

A verdict is a list, as the schema asks, or an object with the structured judge's fields.

A reply that decodes as a whole is read by its numbers: a number that is missing, given twice, or whose verdict says
no label fails alone. Of a reply that is cut off or malformed, the verdicts that stand whole after their number are
read; a number that has several different ones is refused. Two different objects that hold verdicts refuse all.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from transplantqa.judging.parsing import LONGEST_REPLY, Parsed, parse_object
from transplantqa.models.reasoning import split_reasoning
from transplantqa.records import CONFLICT_LABELS, Label, Outcome

_LABELS = frozenset(Label.__members__)
_TWICE = object()
"""Stands for the value of a key that is given twice."""


def parse_group(raw: str, size: int, *, cut: bool = False) -> list[Parsed]:
    """Read the verdicts on the other answers numbered 1 to ``size``.

    Args:
        raw: the reply.
        size: verdicts asked for.
        cut: the reply reached its limit, so that verdicts not there are ``output_truncated``.
    """
    reply = split_reasoning(raw)
    if not reply.closed:
        failed = Parsed(Outcome.REASONING_UNCLOSED, reasoning=reply.reasoning, error="no answer after the reasoning")
        return [failed] * size
    text = reply.text[: LONGEST_REPLY * size]
    wholes = _wholes(text, size)
    if any(whole != wholes[0] for whole in wholes[1:]):
        return [Parsed(Outcome.PARSE_FAILED, error="several different JSON objects with verdicts")] * size
    return [_verdict(text, str(place), wholes[0] if wholes else None, cut) for place in range(1, size + 1)]


def _verdict(text: str, place: str, whole: Mapping[str, Any] | None, cut: bool) -> Parsed:
    found = _pieces(text, place) if whole is None else [whole[place]] if place in whole else []
    if not found:
        outcome = Outcome.OUTPUT_TRUNCATED if cut else Outcome.PARSE_FAILED
        return Parsed(outcome, error=f"no verdict on answer {place}")
    if any(item != found[0] for item in found[1:]):
        return Parsed(Outcome.PARSE_FAILED, error=f"several different verdicts on answer {place}")
    item = _fields(found[0]) if isinstance(found[0], list) else found[0]
    if not isinstance(item, Mapping) or any(value is _TWICE for value in item.values()):
        return Parsed(Outcome.PARSE_FAILED, error=f"answer {place} has no single verdict")
    return parse_object(item)


def _fields(items: list[Any]) -> dict[str, Any] | None:
    """Name the items of a list: what stands before its only label is reasoning, what follows is the label's."""
    at = [place for place, item in enumerate(items) if isinstance(item, str) and item.strip().upper() in _LABELS]
    if len(at) != 1:
        return None
    label = Label[items[at[0]].strip().upper()]
    before, after = items[: at[0]], items[at[0] + 1 :]
    conflict, silent = ("topic", "significance"), ("silent_answer",)
    names = conflict if label in CONFLICT_LABELS else silent if label is Label.ABSENT else ()
    if len(before) > 1 or len(after) > len(names):
        return None
    return {
        **dict(zip(("reasoning",), before, strict=False)),
        "label": label.name,
        **dict(zip(names, after, strict=False)),
    }


def _wholes(text: str, size: int) -> list[Mapping[str, Any]]:
    """Return every outermost object that decodes and has a verdict's number among its keys."""
    numbers = {str(place) for place in range(1, size + 1)}
    decoder = json.JSONDecoder(strict=False, object_pairs_hook=_folded)
    found: list[Mapping[str, Any]] = []
    position = text.find("{")
    while position >= 0:
        try:
            value, end = decoder.raw_decode(text, position)
        except (json.JSONDecodeError, RecursionError):
            return found
        if isinstance(value, Mapping) and numbers & value.keys():
            found.append(value)
        position = text.find("{", end)
    return found


def _pieces(text: str, place: str) -> list[Any]:
    """Return every list and object that stands whole after the number ``place`` as a key."""
    decoder = json.JSONDecoder(strict=False, object_pairs_hook=_folded)
    found = []
    for match in re.finditer(rf'(?<!\\)"{place}"\s*:\s*(?=[\[{{])', text):
        try:
            value, _ = decoder.raw_decode(text, match.end())
        except (json.JSONDecodeError, RecursionError):
            continue
        found.append(value)
    return found


def _folded(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    folded: dict[str, Any] = {}
    for key, value in pairs:
        name = key.strip().casefold()
        folded[name] = _TWICE if name in folded else value
    return folded
