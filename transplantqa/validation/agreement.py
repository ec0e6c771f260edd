"""Agreement of a judge with people, and of people with each other: every figure with its n and interval."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from transplantqa.validation import matrices, points
from transplantqa.validation.matrices import FloatArray
from transplantqa.validation.ratings import Codes, Consensus, Mask, Ratings, consensus, resolved
from transplantqa.validation.resampling import Bootstrap, Tally, interval

PEOPLE, JUDGE = "people", "judge"
DRAWN, POPULATION = "drawn", "population"
Subset = Literal["all", "judged", "without_absent"]


@dataclass(frozen=True, slots=True)
class Figure:
    """One number.

    Args:
        between: the two sides, such as ``judge~people``, ``judge~r1``, ``r1~r2``; ``people`` for all raters at once.
        reference: what people together say is taken from: ``agreed`` pairs, ``decided`` ones, or all with what stays
            disputed settled for (``best``) or against (``worst``) the judge. Empty where one person is the reference.
        pairs: ``all``, ``judged`` (the pre-screen's left out), ``without_absent`` (neither side says a side is silent).
        weighting: ``drawn``, or ``population``: re-weighted to the strata's shares there.
        measure: its name in ``matrices``.
        label: for precision, recall and F1.
        value: None where it is undefined.
        n: pairs behind it; of precision those the judge gave the label, of recall and F1 those the reference did.
        low, high: percentile bootstrap over questions; None where resampling says nothing.
        undefined: why there is no value.
    """

    between: str
    reference: str
    pairs: str
    weighting: str
    measure: str
    label: str | None
    value: float | None
    n: int
    low: float | None = None
    high: float | None = None
    undefined: str | None = None


@dataclass(frozen=True)
class _Item:
    """One comparison: rows where both sides have a label, both sides' codes and the question there, and which count."""

    between: str
    reference: str
    pairs: Subset
    rows: Codes
    first: Codes
    second: Codes
    clusters: Codes
    kept: Mask

    def questions(self, among: Mask | None = None) -> int:
        """Return of how many questions the pairs are that count, or those of them in a mask."""
        return len(np.unique(self.clusters[self.kept if among is None else self.kept & among]))


def agreement(ratings: Ratings, bootstrap: Bootstrap) -> list[Figure]:
    """Return every figure of a judge and its annotators, in a fixed order.

    Re-weighting divides each stratum's population by its pairs in the comparison, so that strata count by their share
    there whatever was drawn, disputed or left out. All figures share the same resamples of the questions.
    """
    drawn = bootstrap.draw(ratings.clusters)
    found: list[Figure] = []
    for item in _items(ratings):
        tally = _tally(item, ratings, drawn)
        for weighting in (DRAWN, POPULATION):
            found += _figures(item, weighting, tally, ratings.scale, bootstrap)
    for pairs in _subsets(ratings):
        found += _many(ratings, pairs, drawn, bootstrap)
    return found


def confusion(ratings: Ratings, reference: Literal["agreed", "decided", "best", "worst"]) -> NDArray[np.int64]:
    """Count (people, judge) labels over all pairs: (K, K), rows people."""
    item = next(
        one
        for one in _items(ratings)
        if one.between == f"{JUDGE}~{PEOPLE}" and (one.reference, one.pairs) == (reference, "all")
    )
    size = len(ratings.scale)
    return np.bincount(item.first * size + item.second, minlength=size * size).reshape(size, size)


def references(found: Consensus) -> tuple[str, ...]:
    """Return which references there are: bounds only where something stays disputed."""
    return ("agreed", "decided", "best", "worst") if found.is_decided("disputed").any() else ("agreed", "decided")


def _subsets(ratings: Ratings) -> tuple[Subset, ...]:
    subsets: list[Subset] = ["all"]
    if ratings.screened is not None:
        subsets.append("judged")
    if ratings.absent is not None:
        subsets.append("without_absent")
    return tuple(subsets)


def _items(ratings: Ratings) -> Iterator[_Item]:
    size = len(ratings.scale)
    people = consensus(ratings.labels, size, ratings.adjudicator)
    sides = [
        (f"{JUDGE}~{PEOPLE}", reference, _reference(people, ratings, reference), ratings.judge)
        for reference in references(people)
    ]
    sides += [
        (f"{JUDGE}~{name}", "", ratings.labels[:, place], ratings.judge)
        for place, name in enumerate(ratings.annotators)
    ]
    for one, other in combinations(range(len(ratings.annotators)), 2):
        between = f"{ratings.annotators[one]}~{ratings.annotators[other]}"
        sides.append((between, "", ratings.labels[:, one], ratings.labels[:, other]))
    for between, reference, first, second in sides:
        rows = np.flatnonzero((first >= 0) & (second >= 0))
        for pairs in _subsets(ratings):
            kept = _kept(ratings, pairs, rows, np.stack([first[rows], second[rows]], axis=1))
            yield _Item(between, reference, pairs, rows, first[rows], second[rows], ratings.clusters[rows], kept)


def _reference(people: Consensus, ratings: Ratings, reference: str) -> Codes:
    if reference == "agreed":
        return np.where(people.is_decided("agreed"), people.codes, -1)
    if reference == "decided":
        return people.codes
    way: Literal["best", "worst"] = "best" if reference == "best" else "worst"
    return resolved(people, ratings.labels, ratings.judge, len(ratings.scale), way)


def _kept(ratings: Ratings, pairs: Subset, rows: Codes, said: Codes) -> Mask:
    if pairs == "judged" and ratings.screened is not None:
        return ~ratings.screened[rows]
    if pairs == "without_absent":
        return np.asarray((said != ratings.absent).all(axis=1))
    return np.ones(len(rows), dtype=np.bool_)


def _tally(item: _Item, ratings: Ratings, drawn: FloatArray) -> Tally:
    size = len(ratings.scale)
    cells = np.where(item.kept, item.first * size + item.second, size * size)
    return Tally.of(cells, size * size, ratings.strata[item.rows], item.clusters, ratings.population, drawn)


def _figures(item: _Item, weighting: str, tally: Tally, scale: Sequence[str], bootstrap: Bootstrap) -> Iterator[Figure]:
    size = len(scale)
    counted = tally.point(DRAWN).reshape(size, size)
    matrix = tally.point(weighting).reshape(size, size)
    replicates = tally.replicates(weighting).reshape(-1, size, size)
    facts = (item.between, item.reference, item.pairs, weighting)
    total = round(counted.sum())
    for name, value in points.scalars(matrix).items():
        low, high = interval(
            value, matrices.SCALARS[name](replicates), item.questions() if name in matrices.SHARES else None, bootstrap
        )
        undefined = None if value is not None else points.reason(name, matrix)
        yield Figure(*facts, name, None, value, total, low, high, undefined)
    spread = {name: measure(replicates) for name, measure in matrices.PER_LABEL.items()}
    support = {"precision": counted.sum(axis=0), "recall": counted.sum(axis=1), "f1": counted.sum(axis=1)}
    whose = {"precision": item.second, "recall": item.first}
    for name, values in points.per_label(matrix).items():
        for place, value in enumerate(values):
            n = round(support[name][place])
            questions = item.questions(whose[name] == place) if name in matrices.SHARES else None
            low, high = interval(value, spread[name][:, place], questions, bootstrap)
            undefined = None if value is not None else points.reason(name, matrix, place)
            yield Figure(*facts, name, scale[place], value, n, low, high, undefined)


def _many(ratings: Ratings, pairs: Subset, drawn: FloatArray, bootstrap: Bootstrap) -> Iterator[Figure]:
    """Krippendorff's alpha of all annotators at once, over pairs that at least two of them labelled."""
    rows = np.flatnonzero((ratings.labels >= 0).sum(axis=1) >= 2)
    labels = ratings.labels[rows]
    kept = np.flatnonzero(_kept(ratings, pairs, rows, labels))
    size = len(ratings.scale)
    places, cells, weights = _coincidences(labels[kept], size)
    outside = np.setdiff1d(np.arange(len(rows)), kept)
    at = rows[np.concatenate([kept[places], outside])]
    cells = np.concatenate([cells, np.full(len(outside), size * size)])
    weights = np.concatenate([weights, (labels[outside] >= 0).sum(axis=1)])
    tally = Tally.of(cells, size * size, ratings.strata[at], ratings.clusters[at], ratings.population, drawn, weights)
    for weighting in (DRAWN, POPULATION):
        matrix = tally.point(weighting).reshape(size, size)
        replicates = tally.replicates(weighting).reshape(-1, size, size)
        for name, measure in matrices.OF_MANY.items():
            found = float(measure(matrix))
            value = found if np.isfinite(found) else None
            low, high = interval(value, measure(replicates), None, bootstrap)
            undefined = None if value is not None else points.reason(name, matrix)
            yield Figure(PEOPLE, "", pairs, weighting, name, None, value, len(kept), low, high, undefined)


def _coincidences(labels: Codes, size: int) -> tuple[Codes, Codes, FloatArray]:
    """Return pair, cell and weight of every coincidence: each pair adds as many as it has ratings."""
    pairs, cells, weights = [], [], []
    ratings = (labels >= 0).sum(axis=1)
    for one, other in combinations(range(labels.shape[1]), 2):
        both = np.flatnonzero((labels[:, one] >= 0) & (labels[:, other] >= 0))
        first, second = labels[both, one], labels[both, other]
        for row, column in ((first, second), (second, first)):
            pairs.append(both)
            cells.append(row * size + column)
            weights.append(1.0 / (ratings[both] - 1))
    if not pairs:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
    return np.concatenate(pairs), np.concatenate(cells), np.concatenate(weights)
