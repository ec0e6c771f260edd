"""What a raw reply amounts to: reasoning split from the answer, and the outcome it earns."""

import re
from dataclasses import dataclass

from transplantqa.records import Outcome

_OPEN = re.compile(r"\s*<(think|thinking|reasoning)>", re.IGNORECASE)
_CLOSE = re.compile(r"</(think|thinking|reasoning)>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Split:
    """A raw reply taken apart. ``closed`` is false when the reply ended inside its reasoning; there is no text then."""

    text: str
    reasoning: str | None
    closed: bool = True


@dataclass(frozen=True, slots=True)
class Settled:
    """The engine's share of a completion: outcome, answer text, reasoning apart, and the reason of a failure."""

    outcome: Outcome
    text: str
    reasoning: str | None = None
    error: str | None = None


def split_reasoning(raw: str, *, opened: bool = False) -> Split:
    """Split leading reasoning (``<think>…</think>`` and kin) from the answer.

    Only reasoning at the start counts, so an answer that merely mentions the tags stays whole. Several blocks in a row
    are joined. A closing tag without an opening one ends reasoning that the prompt opened, as some chat templates do.

    Args:
        raw: everything the model wrote.
        opened: the prompt ended inside an open block, so that a missing closing tag means unclosed.
    """
    blocks: list[str] = []
    rest = raw
    inside = opened or (_OPEN.match(raw) is None and _CLOSE.search(raw) is not None)
    while True:
        opening = _OPEN.match(rest)
        if opening is None and not inside:
            break
        start = opening.end() if opening else 0
        closing = _CLOSE.search(rest, start)
        if closing is None:
            blocks.append(rest[start:].strip())
            return Split("", _joined(blocks), closed=False)
        blocks.append(rest[start : closing.start()].strip())
        rest = rest[closing.end() :]
        inside = False
    return Split(rest.strip(), _joined(blocks))


def settle(raw: str, finish_reason: str | None, *, reasoning: str | None = None, opened: bool = False) -> Settled:
    """Decide how a reply ended, the deepest cause first: reasoning never closed, cut by the limit, empty, ok.

    Args:
        raw: what the model wrote; its leading reasoning, if any, is split off.
        finish_reason: the engine's word; ``"length"`` means that the reply was cut.
        reasoning: reasoning that the engine delivered apart from ``raw``.
        opened: the prompt ended inside an open reasoning block.
    """
    split = split_reasoning(raw, opened=opened)
    thought = _joined([part for part in (reasoning, split.reasoning) if part])
    cut = finish_reason == "length"
    if not split.closed or (cut and reasoning and not split.text):
        return Settled(Outcome.REASONING_UNCLOSED, "", thought, "the reply ended inside its reasoning")
    if cut:
        return Settled(Outcome.OUTPUT_TRUNCATED, split.text, thought, "the reply reached max_tokens")
    if not split.text:
        return Settled(Outcome.PARSE_FAILED, "", thought, "the reply is empty")
    return Settled(Outcome.OK, split.text, thought)


def _joined(blocks: list[str]) -> str | None:
    return "\n\n".join(block for block in blocks if block) or None
