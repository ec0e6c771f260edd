"""Reads a judge's raw reply, trusting nothing: what is not stated once and plainly is a failure, never a label.

Read: one JSON object that has a ``label``, alone or inside prose or fences, after any reasoning. Case and blanks
around a label do not count; line breaks inside strings are allowed; the field names of kindred judges are understood
(``rationale``, ``topics``, ``clinical_significance``). An object that repeats another word for word is no second
opinion.

Refused: no object; an object cut off or not JSON (single quotes, bare keys, trailing commas); a key given twice; two
objects that differ; a label inside a nested object; a label that is not one of the five, numbered ones
("2. Complementary") included; a significance outside low/medium/high is dropped, as is one beside a label that has
none.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from transplantqa.models.reasoning import split_reasoning
from transplantqa.records import CONFLICT_LABELS, Label, Outcome, Significance

_SIGNIFICANCES: dict[str, Significance] = {"low": "low", "medium": "medium", "high": "high"}
_TOPIC_NAMES = ("divergence_topic", "topic")
_SHOWN = ("first", "second", "both")
_OBJECT_START = re.compile(r"\{\s*(?:[\"'}]|\w+\s*:|$)")
LONGEST_REPLY = 200_000
"""Characters; longer is a runaway. Ours."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A reply as read. ``label`` is there exactly when ``outcome`` is ``ok``; else ``error`` says what was wrong.

    ``silent_shown`` is which answer, as shown, an ABSENT reply calls silent ("first", "second", "both"), if it says.
    """

    outcome: Outcome
    label: Label | None = None
    reasoning: str | None = None
    divergence_topic: str | None = None
    significance: Significance | None = None
    silent_shown: str | None = None
    error: str | None = None


class Refused(Exception):  # noqa: N818 - the reply's fault, turned into an outcome at once
    """Why a reply can't be read."""


def parse(raw: str) -> Parsed:
    """Read a judge's raw reply."""
    reply = split_reasoning(raw)
    if not reply.closed:
        return Parsed(Outcome.REASONING_UNCLOSED, reasoning=reply.reasoning, error="no answer after the reasoning")
    try:
        return _parsed(_the_object(reply.text), reply.reasoning)
    except Refused as refusal:
        return Parsed(Outcome.PARSE_FAILED, reasoning=reply.reasoning, error=str(refusal))


def parse_details(raw: str) -> tuple[str | None, Significance | None]:
    """Read the topic and the significance of a conflict whose label is known; what can't be read is null."""
    reply = split_reasoning(raw)
    try:
        found = [item for item in objects(reply.text) if _text(item, *_TOPIC_NAMES) or _significance(item)]
    except Refused:
        return None, None
    if not found or any(item != found[0] for item in found[1:]):
        return None, None
    return _topic(found[0]), _significance(found[0])


def parse_object(stated: Mapping[str, Any], reasoning: str | None = None) -> Parsed:
    """Read one verdict that stands in a larger reply, keys folded as ``objects`` folds them."""
    try:
        return _parsed({"label": None, **stated}, reasoning)
    except Refused as refusal:
        return Parsed(Outcome.PARSE_FAILED, reasoning=reasoning, error=str(refusal))


def _parsed(stated: Mapping[str, Any], reasoning: str | None) -> Parsed:
    label = _label(stated)
    in_conflict = label in CONFLICT_LABELS
    return Parsed(
        Outcome.OK,
        label=label,
        reasoning=_text(stated, "reasoning", "rationale", "explanation") or reasoning,
        divergence_topic=_topic(stated) if label is not Label.ABSENT else None,
        significance=_significance(stated) if in_conflict else None,
        silent_shown=_silent(stated) if label is Label.ABSENT else None,
    )


def _the_object(text: str) -> Mapping[str, Any]:
    if len(text) > LONGEST_REPLY:
        raise Refused("runaway reply")
    found: list[Mapping[str, Any]] = [item for item in objects(text) if "label" in item]
    if not found:
        raise Refused("no JSON object with a label" if text.strip() else "empty reply")
    if any(item != found[0] for item in found[1:]):
        raise Refused("several different JSON objects")
    return found[0]


def objects(text: str) -> list[Mapping[str, Any]]:
    """Return every outermost JSON object of ``text``, keys folded.

    Raises:
        Refused: a brace opens an object that does not decode, or a key is given twice.
    """
    decoder = json.JSONDecoder(strict=False, object_pairs_hook=_without_duplicates)
    found = []
    position = text.find("{")
    while position >= 0:
        try:
            value, end = decoder.raw_decode(text, position)
        except (json.JSONDecodeError, RecursionError) as error:
            if _OBJECT_START.match(text, position):
                raise Refused("malformed or cut-off JSON object") from error
            end = position + 1
        else:
            found.append(value)
        position = text.find("{", end)
    return found


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key.strip().casefold() for key, _ in pairs]
    repeated = sorted({key for key in keys if keys.count(key) > 1})
    if repeated:
        raise Refused(f"key given twice: {', '.join(repeated)}")
    return {key.strip().casefold(): value for key, value in pairs}


def _label(stated: Mapping[str, Any]) -> Label:
    value = stated["label"]
    name = value.strip().upper() if isinstance(value, str) else None
    if name is None or name not in Label.__members__:
        raise Refused(f"unknown label: {str(value)[:80]!r}")
    return Label[name]


def _text(stated: Mapping[str, Any], *names: str) -> str | None:
    for name in names:
        value = stated.get(name)
        if isinstance(value, str) and value.strip():
            return value.strip()
    return None


def _topic(stated: Mapping[str, Any]) -> str | None:
    single = _text(stated, *_TOPIC_NAMES)
    several = stated.get("topics")
    if single is None and isinstance(several, list):
        single = "; ".join(item.strip() for item in several if isinstance(item, str) and item.strip()) or None
    if single is None or single.casefold() in {"none", "null", "n/a", "-"}:
        return None
    return " ".join(single.split())


def _significance(stated: Mapping[str, Any]) -> Significance | None:
    value = _text(stated, "significance", "clinical_significance")
    return _SIGNIFICANCES.get(value.casefold()) if value else None


def _silent(stated: Mapping[str, Any]) -> str | None:
    value = _text(stated, "silent_answer")
    return value.casefold() if value and value.casefold() in _SHOWN else None
