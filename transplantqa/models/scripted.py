"""A language model that follows a script: for tests and dry runs, with no weights and no waiting."""

import re
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from transplantqa.models.protocols import Completion, Identity, Request
from transplantqa.models.reasoning import settle
from transplantqa.records import Outcome
from transplantqa.store.hashing import canonical_json, digest

Choice = Literal["first", "by_hash"]


class Scripted:
    """Replies by rule, the same reply to the same request always.

    The first pattern of ``replies`` found in the last message wins. Otherwise a request with a schema gets the smallest
    JSON the schema allows, and any other request gets ``abstention`` for a share of the prompts or a made-up sentence.

    Args:
        replies: regular expression to reply.
        choose: which enum value a schema reply takes, the first or one by the request's hash.
        abstention: the text of a reply that declines.
        abstention_share: share of prompts without schema that get it, chosen by hash.
        context_tokens: room for prompt and reply; a token is a run of non-space characters.
        latency_seconds: waited before each reply.
    """

    def __init__(
        self,
        *,
        replies: dict[str, str] | None = None,
        choose: Choice = "first",
        abstention: str = "NOT ADDRESSED",
        abstention_share: Annotated[float, Field(ge=0, le=1)] = 0.3,
        context_tokens: Annotated[int, Field(ge=1)] = 32768,
        latency_seconds: Annotated[float, Field(ge=0)] = 0.0,
    ) -> None:
        self.context_tokens = context_tokens
        self.calls = 0
        self._replies = [(re.compile(pattern), reply) for pattern, reply in (replies or {}).items()]
        self._choose: Choice = choose
        self._abstention = abstention
        self._abstention_share = abstention_share
        self._latency_seconds = latency_seconds

    def identity(self) -> Identity:
        """The whole script."""
        return {
            "engine": "scripted",
            "replies": [[pattern.pattern, reply] for pattern, reply in self._replies],
            "choose": self._choose,
            "abstention": self._abstention,
            "abstention_share": self._abstention_share,
            "context_tokens": self.context_tokens,
        }

    def count_tokens(self, text: str) -> int:
        """Count runs of non-space characters."""
        return len(text.split())

    def generate(self, requests: Iterable[Request]) -> Iterator[Completion]:
        """Reply in the order asked."""
        for request in requests:
            yield self._complete(request)

    def close(self) -> None:
        """Do nothing; there is nothing to release."""

    def _complete(self, request: Request) -> Completion:
        prompt_tokens = sum(self.count_tokens(message.content) for message in request.messages)
        if prompt_tokens + request.max_tokens > self.context_tokens:
            error = f"prompt {prompt_tokens} + reply {request.max_tokens} tokens > context {self.context_tokens}"
            return Completion(request.id, Outcome.CONTEXT_OVERFLOW, "", prompt_tokens=prompt_tokens, error=error)
        self.calls += 1
        if self._latency_seconds:
            time.sleep(self._latency_seconds)
        try:
            words = self._reply(request).split(" ")
        except (KeyError, TypeError) as error:
            reason = f"the JSON schema can't be followed: {error!r}"
            return Completion(request.id, Outcome.ENGINE_ERROR, "", prompt_tokens=prompt_tokens, error=reason)
        finish_reason = "length" if len(words) > request.max_tokens else "stop"
        raw = " ".join(words[: request.max_tokens])
        settled = settle(raw, finish_reason)
        return Completion(
            request.id,
            settled.outcome,
            settled.text,
            raw=raw,
            reasoning=settled.reasoning,
            finish_reason=finish_reason,
            prompt_tokens=prompt_tokens,
            completion_tokens=min(len(words), request.max_tokens),
            seconds=self._latency_seconds,
            error=settled.error,
        )

    def _reply(self, request: Request) -> str:
        asked = request.messages[-1].content
        for pattern, reply in self._replies:
            if pattern.search(asked):
                return reply
        asked_for = [[message.role, message.content] for message in request.messages]
        number = int(digest([*asked_for, request.draw] if request.draw else asked_for)[:12], 16)
        if request.json_schema is not None:
            pick = number if self._choose == "by_hash" else 0
            return canonical_json(smallest_value(request.json_schema, pick=pick))
        if number % 1000 < 1000 * self._abstention_share:
            return self._abstention
        return f"Scripted reply {number % 1_000_000:06d}."


def smallest_value(schema: Mapping[str, Any], *, pick: int = 0, root: Mapping[str, Any] | None = None) -> Any:
    """Return the smallest value a JSON schema allows; of several alternatives the one at ``pick`` modulo their number.

    Understands what Pydantic writes: objects, arrays, enums, constants, ``$ref``, ``anyOf``, string and number bounds.
    """
    root = schema if root is None else root
    if "$ref" in schema:
        return smallest_value(_resolved(schema["$ref"], root), pick=pick, root=root)
    for key in ("enum", "anyOf", "oneOf"):
        if key in schema:
            chosen = schema[key][pick % len(schema[key])]
            return chosen if key == "enum" else smallest_value(chosen, pick=pick, root=root)
    if "const" in schema:
        return schema["const"]
    if "allOf" in schema:
        return smallest_value(schema["allOf"][0], pick=pick, root=root)
    return _smallest_of_type(schema, pick, root)


def _smallest_of_type(schema: Mapping[str, Any], pick: int, root: Mapping[str, Any]) -> Any:
    kind = schema.get("type", "object" if "properties" in schema else "null")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        properties = schema.get("properties", {})
        return {name: smallest_value(properties[name], pick=pick, root=root) for name in schema.get("required", [])}
    if kind == "array" and "prefixItems" in schema:
        return [smallest_value(item, pick=pick, root=root) for item in schema["prefixItems"]]
    if kind == "array":
        return [smallest_value(schema["items"], pick=pick, root=root)] * int(schema.get("minItems", 0))
    if kind == "string":
        return "x" * max(1, int(schema.get("minLength", 1)))
    smallest = {"integer": schema.get("minimum", 0), "number": schema.get("minimum", 0.0), "boolean": False}
    return smallest.get(kind)


def _resolved(reference: str, root: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Any = root
    for part in reference.removeprefix("#/").split("/"):
        found = found[part]
    return found  # type: ignore[no-any-return]
