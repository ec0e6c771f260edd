"""From what a model replied to a pair's judgement, now or again from the raw text that was kept."""

from dataclasses import replace

from transplantqa.judging.parsing import Parsed
from transplantqa.judging.presentation import Side
from transplantqa.judging.protocols import Pair
from transplantqa.models.protocols import Completion
from transplantqa.records import Judgement, Outcome, SilentSide

REREADABLE = frozenset({Outcome.OK, Outcome.PARSE_FAILED})
"""Outcomes that reading decided; the others are the engine's, and stay."""


def unread(completion: Completion, pair: Pair) -> Judgement:
    """Return a pair's judgement with everything but what the reply says; its outcome is the engine's."""
    return Judgement(
        question_id=pair.question.question_id,
        document_a=pair.a.document_id,
        document_b=pair.b.document_id,
        outcome=completion.outcome,
        shown_first=pair.shown_first,
        reasoning=completion.reasoning,
        raw=completion.raw or completion.text,
        prompt_tokens=completion.prompt_tokens,
        cached_tokens=completion.cached_tokens,
        completion_tokens=completion.completion_tokens,
        seconds=completion.seconds,
        replicate=pair.replicate,
        variant=pair.a.variant,
        error=completion.error,
    )


def with_parsed(judgement: Judgement, parsed: Parsed) -> Judgement:
    """Return the judgement with what was read."""
    return replace(
        judgement,
        outcome=parsed.outcome,
        label=parsed.label,
        silent_side=_side(parsed.silent_shown, judgement.shown_first),
        reasoning=parsed.reasoning or judgement.reasoning,
        divergence_topic=parsed.divergence_topic,
        significance=parsed.significance,
        error=parsed.error,
    )


def can_be_reread(judgement: Judgement) -> bool:
    """Say whether reading decided the judgement, so that reading again may decide otherwise."""
    return judgement.outcome in REREADABLE and bool(judgement.raw)


def _side(silent_shown: str | None, shown_first: Side) -> SilentSide | None:
    if silent_shown == "both":
        return "both"
    if silent_shown is None:
        return None
    return "a" if (silent_shown == "first") == (shown_first == "a") else "b"
