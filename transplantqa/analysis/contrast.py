"""Two systems on the same questions and documents: what changed, split exactly into its parts.

Pure functions of counts; telling which components differ, and logging, is the command's.
"""

from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from transplantqa.analysis.counts import CELL_STATES, PAIR_STATES, Cells, IntArray, Mask, Pairs, find
from transplantqa.analysis.measures import CONFLICT, DECIDED, JUDGED_ABSENT, VISIBLE, FloatArray, weights_of
from transplantqa.errors import InputError

TERMS = (
    "newly_answered",
    "judged_into_view",
    "intensity",
    "judged_out_of_view",
    "no_longer_answered",
)
"""In the order of ``measures.md``; they sum to the change."""
_IS_CONFLICT = weights_of(CONFLICT, PAIR_STATES) > 0
_IS_VISIBLE = weights_of(VISIBLE, PAIR_STATES) > 0
_IS_DECIDED = weights_of(DECIDED, PAIR_STATES) > 0
_IS_ANSWERED = weights_of((*VISIBLE, *JUDGED_ABSENT), PAIR_STATES) > 0


@dataclass(frozen=True)
class PairedStates:
    """Pairs decided in both systems: question positions, and each system's pair states."""

    questions: int
    question: IntArray
    before: IntArray
    after: IntArray
    excluded: int

    def sums(self, mask: Mask) -> FloatArray:
        """Count by question the pairs where ``mask`` holds."""
        return np.bincount(self.question[mask], minlength=self.questions).astype(np.float64)


@dataclass(frozen=True)
class Change:
    """A rate in both systems, their difference and its five terms; bounds are NaN without replicates.

    ``terms`` and the bounds are ordered as ``TERMS``; ``low`` and ``high`` have the difference first, then the terms.
    """

    before: float
    after: float
    terms: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


def pair_up(cells: Cells, pairs: tuple[Pairs, Pairs], masks: tuple[Mask, Mask]) -> PairedStates:
    """Match the pairs of two systems and keep those decided in both.

    Args:
        cells: of either system; both must know the same questions and documents.
        pairs: every pair of the system before, and of the one after.
        masks: which pairs of each are in scope.

    Returns:
        The pairs decided in both; ``excluded`` counts pairs in scope in either that aren't.
    """
    sides = []
    for side, mask in zip(pairs, masks, strict=True):
        keys = cells.pair_keys(side.question, side.a, side.b)
        sides.append((keys[mask], side.state[mask], side.question[mask]))
    (keys, before, question), (other_keys, other_state, _) = sides
    at, there = find(other_keys, keys)
    after = other_state[at] if len(other_keys) else np.zeros(len(keys), np.int64)
    kept = there & _IS_DECIDED[before] & (_IS_DECIDED[after] if len(after) else there)
    union = len(keys) + len(other_keys) - int(there.sum())
    return PairedStates(len(cells.question_ids), question[kept], before[kept], after[kept], union - int(kept.sum()))


def require_same_design(before: Cells, after: Cells) -> None:
    """Refuse systems over different questions or documents.

    Raises:
        InputError: naming what only one of them has.
    """
    problems = []
    for what, first, second in (
        ("questions", before.question_ids, after.question_ids),
        ("documents", before.document_ids, after.document_ids),
    ):
        for word, only in (("baseline", set(first) - set(second)), ("candidate", set(second) - set(first))):
            if only:
                shown = ", ".join(sorted(only)[:5])
                problems.append(f"contrast: {len(only)} {what} are in the {word} alone: {shown}.")
    if problems:
        raise InputError("\n".join([*problems, "Contrast two runs over the same questions and corpus."]))


def any_divergence_change(paired: PairedStates, weights: FloatArray, confidence: float) -> Change:
    """Split the change of the share of questions with a conflict; over questions with a pair decided in both."""
    eligible = (paired.sums(np.ones(len(paired.question), np.bool_)) > 0).astype(np.float64)
    levels = [(paired.sums(events) > 0).astype(np.float64) for events, _ in _levels(paired)]
    return _change([(level, eligible) for level in levels], weights, confidence)


def pooled_change(paired: PairedStates, weights: FloatArray, confidence: float) -> Change:
    """Split the change of conflicts over visible pairs."""
    return _change([(paired.sums(x), paired.sums(v)) for x, v in _levels(paired)], weights, confidence)


