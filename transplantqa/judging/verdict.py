"""The one Pydantic model of a judge's reply: its JSON schema constrains the engine."""

from typing import Annotated, Any, Literal

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
        significance: clinical significance; meaningful for DIVERGENT and CONTRADICTORY alone.
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
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
