"""The baseline judge: rules over numbers with units, prohibition against permission, and shared words."""

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Annotated

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import Field

from transplantqa.generation import citations
from transplantqa.generation.lexical import STOP_WORDS, content_stems, normalise, sentences, stem, words
from transplantqa.judging.presentation import Side, presentation_columns
from transplantqa.judging.protocols import DisagreementPolicy, Pair
from transplantqa.judging.quantities import Quantity, quantities
from transplantqa.models.protocols import Identity
from transplantqa.records import CONFLICT_LABELS, Judgement, Label, Outcome, Significance

METHOD = "rules-4"
LEAST_SHARED = 2
"""Content stems two sentences must share before their polarity is compared. Ours."""

_FORBIDS = re.compile(
    r"\b(?:never|avoid|forbidden|prohibited|off[- ]limits|refrain|unsafe|banned|must not|should not|shouldn|may not|"
    r"cannot|can\s?not|do not|don|stay away|stay out|leave .{0,40}\b(?:shelf|alone|out)|refused|no longer|is out|"
    r"are out|not (?:be )?(?:allowed|permitted|safe|recommended|advised|take|eat|drink|use|have)|not now|not later|"
    r"nothing raw|none|no [a-z]+(?:,| or| and|\.|$))\b"
)
_ALLOWS = re.compile(
    r"\b(?:(?:you|they|people|we) (?:may|can)|can stay|safe|allowed|permitted|okay|ok|fine|all right|welcome|"
    r"own choice|encouraged|free to|go ahead|no need to|approved|acceptable|possible|yes)\b"
)
Share = Annotated[float, Field(ge=0.0, le=1.0)]


class RulesJudge:
    """Labels a pair by rules, the same whichever answer comes first; never ABSENT, since both answered.

    1. *Opposed*: one answer only forbids and the other only allows, or the two sentences (one an answer) that share
       most content, at least two stems, do. CONTRADICTORY.
    2. *Other numbers*: of some kind of quantity (duration, frequency, volume, dose, temperature …) each answer gives a
       value that agrees with none of the other's, in sentences that share content or where each gives but one value.
       DIVERGENT.
    3. *Same content*: the share of the shorter answer's content stems found in the other reaches ``consistent_from``,
       or ``consistent_with_numbers_from`` where a quantity agrees too. CONSISTENT.
    4. Otherwise COMPLEMENTARY.

    Significance of 1 and 2: high where doses, temperatures or words of danger are involved, medium for 1 otherwise,
    low for 2. The topic is the longest run of words both answers share, else the question's first content words.

    Args:
        consistent_from: share of rule 3.
        consistent_with_numbers_from: share of rule 3 beside an agreeing quantity.
        danger_words: words and phrases, in small letters, that make any conflict one of high significance.
    """

    group_size = 1
    replicates = 1
    disagreement: DisagreementPolicy = "a_first"

    def __init__(
        self, *, consistent_from: Share, consistent_with_numbers_from: Share, danger_words: tuple[str, ...] = ()
    ) -> None:
        self._consistent_from = consistent_from
        self._consistent_with_numbers_from = consistent_with_numbers_from
        self._danger_words = tuple(sorted(danger_words))
        self._danger = re.compile(rf"\b(?:{'|'.join(map(re.escape, self._danger_words))})\b") if danger_words else None

    def identity(self) -> Identity:
        """The rules' version, thresholds and words."""
        return {
            "method": METHOD,
            "consistent_from": self._consistent_from,
            "consistent_with_numbers_from": self._consistent_with_numbers_from,
            "danger_words": list(self._danger_words),
        }

    def orders(self, question_id: str, document_a: str, document_b: str) -> tuple[Side, ...]:  # noqa: ARG002 - any pair
        """Return the one order judged: it can't matter."""
        return ("a",)

    def order_columns(self, pairs: pa.Table) -> tuple[NDArray[np.int64], pa.Array]:
        """Return the same for a whole table of pairs."""
        return presentation_columns("fixed", pairs, seed=0)

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        """Yield one judgement a pair, in the order given."""
        for pair in pairs:
            yield self._judge(pair)

    def reread(self, judgement: Judgement, place: int = 1) -> Judgement:  # noqa: ARG002 - as for any judge
        """Return the judgement: rules leave no reply to read."""
        return judgement

    def close(self) -> None:
        """Do nothing; there is nothing to release."""

    def label(self, a: str, b: str) -> tuple[Label, str]:
        """Return the relation of two answer texts and the rule that gave it, in words."""
        first, second = _read(a), _read(b)
        if _opposed(first, second):
            return Label.CONTRADICTORY, "one forbids what the other allows"
        agreeing, clashing = _compare_quantities(first.quantities, second.quantities)
        if clashing:
            return Label.DIVERGENT, f"other numbers: {', '.join(clashing)}"
        shared = _overlap(first.stems, second.stems)
        least = self._consistent_with_numbers_from if agreeing else self._consistent_from
        if shared >= least:
            return Label.CONSISTENT, f"{shared:.0%} of the shorter answer's content shared"
        return Label.COMPLEMENTARY, f"no conflict found, {shared:.0%} of the shorter answer's content shared"

    def _judge(self, pair: Pair) -> Judgement:
        started = time.perf_counter()
        label, why = self.label(pair.a.text, pair.b.text)
        conflict = label in CONFLICT_LABELS
        return Judgement(
            question_id=pair.question.question_id,
            document_a=pair.a.document_id,
            document_b=pair.b.document_id,
            outcome=Outcome.OK,
            shown_first=pair.shown_first,
            label=label,
            reasoning=why,
            divergence_topic=topic(pair.question.text, pair.a.text, pair.b.text) if conflict else None,
            significance=_significance(label, pair, why, self._danger) if conflict else None,
            seconds=time.perf_counter() - started,
            replicate=pair.replicate,
            variant=pair.a.variant,
        )


