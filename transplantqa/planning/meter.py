"""Token counts for a plan: from character and word-piece counts that are there, scaled to the model's own tokenizer."""

from collections.abc import Iterable

from transplantqa.errors import ModelError
from transplantqa.models.protocols import LanguageModel, Message, Tokenizer

MESSAGE_TOKENS = 6
"""Marks that a chat template puts around a message: Qwen's are five, SmolLM2's six. Ours."""

SAMPLE_CHARACTERS = 40_000
"""Text that the scale is taken from; ours: ten pages."""

FALLBACK_CHARACTERS_PER_TOKEN = 4.0
"""Of English where there is no text to measure; a common rule of thumb."""


class Meter:
    """Counts tokens of prompts as a model would, within a few per cent, without rendering each.

    Args:
        model: whose tokens; where it can't count (it isn't installed, its server is away) word pieces are counted.
        wordpiece: what documents and evidence are counted in.
        sample: texts of the corpus, to take the scale from.
    """

    def __init__(self, model: LanguageModel, wordpiece: Tokenizer, sample: Iterable[str]) -> None:
        self._model = model
        self._wordpiece = wordpiece
        self.note: str | None = None
        text = _joined(sample)
        pieces = len(wordpiece.offsets(text))
        counted = self._counted(text)
        self.per_wordpiece = counted / pieces if pieces else 1.0
        self.per_character = counted / len(text) if text else 1 / FALLBACK_CHARACTERS_PER_TOKEN

    def messages(self, messages: Iterable[Message]) -> int:
        """Count a conversation with the marks of a chat template."""
        return sum(self._counted(message.content) + MESSAGE_TOKENS for message in messages)

    def _counted(self, text: str) -> int:
        if self.note is None:
            try:
                return self._model.count_tokens(text)
            except ModelError as error:
                reason = str(error).partition("\n")[0]
                self.note = f"tokens are word pieces of BERT, since the model can't count its own: {reason}"
        return len(self._wordpiece.offsets(text))


def _joined(texts: Iterable[str]) -> str:
    parts: list[str] = []
    length = 0
    for text in texts:
        parts.append(text)
        length += len(text)
        if length >= SAMPLE_CHARACTERS:
            break
    return "\n\n".join(parts)[:SAMPLE_CHARACTERS]
