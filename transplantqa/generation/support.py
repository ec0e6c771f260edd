"""Whether an answer's words and numbers are in its evidence: lexical support, no model."""

from collections.abc import Sequence
from dataclasses import dataclass

from transplantqa.generation import citations
from transplantqa.generation.lexical import content_stems, numbers, written_numbers

DEFAULT_MINIMUM = 0.6
"""Ours: an extract has 1.0; a fair paraphrase of a passage keeps well over half of its content words."""


@dataclass(frozen=True, slots=True)
class Support:
    """How much of an answer its evidence carries.

    Attributes:
        word_share: distinct content words (stemmed) of the answer that occur in the evidence, as a share; 1.0 of none.
        missing_numbers: numbers the answer writes in digits that the evidence gives neither in digits nor in words.
        supported: the share reaches the minimum and no number is missing.
    """

    word_share: float
    missing_numbers: tuple[str, ...]
    supported: bool


def support(answer: str, evidence: Sequence[str], minimum: float = DEFAULT_MINIMUM) -> Support:
    """Measure lexical support of ``answer`` (its citations left out) by the texts of its ``evidence``.

    A floor under faithfulness, not a proof of it: a negation turned round keeps every word. Pass headings along with
    the passages' texts, since an answer may repeat a heading.
    """
    said = citations.strip(answer)
    stems = set(content_stems(said))
    known = {stem for text in evidence for stem in content_stems(text)}
    known_numbers = {number for text in evidence for number in numbers(text)}
    share = len(stems & known) / len(stems) if stems else 1.0
    missing = tuple(sorted(written_numbers(said) - known_numbers))
    return Support(share, missing, supported=share >= minimum and not missing)
