"""Pair rates corrected for the judge's errors by prediction-powered inference, from people's labels of a sample.

Angelopoulos, Bates, Fannjiang, Jordan and Zrnic (2023): what the judge says of every pair, plus the mean of what people
say differently on the sample. The sample is stratified by what the judge said, and a question's pairs are one cluster.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from transplantqa.analysis.counts import Cells, IntArray, Mask, Pairs, find, positions
from transplantqa.analysis.measures import JUDGED_ABSENT, STATES_OF_LABEL, FloatArray, group_of_state
from transplantqa.records import CONFLICT_LABELS, Label

LABELS = tuple(map(str, Label))
LABEL_OF_STATE = group_of_state(STATES_OF_LABEL[label] for label in Label)
STRATUM_OF_STATE = group_of_state([*STATES_OF_LABEL.values(), JUDGED_ABSENT])
"""The judge's ABSENT is a stratum apart from silence."""
_EVERY = frozenset(range(len(LABELS)))
_SILENT = frozenset({LABELS.index(Label.ABSENT)})
_CONFLICT = frozenset(LABELS.index(label) for label in CONFLICT_LABELS)
RATES: Mapping[str, tuple[frozenset[int], frozenset[int]]] = {
    "divergence_rate": (_CONFLICT, _EVERY - _SILENT),
    "pair_absence_rate": (_SILENT, _EVERY),
    **{f"label/{label}": (frozenset({place}), _EVERY) for place, label in enumerate(LABELS)},
}
"""Positions of the labels in numerator and denominator; what needs the silent side can't be corrected from labels."""
SCHEMA = pa.schema(
    [
        pa.field("measure", pa.string(), nullable=False),
        pa.field("uncorrected", pa.float64()),
        pa.field("corrected", pa.float64()),
        pa.field("low", pa.float64()),
        pa.field("high", pa.float64()),
        pa.field("labelled_pairs", pa.int64(), nullable=False),
        pa.field("pairs", pa.int64(), nullable=False),
        pa.field("questions", pa.int64(), nullable=False),
        pa.field("unsampled_pairs", pa.int64(), nullable=False),
    ]
)
"""``unsampled_pairs``: of strata of which no pair was labelled; there the judge is taken at its word."""


@dataclass(frozen=True)
class Population:
    """Every decided pair, and the sample of them that people labelled.

    Attributes:
        question: cluster of each pair.
        stratum: of each pair, by what the run says of it; the sample is scaled up to them.
        label: the run's, as a position in ``LABELS``.
        sampled: positions of the sampled pairs.
        people: their labels by people, in the same order.
        inclusion: their probabilities of being drawn.
    """

    question: IntArray
    stratum: IntArray
    label: IntArray
    sampled: IntArray
    people: IntArray
    inclusion: FloatArray


@dataclass(frozen=True)
class Corrected:
    """One rate; bounds are None where nothing varies or the rate is undefined."""

    uncorrected: float | None
    corrected: float | None
    low: float | None
    high: float | None


def corrected_rates(cells: Cells, pairs: Pairs, reference: pa.Table, confidence: float) -> pa.Table:
    """Return every correctable rate with what people's labels make of it; see ``SCHEMA``.

    Args:
        cells: of the run.
        pairs: those the rates are over; sampled pairs that aren't among them have no part.
        reference: one row a sampled pair: its key, ``inclusion_probability``, and people's ``label``, null where there
            is none.
        confidence: coverage aimed at.
    """
    population = _population(cells, pairs, reference)
    unsampled = ~np.isin(population.stratum, population.stratum[population.sampled])
    rows = []
    for name, (numerator, denominator) in RATES.items():
        found = corrected_ratio(population, numerator, denominator, confidence)
        rows.append(
            {
                "measure": name,
                **vars(found),
                "labelled_pairs": len(population.sampled),
                "pairs": len(population.label),
                "questions": len(np.unique(population.question)),
                "unsampled_pairs": int(unsampled.sum()),
            }
        )
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def corrected_ratio(
    population: Population, numerator: frozenset[int], denominator: frozenset[int], confidence: float
) -> Corrected:
    """Estimate a ratio of label counts: T = sum of the judge's + weighted sum of (people's - judge's), each side.

    Weights are inverse inclusion probabilities scaled to each stratum's pairs, so that missing labels cost precision
    alone if they are missing at random within a stratum. The variance is that of the linearised ratio summed by
    question: of each pair what its stratum's mean says, of each sampled pair also its distance from that mean.
    """
    judge = [_is_in(population.label, labels) for labels in (numerator, denominator)]
    people = [_is_in(population.people, labels) for labels in (numerator, denominator)]
    uncorrected = _ratio(judge[0].sum(), judge[1].sum())
    weights = _weights(population)
    totals = [
        ours.sum() + weights @ (theirs - ours[population.sampled]) for ours, theirs in zip(judge, people, strict=True)
    ]
    corrected = _ratio(*totals)
    if corrected is None:
        return Corrected(uncorrected, None, None, None)
    at_judge = judge[0] - corrected * judge[1]
    difference = people[0] - corrected * people[1] - at_judge[population.sampled]
    error = _standard_error(population, at_judge, difference, weights) / totals[1]
    if error == 0:
        return Corrected(uncorrected, corrected, None, None)
    reach = NormalDist().inv_cdf(0.5 + confidence / 2.0) * error
    return Corrected(uncorrected, corrected, max(0.0, corrected - reach), min(1.0, corrected + reach))