class _Reading:
    """What the rules see of an answer."""

    __slots__ = ("quantities", "sentences", "stems")

    def __init__(self, text: str) -> None:
        said = citations.strip(text).strip("“” \n")
        self.sentences = [(frozenset(content_stems(part)), _polarity(part)) for part in sentences(said)]
        self.stems = frozenset(content_stems(said))
        self.quantities = tuple(quantities(said))


@lru_cache(maxsize=50_000)
def _read(text: str) -> _Reading:
    return _Reading(text)


def _polarity(sentence: str) -> int:
    """-1 forbids, 1 allows, 0 neither or both."""
    folded = normalise(sentence)
    forbids = bool(_FORBIDS.search(folded))
    allows = bool(_ALLOWS.search(_FORBIDS.sub(" ", folded)))
    return int(allows) - int(forbids)


def _opposed(a: _Reading, b: _Reading) -> bool:
    """Whether one answer only forbids and one only allows, or the closest sentences that take a side do."""
    stands = ({polarity for _, polarity in side.sentences if polarity} for side in (a, b))
    if sorted(tuple(stand) for stand in stands) == [(-1,), (1,)]:
        return True
    best, products = LEAST_SHARED - 1, set[int]()
    for stems_a, polarity_a in a.sentences:
        for stems_b, polarity_b in b.sentences:
            if not polarity_a or not polarity_b:
                continue
            shared = len(stems_a & stems_b)
            if shared > best:
                best, products = shared, {polarity_a * polarity_b}
            elif shared == best:
                products.add(polarity_a * polarity_b)
    return best >= LEAST_SHARED and products == {-1}


def _compare_quantities(a: Sequence[Quantity], b: Sequence[Quantity]) -> tuple[bool, list[str]]:
    """Whether some quantity agrees, and the kinds in which each side has one that agrees with none, sorted."""
    agreeing, clashing = False, []
    for kind in sorted({item.kind for item in a} & {item.kind for item in b}):
        mine, theirs = ([item for item in side if item.kind == kind] for side in (a, b))
        alone = all(item.agrees(side[0]) for side in (mine, theirs) for item in side)
        agreeing = agreeing or any(x.agrees(y) for x in mine for y in theirs)
        unmatched_mine = [x for x in mine if not any(x.agrees(y) for y in theirs)]
        unmatched_theirs = [y for y in theirs if not any(y.agrees(x) for x in mine)]
        if any(alone or x.context & y.context for x in unmatched_mine for y in unmatched_theirs):
            clashing.append(kind)
    return agreeing, clashing


def _overlap(a: frozenset[str], b: frozenset[str]) -> float:
    shorter = min(len(a), len(b))
    return len(a & b) / shorter if shorter else 0.0


def topic(question: str, a: str, b: str) -> str:
    """Return the longest run of words both answers share that begins and ends with content; ties: first in ``a``."""
    mine, theirs = (words(citations.strip(text)) for text in (a, b))
    others = [stem(word) for word in theirs]
    best: list[str] = []
    for start in range(len(mine)):
        run = _content_run(mine[start : start + 5], others)
        if len(run) > len(best):
            best = run
    return " ".join(best or [word for word in words(question) if word not in STOP_WORDS][:2]) or "unspecified"


def _content_run(candidate: Sequence[str], others: Sequence[str]) -> list[str]:
    """The longest beginning of ``candidate`` found in ``others`` (stems) that begins and ends with a content word."""
    if not candidate or not _is_content(candidate[0]):
        return []
    for length in range(len(candidate), 0, -1):
        stems = [stem(word) for word in candidate[:length]]
        if _is_content(candidate[length - 1]) and _contains(others, stems):
            return list(candidate[:length])
    return []


def _is_content(word: str) -> bool:
    return word not in STOP_WORDS and not word.isdigit()


def _contains(sequence: Sequence[str], part: Sequence[str]) -> bool:
    return any(list(sequence[at : at + len(part)]) == list(part) for at in range(len(sequence) - len(part) + 1))


def _significance(label: Label, pair: Pair, why: str, danger: re.Pattern[str] | None) -> Significance:
    text = normalise(f"{pair.question.text} {pair.a.text} {pair.b.text}")
    if "dose" in why or "temperature" in why or (danger is not None and danger.search(text)):
        return "high"
    return "medium" if label is Label.CONTRADICTORY else "low"
