"""What a model proposes for a question: a plainer wording and topic labels. Nothing is changed by it."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from transplantqa.corpus.cleaning import plain
from transplantqa.corpus.curation import Limits, key_words, personal_data, unfit
from transplantqa.generation.prompts import Renderer
from transplantqa.models.protocols import Completion, LanguageModel, Request
from transplantqa.records import FAILED_OUTCOMES, Question

REPLY_TOKENS = 256
"""Room for a reply. Ours: three short strings."""
ANY_TOPIC = "any"
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


class _Reply(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    rephrased: Annotated[str, Field(min_length=1, max_length=300)]
    topic: Annotated[str, Field(min_length=1, max_length=60)]
    subtopic: Annotated[str, Field(min_length=1, max_length=60)]


@dataclass(frozen=True, slots=True)
class Proposal:
    """What is proposed for a question; an empty string proposes nothing.

    ``doubts`` are for the person to look at; ``failure`` says why there is no proposal at all.
    """

    question_id: str
    text: str = ""
    topic: str = ""
    subtopic: str = ""
    doubts: tuple[str, ...] = ()
    failure: str = ""


def reply_schema(topics: Sequence[str]) -> dict[str, Any]:
    """Return the JSON schema of a reply; with ``topics`` only one of these may be named."""
    schema = _Reply.model_json_schema()
    if topics:
        schema["properties"]["topic"] = {"type": "string", "enum": list(topics)}
    return schema


def request_for(question: Question, renderer: Renderer, topics: Sequence[str]) -> Request:
    """Return the model's request for one question."""
    messages = renderer.render(question=question.text, topics=", ".join(topics) or ANY_TOPIC)
    return Request(question.question_id, messages, REPLY_TOKENS, reply_schema(topics))


def ask(model: LanguageModel, requests: Iterable[Request]) -> Iterator[tuple[str, str, str]]:
    """Yield (question id, reply, failure) in completion order; the failure is empty where there is a reply."""
    for completion in model.generate(requests):
        yield completion.id, completion.text, _failure(completion)


def _failure(completion: Completion) -> str:
    if completion.outcome not in FAILED_OUTCOMES:
        return ""
    return f"{completion.outcome.value}: {completion.error}" if completion.error else completion.outcome.value


def read_reply(question: Question, reply: str, topics: Sequence[str], limits: Limits) -> Proposal:
    """Read a model's reply, trusting nothing: what isn't of the schema is a failure, an unfit wording is left out."""
    try:
        checked = _Reply.model_validate(json.loads(reply))
    except json.JSONDecodeError as error:
        return Proposal(question.question_id, failure=f"parse_failed: not JSON ({error.msg})")
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "reply"
        return Proposal(question.question_id, failure=f"parse_failed: {where}: {first['msg']}")
    except (ValueError, RecursionError) as error:  # nested too deep, or a number of thousands of digits
        return Proposal(question.question_id, failure=f"parse_failed: not JSON ({type(error).__name__})")
    text, topic, subtopic = plain(checked.rephrased), plain(checked.topic), plain(checked.subtopic)
    doubts = []
    if key_words(text) == key_words(question.text):
        text = ""
    elif why := unfit(text, key_words(text), limits):
        doubts.append(f"wording left out: {why}")
        text = ""
    if topics and topic not in topics:
        doubts.append("topic left out: not one of those to choose from")
        topic = ""
    return Proposal(question.question_id, text, topic, subtopic, (*doubts, *_doubts(question.text, text)))


def _doubts(original: str, text: str) -> Iterator[str]:
    if not text:
        return
    if sorted(_NUMBER.findall(original)) != sorted(_NUMBER.findall(text)):
        yield "other numbers than in the original"
    if kinds := personal_data(text):
        yield f"may still hold personal data: {', '.join(kinds)}"
    if not set(key_words(original)) & set(key_words(text)):
        yield "no word in common with the original"


def known_topics(questions: Sequence[Question], configured: Sequence[str]) -> tuple[str, ...]:
    """Return the topics to choose from: those configured, else those that the questions have, in order of name."""
    return tuple(configured) or tuple(sorted({topic for question in questions for topic in question.topics}))


def step_counts(proposals: Iterable[Proposal]) -> Mapping[str, int]:
    """Return how many wordings and labels are proposed, and how many questions got no proposal."""
    found = list(proposals)
    return {
        "new wordings": sum(bool(one.text) for one in found),
        "labels": sum(bool(one.topic or one.subtopic) for one in found),
        "no proposal": sum(bool(one.failure) for one in found),
    }
