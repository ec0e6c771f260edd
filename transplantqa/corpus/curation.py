"""From raw candidates to a question set: duplicates and what is no question go, personal data is flagged."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from transplantqa.records import Question

Pair = tuple[str, str]
"""Two words that follow each other in a question."""
STEPS = ("no question", "duplicate", "near-duplicate", "kept")
_DETERMINERS = frozenset(
    ("a", "an", "the", "my", "your", "our", "his", "her", "their", "this", "that", "these", "those")
)
"""Words that don't tell two questions apart."""
_WORD = re.compile(r"[^\W_]+|[<>\u2264\u2265]")
"""Words, and the signs between which two questions may differ alone."""
_ASKS = re.compile(
    r"\?|^\W*(?:who|what|when|where|why|which|how|can|could|may|might|must|should|shall|will|would|do|does|did|is|are|am|"
    r"was|were|has|have|tell|explain|describe)\b",
    re.IGNORECASE,
)
_MONTH = (
    r"(?:(?i:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\.?|May)"
)
"""A month's name or its short form; May, which is mostly a verb, is looked for with its capital."""
PERSONAL: Mapping[str, re.Pattern[str]] = {
    "e-mail address": re.compile(r"[\w.+-]+@[\w-]+\.\w+"),
    "phone number": re.compile(r"(?<!\d)(?:\+?\d{1,3}[ .-]?)?(?:\(\d{3}\)|\d{3})[ .-]?\d{3}[ .-]?\d{4}(?!\d)"),
    "date": re.compile(
        r"\b\d{4}[/.-]\d{1,2}[/.-]\d{1,2}\b|\b\d{1,2}[/.-]\d{1,2}[/.-](?:\d{4}|\d\d)\b"
        rf"|\b{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?\b|\b\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH}(?!\w)"
        r"|(?i:\bborn (?:in|on)\b)",
    ),
    "record number": re.compile(
        r"\b(?:mrn|ssn|record|patient|insurance)\s*(?:no\.?|number|id|#)?\s*:?\s*#?\d{4,}\b", re.IGNORECASE
    ),
    "social security number": re.compile(r"\b\d{3}-\d{2}-\d{4}\b"),
    "name": re.compile(r"(?i:\bmy name is\b|'s name is\b)|\b(?:Dr|Mr|Mrs|Ms)\.? [A-Z]\w+"),
    "age": re.compile(
        r"\b\d{1,3}[- ]?(?:years?[- ]old|yo|y/o)\b"
        r"|\b(?:i am|i'm|aged|age|turned) \d{1,3}\b(?! (?:days?|weeks?|months?|hours?))",
        re.IGNORECASE,
    ),
}
"""What may point to a person, by kind. A flag is for a person to look at; nothing is removed for it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Where the steps draw their lines, ours all of them.

    ``near`` is the share of word pairs in common from which two questions are near-duplicates; fewer than ``min_words``
    ask nothing that stands alone, more than ``max_words`` are a story or a paste.
    """

    near: float = 0.8
    min_words: int = 3
    max_words: int = 60


@dataclass(frozen=True, slots=True)
class Decision:
    """What became of one candidate: the ``step`` that took it out, with the reason, or "kept" with its flags."""

    question: Question
    step: str
    why: str = ""
    flags: tuple[str, ...] = ()


def curate(candidates: Sequence[Question], limits: Limits | None = None) -> list[Decision]:
    """Decide on each candidate, in the order given; of duplicates the first is kept.

    Steps: "no question" (too short, too long, asks nothing), "duplicate" (the same words; the one kept takes over its
    groups, topics and sub-topics), "near-duplicate" (of the same groups as one kept, with too many word pairs in
    common, articles and possessives aside).
    """
    limits = limits or Limits()
    decisions: list[Decision] = []
    exact: dict[tuple[str, ...], int] = {}
    pairs_kept: dict[str, frozenset[Pair]] = {}
    holders: dict[tuple[Pair, frozenset[str]], list[str]] = {}
    for question in candidates:
        words = key_words(question.text)
        telling = [word for word in words if word not in _DETERMINERS]
        pairs = frozenset(zip(("", *telling), (*telling, ""), strict=True))
        groups = frozenset(question.groups)
        unsuited = unfit(question.text, words, limits)
        near = None if unsuited or words in exact else _nearest(pairs, groups, pairs_kept, holders, limits.near)
        if unsuited:
            decisions.append(Decision(question, "no question", unsuited))
        elif words in exact:
            kept = decisions[exact[words]]
            merged = _with_labels(kept.question, question)
            decisions[exact[words]] = replace(kept, question=merged)
            if frozenset(merged.groups) != frozenset(kept.question.groups):
                _hold(holders, merged, pairs)
            decisions.append(Decision(question, "duplicate", f"of {kept.question.question_id}"))
        elif near is not None:
            decisions.append(Decision(question, "near-duplicate", f"of {near[1]} ({near[0]:.2f} of the word pairs)"))
        else:
            name = question.question_id
            exact[words], pairs_kept[name] = len(decisions), pairs
            _hold(holders, question, pairs)
            decisions.append(Decision(question, "kept", flags=personal_data(question.text)))
    return decisions


def _hold(holders: dict[tuple[Pair, frozenset[str]], list[str]], question: Question, pairs: frozenset[Pair]) -> None:
    """Let a kept question be found, by its word pairs, when another of its groups is looked at."""
    for pair in pairs:
        holders.setdefault((pair, frozenset(question.groups)), []).append(question.question_id)


def _with_labels(kept: Question, other: Question) -> Question:
    """Return ``kept`` with what ``other`` is labelled with, too; without groups, as a general question has none."""
    general = not kept.groups or not other.groups
    return replace(
        kept,
        groups=() if general else tuple(dict.fromkeys((*kept.groups, *other.groups))),
        topics=tuple(dict.fromkeys((*kept.topics, *other.topics))),
        subtopics=tuple(dict.fromkeys((*kept.subtopics, *other.subtopics))),
    )


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
    steps = {step: counts[step] for step in STEPS}
    return {"candidates": len(decisions), **steps, "flagged": sum(bool(decision.flags) for decision in decisions)}


def unfit(text: str, words: Sequence[str], limits: Limits) -> str:
    """Return why a text of these key words is no question, or an empty string."""
    if len(words) < limits.min_words:
        return f"fewer than {limits.min_words} words"
    if len(words) > limits.max_words:
        return f"more than {limits.max_words} words"
    return "" if _ASKS.search(text) else "asks nothing"


def _nearest(
    pairs: frozenset[Pair],
    groups: frozenset[str],
    kept: Mapping[str, frozenset[Pair]],
    holders: Mapping[tuple[Pair, frozenset[str]], Sequence[str]],
    near: float,
) -> tuple[float, str] | None:
    """Return (Jaccard index, id) of the kept question with most word pairs in common, if that is near."""
    common = Counter(name for pair in pairs for name in holders.get((pair, groups), ()))
    scores = [(count / (len(pairs) + len(kept[name]) - count), name) for name, count in common.items()]
    best = min(scores, key=lambda score: (-score[0], score[1]), default=None)
    return best if best is not None and best[0] >= near else None
