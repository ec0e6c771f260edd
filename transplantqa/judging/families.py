"""Which family of models a configuration names: a judge of the generator's own family may favour its ways of saying."""

import re
from collections.abc import Mapping
from typing import Any

_FAMILIES = re.compile(
    r"smollm|qwen|qwq|deepseek|mixtral|mistral|ministral|magistral|gemma|gemini|claude|gpt-oss|chatgpt|gpt|phi|granite|olmo|"
    r"command-r|command|aya|yi|falcon|internlm|glm|kimi|minimax|nemotron|exaone|solar|jamba|grok|hermes|tinyllama|llama",
    re.IGNORECASE,
)
_ALIASES = {"qwq": "qwen", "mixtral": "mistral", "ministral": "mistral", "magistral": "mistral", "gpt-oss": "gpt"} | {
    "chatgpt": "gpt",
    "command-r": "command",
    "tinyllama": "llama",
}
_NAMED_BY = ("model", "weights")
"""Keys of a model's configuration that name what it is."""


def family_of(model: Mapping[str, Any] | None) -> str | None:
    """Return the family of a model's configuration, as far as its name tells; null without a model.

    A name that shows no known family is its own: two models of one unknown name are one family.

    >>> family_of({"weights": "hub:Qwen/Qwen2.5-1.5B-Instruct-GGUF/qwen2.5-1.5b-instruct-q4_k_m.gguf"})
    'qwen'
    """
    if not model:
        return None
    name = next(
        (str(model[key]) for key in _NAMED_BY if model.get(key)), str(model.get("_target_", "")).rpartition(".")[2]
    )
    shown = name.rsplit("/", maxsplit=1)[-1]
    for text in (shown, name):
        found = re.search(rf"(?<![a-z])(?:{_FAMILIES.pattern})", text, re.IGNORECASE)
        if found:
            family = found.group().casefold()
            return _ALIASES.get(family, family)
    return shown.casefold()


def shared_family(generator: Mapping[str, Any] | None, judge: Mapping[str, Any] | None) -> str | None:
    """Return the family that generator and judge are both of, if they are."""
    families = family_of(generator), family_of(judge)
    return families[0] if families[0] is not None and families[0] == families[1] else None


def family_warning(generator: Mapping[str, Any] | None, judge: Mapping[str, Any] | None) -> str | None:
    """Return the sentence that a reader must see where generator and judge are of one family."""
    family = shared_family(generator, judge)
    if family is None:
        return None
    return (
        f"Judge and generator are the same model family ({family}): a judge may take its own family's ways of "
        "saying for agreement. Judge with another: model@judge_model=..."
    )
