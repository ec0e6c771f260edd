"""Average-linkage clustering of unit vectors by cosine distance, in memory that grows with their number alone.

The mean cosine distance of two sets of unit vectors is one less the product of the sets' mean vectors, so a cluster is
known by its mean and its size, and no matrix of distances is kept.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
Ints = NDArray[np.int64]
BLOCK_ELEMENTS = 16_000_000
"""Similarities held at a time: 64 MB."""
BATCH = 64
"""Rows that look again at a time; ours: about where a product of matrices stops being bound by memory."""


@dataclass(frozen=True)
class Merges:
    """Joins of clusters, each named by its least member: ``first`` < ``second``, at ``height`` (mean distance)."""

    size: int
    first: Ints
    second: Ints
    height: NDArray[np.float64]


def average_linkage(vectors: Vectors, max_distance: float) -> Merges:
    """Join clusters by average linkage until every two are farther apart than ``max_distance``.

    Average linkage is reducible: joining two clusters brings neither nearer to a third. So any two clusters that are
    each other's nearest can be joined at once; a cluster farther than ``max_distance`` from all others is finished; and
    how near a cluster's nearest was before that one was joined bounds how near its next can be, so that only the most
    promising look again. The joins are those of the usual one-by-one algorithm, up to ties (Murtagh 1983; Müllner
    2011).

    Args:
        vectors: (n, dimensions), each of length 1.
        max_distance: cosine distance, from 0 to 2.
    """
    clusters = _Clusters(vectors, 1.0 - max_distance)
    clusters.look(np.arange(len(vectors)))
    while clusters.are_left():
        clusters.join()
        clusters.look(clusters.most_promising())
    return clusters.merges()


def cut(merges: Merges, distance: float) -> Ints:
    """Return a label a vector: the least member of its cluster when only joins up to ``distance`` are made."""
    label = np.arange(merges.size)
    made = merges.height <= distance
    label[merges.second[made]] = merges.first[made]
    while not np.array_equal(label, label[label]):
        label = label[label]
    return label


class _Clusters:
    """The clusters still to be joined, a row each.

    ``similarity`` is to the ``nearest`` row where ``fresh`` says that it was found among the clusters of now, and a
    bound from above where not. Rows of clusters that are joined or finished are dead, and taken out when they are many.
    """

    def __init__(self, vectors: Vectors, least: float) -> None:
        size = len(vectors)
        self.size, self.least = size, least
        self.name = np.arange(size)
        self.means = np.array(vectors, dtype=np.float32)
        self.members = np.ones(size)
        self.height = np.zeros(size)
        self.nearest = np.zeros(size, dtype=np.int64)
        self.similarity = np.full(size, np.inf)
        self.fresh = np.zeros(size, np.bool_)
        self.alive = np.ones(size, np.bool_)
        self.made: list[tuple[Ints, Ints, NDArray[np.float64]]] = []

    def are_left(self) -> bool:
        """Whether two clusters could still be joined."""
        return int(self.alive.sum()) > 1

    def most_promising(self) -> Ints:
        """Return the rows to look for their nearest again: of those that must, the ones with the highest bounds."""
        stale = np.flatnonzero(self.alive & ~self.fresh)
        if len(stale) > BATCH:
            stale = stale[np.argpartition(-self.similarity[stale], BATCH)[:BATCH]]
        return stale

    def look(self, rows: Ints) -> None:
        """Find the nearest of each of these rows, then drop clusters that are far from all others."""
        step = max(1, BLOCK_ELEMENTS // max(1, len(self.name)))
        for start in range(0, len(rows), step):
            block = rows[start : start + step]
            products = self.means[block] @ self.means.T
            products[:, ~self.alive] = -np.inf
            products[np.arange(len(block)), block] = -np.inf
            self.nearest[block] = products.argmax(axis=1)
            self.similarity[block] = products[np.arange(len(block)), self.nearest[block]]
            self.fresh[block] = True
        self._drop_finished()

    def _drop_finished(self) -> None:
        """Drop clusters by their bound, and any whose nearest is dropped by another rounding of the same product."""
        self.alive &= self.similarity >= self.least
        while (orphans := self.alive & self.fresh & ~self.alive[self.nearest]).any():
            self.alive[orphans] = False
        if 2 * int(self.alive.sum()) < len(self.alive):
            self._take_out_the_dead()

    def _take_out_the_dead(self) -> None:
        place = np.cumsum(self.alive) - 1
        self.nearest = place[self.nearest]
        for column in ("name", "means", "members", "height", "nearest", "similarity", "fresh"):
            setattr(self, column, getattr(self, column)[self.alive])
        self.alive = np.ones(len(self.name), np.bool_)

    def join(self) -> None:
        """Join all that are each other's nearest; and the nearest two of all, whatever rounding says of them."""
        rows = np.flatnonzero(self.alive & self.fresh)
        nearest = self.nearest[rows]
        mutual = self.fresh[nearest] & (self.nearest[nearest] == rows) & (rows < nearest)
        first, second = rows[mutual], nearest[mutual]
        closest = int(np.where(self.alive, self.similarity, -np.inf).argmax())
        pair = sorted((closest, int(self.nearest[closest])))
        if self.fresh[pair].all() and not np.isin(pair, np.concatenate([first, second])).any():
            first, second = np.append(first, pair[0]), np.append(second, pair[1])
        if len(first):
            self._merge(first, second)

    def _merge(self, first: Ints, second: Ints) -> None:
        """Let ``first`` be both; what either's nearest was bounds how near another can be."""
        height = np.maximum(1.0 - self.similarity[first], np.maximum(self.height[first], self.height[second]))
        size = self.members[first] + self.members[second]
        share = (self.members[second] / size)[:, None].astype(np.float32)
        self.means[first] += share * (self.means[second] - self.means[first])
        self.members[first], self.height[first] = size, height
        self.made.append((self.name[first], self.name[second], height))
        self.alive[second] = False
        touched = np.zeros(len(self.name), np.bool_)
        touched[first] = touched[second] = True
        self.fresh &= ~(touched | touched[self.nearest])

    def merges(self) -> Merges:
        """Return what was joined, in the order in which it was."""
        empty = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
        first, second, height = (np.concatenate(column) for column in zip(empty, *self.made, strict=True))
        return Merges(self.size, first, second, height)