def _levels(paired: PairedStates) -> list[tuple[Mask, Mask]]:
    """Return (conflict, visible) of A1, A1|B, A1|C, A0|C, A0|B, A0: B answered in both, C visible in both."""
    before, after = paired.before, paired.after
    answered = _IS_ANSWERED[before] & _IS_ANSWERED[after]
    visible = _IS_VISIBLE[before] & _IS_VISIBLE[after]
    everything = np.ones(len(before), np.bool_)
    return [
        (_IS_CONFLICT[state] & subset, _IS_VISIBLE[state] & subset)
        for state, subset in (
            (after, everything),
            (after, answered),
            (after, visible),
            (before, visible),
            (before, answered),
            (before, everything),
        )
    ]


def _change(levels: list[tuple[FloatArray, FloatArray]], weights: FloatArray, confidence: float) -> Change:
    ones = np.ones((1, len(levels[0][0])))
    rates = _rates(levels, ones)[0]
    low = high = (float("nan"),) * (len(TERMS) + 1)
    if len(weights):
        drawn = _rates(levels, weights)
        tail = (1.0 - confidence) / 2.0
        differences = np.column_stack([drawn[:, 0] - drawn[:, -1], drawn[:, :-1] - drawn[:, 1:]])
        bounds = np.quantile(differences, [tail, 1.0 - tail], axis=0)
        low, high = tuple(bounds[0].tolist()), tuple(bounds[1].tolist())
    terms = tuple((rates[:-1] - rates[1:]).tolist())
    return Change(float(rates[-1]), float(rates[0]), terms, low, high)


def _rates(levels: list[tuple[FloatArray, FloatArray]], weights: FloatArray) -> FloatArray:
    """Return (replicates, levels) ratios; a level with nothing visible has no conflict and counts as zero."""
    columns = []
    for numerator, denominator in levels:
        top, bottom = weights @ numerator, weights @ denominator
        columns.append(np.where(bottom > 0, top / np.where(bottom > 0, bottom, 1.0), 0.0))
    return np.column_stack(columns)


def growth_alone(paired: PairedStates) -> tuple[float, float]:
    """Return the change of any-divergence that more visible pairs alone bring, and the rest of it.

    Each question is rarefied in both systems to the smaller of its two numbers of visible pairs: what is left of the
    change then owes nothing to their number. The two parts sum to the change.
    """
    eligible = int((paired.sums(np.ones(len(paired.question), np.bool_)) > 0).sum())
    if not eligible:
        return 0.0, 0.0
    counts = [(paired.sums(_IS_VISIBLE[s]), paired.sums(_IS_CONFLICT[s])) for s in (paired.before, paired.after)]
    smaller = np.minimum(counts[0][0], counts[1][0])
    rarefied = [_rarefied(visible, conflict, smaller) for visible, conflict in counts]
    change = float((counts[1][1] > 0).sum() - (counts[0][1] > 0).sum()) / eligible
    rest = float(rarefied[1].sum() - rarefied[0].sum()) / eligible
    return change - rest, rest


def _rarefied(visible: FloatArray, conflict: FloatArray, drawn: FloatArray) -> FloatArray:
    chance = [
        1.0 - comb(int(v - x), int(m)) / comb(int(v), int(m)) for v, x, m in zip(visible, conflict, drawn, strict=True)
    ]
    return np.array(chance)


def question_flips(paired: PairedStates) -> tuple[int, int, float]:
    """Return questions that gained a conflict, that lost their last one, and McNemar's exact two-sided p."""
    before, after = (paired.sums(_IS_CONFLICT[state]) > 0 for state in (paired.before, paired.after))
    return (*_mcnemar(int((~before & after).sum()), int((before & ~after).sum())),)


def _mcnemar(gained: int, lost: int) -> tuple[int, int, float]:
    total = gained + lost
    tail = sum(comb(total, count) for count in range(min(gained, lost) + 1))
    return gained, lost, min(1.0, 2 * tail / 2**total)


def unchanged(low: float, high: float, margin: float) -> bool:
    """Say whether an interval of a difference lies inside the equivalence margin: only then may "unchanged" be said."""
    return -margin <= low and high <= margin


def cell_changes(before: Cells, after: Cells) -> NDArray[np.int64]:
    """Count cells by state before (rows) and after (columns), over cells in both; states as in ``CellState``."""
    at, there = find(after.keys, before.keys)
    first = before.state[there].astype(np.int64)
    counts = np.bincount(first * CELL_STATES + after.state[at[there]], minlength=CELL_STATES**2)
    return counts.astype(np.int64).reshape(CELL_STATES, CELL_STATES)
