"""From raw candidates to a question set: duplicates and what is no question go, personal data is flagged."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from transplantqa.records import Question

NEAR = 0.8
"""Share of common word pairs from which two questions are near-duplicates. Ours."""
MIN_WORDS, MAX_WORDS = 3, 60
"""Words of a question that can be asked of a document on its own. Ours."""
_WORD = re.compile(r"[^\W_]+")
_ASKS = re.compile(
    r"\?|^\W*(?:who|what|when|where|why|which|how|can|could|may|might|must|should|shall|will|would|do|does|did|is|are|am|"
    r"was|were|has|have|tell|explain|describe)\b",
    re.IGNORECASE,
)
PERSONAL: Mapping[str, re.Pattern[str]] = {
    "e-mail address": re.compile(r"[\w.+-]+@[\w-]+\.\w+"),
    "phone number": re.compile(r"(?<!\d)(?:\+?\d{1,3}[ .-]?)?(?:\(\d{3}\)|\d{3})[ .-]?\d{3}[ .-]?\d{4}(?!\d)"),
    "date": re.compile(r"\b\d{1,4}[/.-]\d{1,2}[/.-]\d{1,4}\b"),
    "record number": re.compile(
        r"\b(?:mrn|ssn|record|patient|insurance)\s*(?:no\.?|number|id|#)?\s*:?\s*#?\d{4,}\b", re.IGNORECASE
    ),
    "name": re.compile(r"\bmy name is\b|\b(?:Dr|Mr|Mrs|Ms)\.? [A-Z]\w+"),
    "age": re.compile(r"\b\d{1,3}[- ]?(?:years?[- ]old|yo|y/o)\b", re.IGNORECASE),
}
"""What may point to a person, by kind. A flag is for a person to look at; nothing is removed for it."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What became of one candidate: the ``step`` that took it out, with the reason, or "kept" with its flags."""

    question: Question
    step: str
    why: str = ""
    flags: tuple[str, ...] = ()


def curate(candidates: Sequence[Question]) -> list[Decision]:
    """Decide on each candidate, in the order given; of duplicates the first is kept.

    Steps: "no question" (too short, too long, asks nothing), "duplicate" (the same words), "near-duplicate" (at least
    ``NEAR`` of the word pairs in common with one kept).
    """
    decisions: list[Decision] = []
    exact: dict[tuple[str, ...], str] = {}
    pairs_kept: dict[str, frozenset[tuple[str, str]]] = {}
    holders: dict[tuple[str, str], list[str]] = {}
    for question in candidates:
        words = key_words(question.text)
        pairs = frozenset(zip(("", *words), (*words, ""), strict=True))
        unfit = _unfit(question.text, words)
        near = None if unfit or words in exact else _nearest(pairs, pairs_kept, holders)
        if unfit:
            decisions.append(Decision(question, "no question", unfit))
        elif words in exact:
            decisions.append(Decision(question, "duplicate", f"of {exact[words]}"))
        elif near is not None:
            decisions.append(Decision(question, "near-duplicate", f"of {near[1]} ({near[0]:.2f} of the word pairs)"))
        else:
            name = question.question_id
            exact[words], pairs_kept[name] = name, pairs
            for pair in pairs:
                holders.setdefault(pair, []).append(name)
            decisions.append(Decision(question, "kept", flags=personal_data(question.text)))
    return decisions


def key_words(text: str) -> tuple[str, ...]:
    """Return a question's words for comparison: compatibility forms, case and punctuation don't count."""
    return tuple(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def personal_data(text: str) -> tuple[str, ...]:
    """Return the kinds of personal data that a text may hold."""
    return tuple(kind for kind, pattern in PERSONAL.items() if pattern.search(text))


def step_counts(decisions: Iterable[Decision]) -> dict[str, int]:
    """Return how many candidates each step took out, how many are kept, and how many of these are flagged."""
    decisions = list(decisions)
    counts = Counter(decision.step for decision in decisions)
    steps = {step: counts[step] for step in ("no question", "duplicate", "near-duplicate", "kept")}
    return {"candidates": len(decisions), **steps, "flagged": sum(bool(decision.flags) for decision in decisions)}


def _unfit(text: str, words: Sequence[str]) -> str:
    if len(words) < MIN_WORDS:
        return f"fewer than {MIN_WORDS} words"
    if len(words) > MAX_WORDS:
        return f"more than {MAX_WORDS} words"
    return "" if _ASKS.search(text) else "asks nothing"


def _nearest(
    pairs: frozenset[tuple[str, str]],
    kept: Mapping[str, frozenset[tuple[str, str]]],
    holders: Mapping[tuple[str, str], Sequence[str]],
) -> tuple[float, str] | None:
    """Return (Jaccard index, id) of the kept question with most word pairs in common, if that is near."""
    common = Counter(name for pair in pairs for name in holders.get(pair, ()))
    scores = [(count / (len(pairs) + len(kept[name]) - count), name) for name, count in common.items()]
    best = min(scores, key=lambda score: (-score[0], score[1]), default=None)
    return best if best is not None and best[0] >= NEAR else None
