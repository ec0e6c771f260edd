"""Where the judge agrees less, or finds more conflict than people: by answer length, order shown and institution."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from transplantqa.records import CONFLICT_LABELS, Label
from transplantqa.validation.assess import SCALE, Assessed
from transplantqa.validation.judged import key_of
from transplantqa.validation.matrices import FloatArray
from transplantqa.validation.ratings import Codes
from transplantqa.validation.resampling import Bootstrap, interval

LENGTHS = ("short", "medium", "long")
_CONFLICTS = [SCALE.index(label) for label in Label if label in CONFLICT_LABELS]


@dataclass(frozen=True, slots=True)
class BiasFigure:
    """Over pairs that people decided and the judge labelled: one member of a facet.

    Args:
        facet: ``answer_length`` (thirds of the sample, both answers together), ``shown_first``, ``institution`` (a pair
            belongs to both of its institutions), ``decided_by``.
        member: its value.
        n: pairs.
        agreement: share of equal labels; null without pairs.
        conflict_excess: share of conflicts by the judge less that by people.
    """

    facet: str
    member: str
    n: int
    agreement: float | None
    agreement_low: float | None
    agreement_high: float | None
    conflict_excess: float | None
    conflict_excess_low: float | None
    conflict_excess_high: float | None


def bias(assessed: Assessed, institutions: Mapping[str, str], bootstrap: Bootstrap) -> list[BiasFigure]:
    """Return agreement and excess of conflict by facet and member, as drawn.

    Args:
        assessed: labels of both.
        institutions: document to institution.
        bootstrap: of the intervals.
    """
    people, judge = assessed.people.codes, assessed.labels.judge
    rows = np.flatnonzero((people >= 0) & (judge >= 0))
    equal = (people[rows] == judge[rows]).astype(np.float64)
    excess = np.isin(judge[rows], _CONFLICTS).astype(np.float64) - np.isin(people[rows], _CONFLICTS)
    drawn = bootstrap.draw(assessed.labels.clusters)
    clusters = assessed.labels.clusters[rows]
    found = []
    for facet, members in _facets(assessed, institutions, rows):
        for member in sorted({name for names in members for name in names}):
            chosen = np.array([member in names for names in members], dtype=np.bool_)
            times = drawn[clusters[chosen]]
            n, questions = int(chosen.sum()), len(np.unique(clusters[chosen]))
            agreement, more = (
                _mean(equal[chosen], times, questions, bootstrap),
                _mean(excess[chosen], times, None, bootstrap),
            )
            found.append(BiasFigure(facet, member, n, *agreement, *more))
    return found


def _facets(
    assessed: Assessed, institutions: Mapping[str, str], rows: Codes
) -> Iterator[tuple[str, Sequence[Sequence[str]]]]:
    pairs = [assessed.pairs[row] for row in rows]
    judged = [assessed.judged[key_of(pair)] for pair in pairs]
    yield "answer_length", [[LENGTHS[pair["length_third"]]] for pair in pairs]
    yield "shown_first", [[one.shown_first or "not judged"] for one in judged]
    yield "institution", [[institutions[pair["document_a"]], institutions[pair["document_b"]]] for pair in pairs]
    yield "decided_by", [[one.decided_by or "unknown"] for one in judged]


def _mean(
    values: FloatArray, times: FloatArray, share_over: int | None, bootstrap: Bootstrap
) -> tuple[float | None, float | None, float | None]:
    value = float(values.mean()) if len(values) else None
    counted = times.sum(axis=0)
    replicates = np.where(counted > 0, values @ times / np.where(counted > 0, counted, 1.0), np.nan)
    low, high = interval(value, replicates, share_over, bootstrap)
    return value, low, high
