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
NOBODY = -1


@dataclass(frozen=True)
class Merges:
    """Joins of clusters, each named by its least member: ``first`` < ``second``, at ``height`` (mean distance)."""

    size: int
    first: Ints
    second: Ints
    height: NDArray[np.float64]


def average_linkage(vectors: Vectors, max_distance: float) -> Merges:
    """Join clusters by average linkage until every two are farther apart than ``max_distance``.

    Average linkage is reducible: joining two clusters brings neither nearer to a third. So every two clusters that are
    each other's nearest can be joined at once, a cluster farther than ``max_distance`` from all others is finished, and
    a cluster looks for its nearest again only when that one was joined. The joins are those of the usual one-by-one
    algorithm, up to ties, which go to the cluster that comes first (Murtagh 1983; Müllner 2011).

    Args:
        vectors: (n, dimensions), each of length 1.
        max_distance: cosine distance, from 0 to 2.
    """
    state = _Clusters(vectors, max_distance)
    while state.look():
        state.join()
    return state.merges()


def cut(merges: Merges, distance: float) -> Ints:
    """Return a label a vector: the least member of its cluster when only joins up to ``distance`` are made."""
    label = np.arange(merges.size)
    made = merges.height <= distance
    label[merges.second[made]] = merges.first[made]
    while not np.array_equal(label, label[label]):
        label = label[label]
    return label


class _Clusters:
    """The clusters still to be joined: means, sizes, and each one's nearest, which is kept until it is joined."""

    def __init__(self, vectors: Vectors, max_distance: float) -> None:
        self.size = len(vectors)
        self.means = np.array(vectors, dtype=np.float32)
        self.members = np.ones(self.size)
        self.height = np.zeros(self.size)
        self.nearest = np.full(self.size, NOBODY, dtype=np.int64)
        self.similarity = np.full(self.size, -np.inf)
        self.alive = np.arange(self.size)
        self.stale = np.arange(self.size)
        self.least = 1.0 - max_distance
        self.made: list[tuple[Ints, Ints, NDArray[np.float64]]] = []

    def look(self) -> bool:
        """Find the nearest of each cluster that has none; drop those that are finished; say whether any is left."""
        targets = self.means[self.alive]
        step = max(1, BLOCK_ELEMENTS // max(1, len(self.alive)))
        for start in range(0, len(self.stale), step):
            rows = self.stale[start : start + step]
            products = self.means[rows] @ targets.T
            products[np.arange(len(rows)), np.searchsorted(self.alive, rows)] = -np.inf
            best = products.argmax(axis=1)
            self.nearest[rows] = self.alive[best]
            self.similarity[rows] = products[np.arange(len(rows)), best]
        self._drop_finished()
        return len(self.alive) > 1

    def _drop_finished(self) -> None:
        """Drop clusters far from all others, and any whose nearest is dropped: rounding can part the two."""
        left = np.zeros(self.size, np.bool_)
        left[self.alive] = self.similarity[self.alive] >= self.least
        while (orphans := left & ~left[self.nearest]).any():
            left[orphans] = False
        self.alive = np.flatnonzero(left)

    def join(self) -> None:
        """Join all that are each other's nearest, and the nearest two of all, whatever rounding says of them."""
        alive = self.alive
        nearest = self.nearest[alive]
        mutual = (self.nearest[nearest] == alive) & (alive < nearest)
        first, second = alive[mutual], nearest[mutual]
        closest = alive[self.similarity[alive].argmax()]
        pair = sorted((int(closest), int(self.nearest[closest])))
        if not np.isin(pair, np.concatenate([first, second])).any():
            first, second = np.append(first, pair[0]), np.append(second, pair[1])
        self._merge(first, second)

    def _merge(self, first: Ints, second: Ints) -> None:
        height = np.maximum(1.0 - self.similarity[first], np.maximum(self.height[first], self.height[second]))
        size = self.members[first] + self.members[second]
        share = (self.members[second] / size)[:, None].astype(np.float32)
        self.means[first] += share * (self.means[second] - self.means[first])
        self.members[first], self.height[first] = size, height
        self.made.append((first, second, height))
        self.alive = np.setdiff1d(self.alive, second, assume_unique=True)
        touched = np.zeros(self.size, np.bool_)
        touched[first] = touched[second] = True
        self.stale = self.alive[touched[self.alive] | touched[self.nearest[self.alive]]]

    def merges(self) -> Merges:
        """Return what was joined, in the order in which it was."""
        parts = [np.concatenate([np.empty(0, np.int64), *column]) for column in zip(*self.made, strict=True)] or [
            np.empty(0, np.int64)
        ] * 3
        return Merges(self.size, parts[0].astype(np.int64), parts[1].astype(np.int64), parts[2].astype(np.float64))
