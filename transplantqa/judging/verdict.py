"""The one Pydantic model of a judge's reply: its JSON schema constrains the engine."""

from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from transplantqa.records import Significance

LabelName = Literal["ABSENT", "CONSISTENT", "COMPLEMENTARY", "DIVERGENT", "CONTRADICTORY"]
Shown = Literal["first", "second", "both"]


class Verdict(BaseModel):
    """A judge's reply; fields are written in this order, so that the label follows from the reasoning.

    Attributes:
        reasoning: what the answers say and how they relate.
        label: the relation.
        divergence_topic: what they differ in, in a few words.
        significance: how much it matters; meaningful for DIVERGENT and CONTRADICTORY alone.
        silent_answer: where the label is ABSENT, which answer does not address the question.
    """

    model_config = ConfigDict(extra="forbid")

    reasoning: str
    label: LabelName
    divergence_topic: str | None
    significance: Significance | None
    silent_answer: Shown | None


def verdict_schema(reasoning_chars: int, topic_chars: int = 80) -> dict[str, Any]:
    """Return the JSON schema of ``Verdict`` for constrained decoding, free text bounded so that replies end.

    Every enum stands in place: some engines read a ``$ref`` as any object. Every field is required, no other allowed.
    """

    class Bounded(Verdict):
        reasoning: Annotated[str, Field(max_length=reasoning_chars)]
        divergence_topic: Annotated[str, Field(max_length=topic_chars)] | None

    schema = Bounded.model_json_schema()
    return _bare(schema)


def reasoning_room(max_tokens: int) -> int:
    """Return the characters of reasoning that leave room for the other fields: 3 a token, 100 tokens kept. Ours."""
    return 3 * max(10, max_tokens - 100)


def _bare(schema: dict[str, Any]) -> dict[str, Any]:
    """Without titles and descriptions, which engines do not read but fingerprints would."""
    properties = {
        name: {key: value for key, value in field.items() if key not in ("title", "description")}
        for name, field in schema["properties"].items()
    }
    return _object(properties)


def label_schema() -> dict[str, Any]:
    """Return the JSON schema of a label alone."""
    return _object({"label": _words(*get_args(LabelName))})


def details_schema(topic_chars: int = 80) -> dict[str, Any]:
    """Return the JSON schema of a conflict's topic and significance."""
    return _object({"divergence_topic": _text(topic_chars), "significance": _words(*get_args(Significance))})


def group_schema(size: int, reasoning_chars: int, topic_chars: int = 30) -> dict[str, Any]:
    """Return the JSON schema of a group's verdicts: one list a number from "1" on.

    A list holds the reasoning, where there is room for it, the label, and what that label has: topic and significance
    of a conflict, which answer is silent for ABSENT. Lists, since names of fields would be written anew for every pair;
    labels in small letters, since those are fewer tokens.

    Args:
        size: verdicts.
        reasoning_chars: room for each verdict's reasoning, which comes before its label; 0 for none.
        topic_chars: room for each topic.
    """
    before = [{"type": "string", "maxLength": reasoning_chars}] if reasoning_chars else []
    agreement = [*before, _words("consistent", "complementary")]
    details = (_text(topic_chars), _words(*get_args(Significance)))
    conflict = [*before, _words("divergent", "contradictory"), *details]
    silence = [*before, _words("absent"), _words(*get_args(Shown))]
    verdict = {"anyOf": [_list(agreement), _list(conflict), _list(silence)]}
    return _object({str(place): verdict for place in range(1, size + 1)})


def _text(characters: int) -> dict[str, Any]:
    return {"type": "string", "minLength": 1, "maxLength": characters}


def _words(*allowed: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(allowed)}


def _list(items: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
