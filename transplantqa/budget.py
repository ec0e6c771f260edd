"""Whether what a retriever may show, the prompt and the answer together fit the generator's context."""

import json
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transplantqa.models.protocols import Tokenizer

Key = str
_BUDGETS = {"evidence_tokens": None, "fallback_tokens": "fallback_below"}
"""A retriever's budgets, each with the threshold that must be above 0 for it to be used."""


def overflow(config: Mapping[str, Any]) -> tuple[Key, str, str] | None:
    """Return where the composed configuration promises more than fits, what, and the remedy; null where it fits.

    Nothing is loaded: the numbers are those of the configuration, and the prompt is counted with the tokenizer that
    chunks and budgets are counted with by default. A model's own tokenizer counts otherwise, and headings and the
    question come on top, so a cell may still overflow; it is then counted as such.

    Args:
        config: plain values; without a retriever's budget, a generator's model or room for an answer nothing is said.
    """
    retriever, generator = _mapping(config.get("retriever")), _mapping(config.get("generator"))
    context = _mapping(generator.get("model")).get("context_tokens")
    answer = generator.get("max_answer_tokens")
    budgets = {key: retriever[key] for key, switch in _BUDGETS.items() if _is_used(retriever, key, switch)}
    if not (isinstance(context, int) and isinstance(answer, int) and budgets):
        return None
    key = max(budgets, key=lambda name: budgets[name])
    prompt = _prompt_tokens(generator.get("prompt"))
    room = context - answer - prompt
    if budgets[key] <= room:
        return None
    total = budgets[key] + prompt + answer
    what = (
        f"{budgets[key]:,} tokens of evidence, about {prompt:,} of prompt and {answer:,} for the answer are {total:,}, "
        f"more than the generator's context of {context:,} (model.context_tokens)"
    )
    smaller = f"Show less: retriever.{key}={room}" if room > 0 else "Leave less room for the answer"
    return f"retriever.{key}", what, f"{smaller}; or set model.context_tokens as high as the model allows."


def _is_used(retriever: Mapping[str, Any], key: str, switch: str | None) -> bool:
    return isinstance(retriever.get(key), int) and (switch is None or bool(retriever.get(switch)))


def _prompt_tokens(prompt: object) -> int:
    """Count the words of a prompt's templates and examples, which go with every question."""
    parts = _mapping(prompt)
    texts = [str(parts.get(name, "")) for name in ("system", "user")]
    texts += [json.dumps(example, ensure_ascii=False) for example in parts.get("examples") or ()]
    return sum(len(_tokenizer().offsets(text)) for text in texts)


@cache
def _tokenizer() -> "Tokenizer":
    from transplantqa.models.wordpiece import WordPieceTokenizer  # noqa: PLC0415

    return WordPieceTokenizer()


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
