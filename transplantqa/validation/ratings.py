"""What people and a judge said of the same pairs, as codes; and what people together say."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]
Mask = NDArray[np.bool_]
Decided = Literal["agreed", "majority", "adjudicated", "single", "disputed", "missing"]

MISSING = -1
DECIDED: tuple[Decided, ...] = ("agreed", "majority", "adjudicated", "single", "disputed", "missing")


@dataclass(frozen=True)
class Ratings:
    """Labels as places in a scale, -1 where there is none.

    Args:
        scale: the labels in their order.
        annotators: names of the people, without an adjudicator.
        labels: (pairs, annotators).
        judge: (pairs,).
        clusters: (pairs,), the question of each pair as a number from 0: what is resampled.
        strata: (pairs,), each pair's stratum as a number from 0.
        population: (strata,), pairs of each stratum in the population.
        adjudicator: (pairs,), who decides what the others dispute; None when there is nobody.
        screened: (pairs,), True where the pre-screen decided and no judge did; None when that means nothing.
        absent: the label that says a side is silent, or None where the scale has none.
    """

    scale: tuple[str, ...]
    annotators: tuple[str, ...]
    labels: Codes
    judge: Codes
    clusters: Codes
    strata: Codes
    population: NDArray[np.float64]
    adjudicator: Codes | None = None
    screened: Mask | None = None
    absent: int | None = None


@dataclass(frozen=True)
class Consensus:
    """What people together say of each pair: a code (-1 where nothing) and the place in ``DECIDED`` of how."""

    codes: Codes
    decided: Codes

    def is_decided(self, *ways: Decided) -> Mask:
        """Say which pairs were decided in one of these ways."""
        return np.isin(self.decided, [DECIDED.index(way) for way in ways])


def counts(labels: Codes, size: int) -> Codes:
    """Count, for each pair, the annotators who gave each label: (pairs, size)."""
    return np.stack([(labels == code).sum(axis=1) for code in range(size)], axis=1).astype(np.int64)


def consensus(labels: Codes, size: int, adjudicator: Codes | None = None) -> Consensus:
    """Decide each pair: all agree, more than half do, the adjudicator says, or it stays disputed.

    Nothing is made up: a pair that nobody labelled is missing, and one label alone is ``single``.

    Args:
        labels: (pairs, annotators), -1 where missing.
        size: labels of the scale.
        adjudicator: (pairs,), looked at only where the others dispute.
    """
    given = counts(labels, size)
    ratings, most, first = given.sum(axis=1), given.max(axis=1, initial=0), given.argmax(axis=1)
    ways = [
        (ratings == 0, "missing"),
        (ratings == 1, "single"),
        (most == ratings, "agreed"),
        (2 * most > ratings, "majority"),
    ]
    decided = np.select([mask for mask, _ in ways], [DECIDED.index(way) for _, way in ways], DECIDED.index("disputed"))
    codes = np.where(decided < DECIDED.index("disputed"), first, MISSING)
    if adjudicator is not None:
        settled = (decided == DECIDED.index("disputed")) & (adjudicator >= 0)
        codes = np.where(settled, adjudicator, codes)
        decided = np.where(settled, DECIDED.index("adjudicated"), decided)
    return Consensus(codes.astype(np.int64), decided.astype(np.int64))


def resolved(found: Consensus, labels: Codes, judge: Codes, size: int, way: Literal["best", "worst"]) -> Codes:
    """Settle what stays disputed for or against the judge, always by a label that somebody gave.

    ``best`` takes the given label nearest to the judge's in the scale, ``worst`` the farthest; of equals the lower.
    """
    given = counts(labels, size) > 0
    steps = np.abs(np.arange(size)[None, :] - judge[:, None]).astype(np.float64)
    if way == "best":
        chosen = np.where(given, steps, np.inf).argmin(axis=1)
    else:
        chosen = np.where(given, steps, -np.inf).argmax(axis=1)
    return np.where(found.is_decided("disputed"), chosen, found.codes).astype(np.int64)


def coded(values: Sequence[str | None], scale: Sequence[str]) -> Codes:
    """Return the places of values in a scale; -1 for null."""
    places = {name: place for place, name in enumerate(scale)}
    return np.array([MISSING if value is None else places[value] for value in values], dtype=np.int64)
