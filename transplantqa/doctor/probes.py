"""Three calls that tell whether a language model does what a run relies on: schema, reasoning, token of beginning."""

import json
from collections.abc import Iterator
from typing import Any

from transplantqa.doctor.findings import Finding, State
from transplantqa.errors import ModelError
from transplantqa.models.protocols import Completion, LanguageModel, Message, Request, ShowsPrompt
from transplantqa.records import Outcome

COLOURS = ("RED", "GREEN", "BLUE")
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"colour": {"type": "string", "enum": list(COLOURS)}},
    "required": ["colour"],
    "additionalProperties": False,
}
REPLY_TOKENS = 64
THINKING_TOKENS = 1024
"""Room for reasoning before the reply; ours: a small question takes a few hundred."""

NO_SCHEMA = "Take an engine that enforces JSON schemas: the judge relies on it (see docs/engines.md)"


def probes(role: str, model: LanguageModel, reasoning: str) -> Iterator[Finding]:
    """Make the calls, as one batch.

    Args:
        role: what the system uses the model for.
        model: the model; it is loaded by this.
        reasoning: as configured: ``on``, ``off`` or ``default``.
    """
    room = REPLY_TOKENS if reasoning == "off" else min(THINKING_TOKENS, model.context_tokens // 2)
    asked = {
        "schema": Request("schema", _messages("Write a haiku about rain. No JSON."), room, SCHEMA),
        "reasoning": Request("reasoning", _messages("Is water wet? Reply with yes or no."), room),
    }
    try:
        replies = {reply.id: reply for reply in model.generate(asked.values())}
        shown = model.prompt_tokens(asked["reasoning"]) if isinstance(model, ShowsPrompt) else None
    except ModelError as error:
        what, _, remedy = str(error).partition("\n")
        yield Finding("probes", role, State.FAILS, what, remedy)
        return
    yield _schema(role, replies["schema"])
    yield _reasoning(role, replies["reasoning"], reasoning)
    yield _beginning(role, shown, replies["reasoning"])


def _messages(text: str) -> tuple[Message, ...]:
    return Message("system", "Be brief."), Message("user", text)


def _schema(role: str, reply: Completion) -> Finding:
    name = f"schema, {role}"
    if reply.outcome is not Outcome.OK:
        return Finding("probes", name, State.FAILS, f"{reply.outcome}: {reply.error}", NO_SCHEMA)
    try:
        value = json.loads(reply.text)
    except ValueError:
        value = None
    if isinstance(value, dict) and value.get("colour") in COLOURS:
        return Finding("probes", name, State.OK, f"asked for a haiku, gave {reply.text[:60]}")
    return Finding("probes", name, State.FAILS, f"the schema is not enforced: {reply.text[:60]!r}", NO_SCHEMA)


def _reasoning(role: str, reply: Completion, wanted: str) -> Finding:
    name = f"reasoning, {role}"
    thought = len(reply.reasoning or "")
    if reply.outcome in {Outcome.ENGINE_ERROR, Outcome.CONTEXT_OVERFLOW}:
        return Finding("probes", name, State.FAILS, f"{reply.outcome}: {reply.error}")
    if "<think" in reply.text:
        remedy = "Its marks of reasoning are unknown here: answers would carry the reasoning"
        return Finding("probes", name, State.FAILS, f"not kept apart: {reply.text[:60]!r}", remedy)
    if reply.outcome is Outcome.REASONING_UNCLOSED:
        seen = f"still thinking after {reply.completion_tokens} tokens"
        return Finding("probes", name, State.WARNS, seen, "Leave more room (max_answer_tokens), or model.reasoning=off")
    if wanted == "on" and not thought:
        return Finding("probes", name, State.FAILS, "asked to think, it didn't", "Set model.reasoning=default")
    if wanted == "off" and thought:
        return Finding("probes", name, State.WARNS, "asked not to think, it did", "Leave room for it in replies")
    return Finding(
        "probes", name, State.OK, f"kept apart: {thought} characters" if thought else "none, as it should be"
    )


def _beginning(role: str, shown: Any, reply: Completion) -> Finding:
    name = f"token of beginning, {role}"
    if shown is None:
        return Finding("probes", name, State.SKIPPED, "this engine doesn't show its prompts")
    if reply.prompt_tokens != len(shown.ids):
        seen = f"the engine read {reply.prompt_tokens} tokens where the prompt has {len(shown.ids)}"
        return Finding("probes", name, State.FAILS, seen, "Its chat template and what it shows disagree")
    if shown.begin is None:
        return Finding(
            "probes", name, State.SKIPPED, f"not said by this engine; its prompt has {len(shown.ids)} tokens"
        )
    if shown.beginnings == 1:
        return Finding("probes", name, State.OK, "exactly one")
    remedy = "Give the model's own template: model.chat_template=FILE"
    return Finding("probes", name, State.FAILS, f"{shown.beginnings} at the head of the prompt", remedy)
