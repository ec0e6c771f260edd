"""From what a model wrote to an answer with one outcome; raw text is kept, so it can be read again without calls."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from transplantqa.generation import abstention, citations
from transplantqa.generation.abstention import Stance
from transplantqa.generation.prompts import Domain
from transplantqa.generation.protocols import Cell, ResolvedPassage
from transplantqa.models.protocols import Completion
from transplantqa.models.reasoning import split_reasoning
from transplantqa.records import FAILED_OUTCOMES, Answer, Outcome

CitationPolicy = Literal["checked", "required"]
REREADABLE = frozenset({Outcome.OK, Outcome.ABSTAINED, Outcome.PARSE_FAILED})


def read_completion(completion: Completion, cell: Cell, domain: Domain, policy: CitationPolicy = "checked") -> Answer:
    """Turn one completion into the cell's answer.

    A failure of the engine's part stays that failure. A reply is silent when it abstains (text then is the domain's
    standard reply), answered when it says something, and ``parse_failed`` with a reason in ``error`` when it
    abstains and advises at once, names only sections that were not given, is empty, or, under ``required``, names
    none.
    """
    answer = Answer(
        question_id=cell.question.question_id,
        document_id=cell.document_id,
        outcome=completion.outcome,
        text="",
        reasoning=completion.reasoning,
        raw=completion.raw or completion.text,
        finish_reason=completion.finish_reason,
        prompt_tokens=completion.prompt_tokens,
        cached_tokens=completion.cached_tokens,
        completion_tokens=completion.completion_tokens,
        seconds=completion.seconds,
        error=completion.error,
    )
    if completion.outcome in FAILED_OUTCOMES:
        return answer
    return _read(answer, completion.text, cell.passages, domain, policy)


def reread(
    answer: Answer, passages: Sequence[ResolvedPassage], domain: Domain, policy: CitationPolicy = "checked"
) -> Answer:
    """Read the raw text of an answer again; outcomes that reading didn't decide stay as they are."""
    if answer.outcome not in REREADABLE or not answer.raw:
        return answer
    return _read(answer, answer.raw, passages, domain, policy)


def _read(
    answer: Answer, reply: str, passages: Sequence[ResolvedPassage], domain: Domain, policy: CitationPolicy
) -> Answer:
    parts = split_reasoning(reply)
    answer = replace(answer, reasoning=parts.reasoning or answer.reasoning, citations=(), text="", error=None)
    if not parts.closed:
        return replace(answer, outcome=Outcome.REASONING_UNCLOSED, error="no answer after the reasoning")
    if not re.search(r"\w", parts.text):
        return replace(answer, outcome=Outcome.PARSE_FAILED, error="empty reply")
    stance = abstention.read(parts.text, domain.abstention, domain.document_noun)
    if stance is Stance.ABSTAINS:
        return replace(answer, outcome=Outcome.ABSTAINED, text=domain.abstention)
    named = [item for item in citations.find(parts.text) if not _is_quoted(item.heading, passages)]
    answer = replace(answer, text=parts.text, citations=citations.check(named, passages))
    problem = _problem(stance, named, passages, policy)
    return replace(answer, outcome=Outcome.PARSE_FAILED if problem else Outcome.OK, error=problem)


def _is_quoted(heading: str, passages: Sequence[ResolvedPassage]) -> bool:
    return any(f"[{heading}" in passage.text for passage in passages)


def _problem(
    stance: Stance, named: Sequence[citations.Named], passages: Sequence[ResolvedPassage], policy: CitationPolicy
) -> str | None:
    if stance is Stance.BOTH:
        return "abstains and advises: advice without a source"
    if named and not citations.names_a_given_section(named, passages):
        return f"cites only sections that were not given: {'; '.join(item.heading for item in named)}"
    if policy == "required" and not named:
        return "cites no section"
    return None
