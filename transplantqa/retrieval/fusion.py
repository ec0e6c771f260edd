"""Rankings as arrays, and their reciprocal rank fusion.

Columns are chunks in the order of their ids, so that a stable sort breaks every tie by chunk id.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]
Ranks = NDArray[np.int32]

ABSENT = -np.inf
"""The score of a chunk that a ranker doesn't propose."""


def order_of(scores: Scores) -> NDArray[np.intp]:
    """Return the columns of each row, highest score first, ties by column; shape (questions, chunks)."""
    return np.argsort(-scores, axis=1, kind="stable")


def ranks_of(scores: Scores, depth: int) -> Ranks:
    """Rank the chunks of each row from 1; chunks that are absent or beyond ``depth`` get 0.

    Args:
        scores: shape (questions, chunks); higher is better, ``ABSENT`` is not proposed.
        depth: the longest ranking; more than there are chunks is no error.
    """
    places = np.broadcast_to(np.arange(1, scores.shape[1] + 1, dtype=np.int32), scores.shape)
    ranks = np.empty(scores.shape, dtype=np.int32)
    np.put_along_axis(ranks, order_of(scores), places, axis=1)
    ranks[(scores == ABSENT) | (ranks > depth)] = 0
    return ranks


def fuse(rankings: Sequence[Ranks], k: int = 60, weights: Sequence[float] | None = None) -> Scores:
    """Fuse rankings by summing ``weight / (k + rank)``; a chunk absent from a ranking gets nothing from it.

    The sum doesn't depend on the order of the rankings, to the last bit, so that equal chunks tie.

    Args:
        rankings: one array a ranker, shape (questions, chunks), rank counted from 1, 0 where absent.
        k: dampening constant; 60 is Cormack, Clarke and Büttcher (SIGIR 2009).
        weights: one a ranking; 1 each by default, as in the article.

    Returns:
        Fused scores, same shape; ``ABSENT`` where no ranker proposes the chunk.
    """
    ranks = np.stack(rankings)
    shares = np.where(ranks > 0, 1.0 / (k + ranks), 0.0)
    if weights is not None:
        shares *= np.asarray(weights, dtype=np.float64)[:, None, None]
    fused: Scores = np.sort(shares, axis=0).sum(axis=0)
    return np.where((ranks > 0).any(axis=0), fused, ABSENT)