def sensitivity(visible: IntArray, conflicts: IntArray, eligible: Mask) -> pa.Table:
    """Return any-divergence as it would be if some of the judge's labels were wrong, independently of one another.

    A maximum over pairs can't be corrected from a sample of them. Each row takes a chance that a conflict is false and
    a chance that a visible pair without one hides one; the rate is the mean over eligible questions of
    ``1 - false ** X * (1 - hidden) ** (V - X)``.

    Args:
        visible: V of each question.
        conflicts: X of each question.
        eligible: questions with a decided pair.
    """
    v, x = visible[eligible].astype(np.float64), conflicts[eligible].astype(np.float64)
    names = SENSITIVITY.names
    grid = [(false, hidden) for false in FALSE_RATES for hidden in HIDDEN_RATES] if len(v) else []
    rows = [dict(zip(names, (*errors, _expected(v, x, *errors)), strict=True)) for errors in grid]
    return pa.Table.from_pylist(rows, schema=SENSITIVITY)


FALSE_RATES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
HIDDEN_RATES = (0.0, 0.01, 0.02, 0.05)
SENSITIVITY = pa.schema(
    [
        pa.field(name, pa.float64(), nullable=False)
        for name in ("false_conflict_rate", "hidden_conflict_rate", "any_divergence_rate")
    ]
)


def _expected(visible: FloatArray, conflicts: FloatArray, false: float, hidden: float) -> float:
    return float(np.mean(1.0 - np.power(false, conflicts) * np.power(1.0 - hidden, visible - conflicts)))


def _is_in(values: IntArray, labels: frozenset[int]) -> FloatArray:
    return np.isin(values, sorted(labels)).astype(np.float64)


def _ratio(top: float, bottom: float) -> float | None:
    return float(top / bottom) if bottom > 0 else None


def _weights(population: Population) -> FloatArray:
    """Return inverse inclusion probabilities, scaled so that each stratum's sum is its number of pairs."""
    strata = int(population.stratum.max(initial=-1)) + 1
    of = population.stratum[population.sampled]
    raw = 1.0 / population.inclusion
    size = np.bincount(population.stratum, minlength=strata)
    drawn = np.bincount(of, raw, minlength=strata)
    weights: FloatArray = raw * size[of] / np.where(drawn > 0, drawn, 1.0)[of]
    return weights


def _standard_error(population: Population, judge: FloatArray, difference: FloatArray, weights: FloatArray) -> float:
    strata = int(population.stratum.max(initial=-1)) + 1
    of = population.stratum[population.sampled]
    size = np.bincount(population.stratum, minlength=strata)
    mean = np.bincount(of, weights * difference, minlength=strata) / np.maximum(size, 1)
    drawn = np.bincount(of, minlength=strata)
    spread = np.sqrt(drawn / np.maximum(drawn - 1, 1))
    questions = int(population.question.max(initial=-1)) + 1
    sums = np.bincount(population.question, judge + mean[population.stratum], minlength=questions)
    residual = weights * spread[of] * (difference - mean[of])
    sums = sums + np.bincount(population.question[population.sampled], residual, minlength=questions)
    present = np.unique(population.question)
    if len(present) < 2:
        return 0.0
    return float(np.sqrt(len(present) / (len(present) - 1) * ((sums[present] - sums[present].mean()) ** 2).sum()))


def _population(cells: Cells, pairs: Pairs, reference: pa.Table) -> Population:
    decided = LABEL_OF_STATE[pairs.state] >= 0
    keys = cells.pair_keys(pairs.question, pairs.a, pairs.b)[decided]
    labelled = reference.filter(pc.is_valid(reference["label"]))
    question = positions(labelled["question_id"], cells.question_ids).astype(np.int64)
    first, second = (positions(labelled[f"document_{side}"], cells.document_ids).astype(np.int64) for side in "ab")
    at, there = find(keys, cells.pair_keys(question, first, second))
    there &= (question >= 0) & (first >= 0) & (second >= 0)
    kept = labelled.filter(pa.array(there))
    return Population(
        question=pairs.question[decided],
        stratum=STRATUM_OF_STATE[pairs.state[decided]],
        label=LABEL_OF_STATE[pairs.state[decided]],
        sampled=at[there],
        people=positions(kept["label"], LABELS),
        inclusion=np.asarray(kept["inclusion_probability"], dtype=np.float64),
    )
