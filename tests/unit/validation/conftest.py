"""Ratings made by hand."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from transplantqa.records import Label
from transplantqa.validation.ratings import Ratings

SCALE = tuple(str(label) for label in Label)
PAPER = np.array(
    [
        [39, 0, 0, 0, 0],
        [0, 17, 1, 0, 0],
        [0, 6, 20, 8, 0],
        [0, 0, 2, 12, 0],
        [0, 0, 0, 1, 40],
    ]
)
"""Published validation of the original judge: rows people, columns judge, in the order of ``Label``."""


def make_ratings(labels: Any, judge: Any, **changes: Any) -> Ratings:
    """Return ratings in which every pair is a question of its own and the judge's label its stratum."""
    said = np.asarray(judge)
    given = np.asarray(labels)
    given = given[:, None] if given.ndim == 1 else given
    scale: Sequence[str] = changes.pop("scale", SCALE)
    facts: dict[str, Any] = {
        "scale": tuple(scale),
        "annotators": tuple(f"r{place + 1}" for place in range(given.shape[1])),
        "labels": given,
        "judge": said,
        "clusters": np.arange(len(said)),
        "strata": np.maximum(said, 0),
        "population": np.ones(len(scale)),
    }
    return Ratings(**{**facts, **changes})


def unfolded(matrix: Any) -> tuple[Any, Any]:
    """Return the two label sequences of a confusion matrix."""
    rows, columns = np.nonzero(matrix)
    times = np.asarray(matrix)[rows, columns]
    return np.repeat(rows, times), np.repeat(columns, times)


@pytest.fixture
def rated() -> Callable[..., Ratings]:
    """A maker of ratings: labels by pair and annotator, the judge's labels, and any other field."""
    return make_ratings


@pytest.fixture
def paper_ratings() -> Ratings:
    """Two annotators who agree on the published 146 pairs, and dispute the other 54 of 40 pairs a judge's label."""
    people, judge = unfolded(PAPER)
    left = 40 - PAPER.sum(axis=0)
    disputed = np.repeat(np.arange(5), left)
    first = np.concatenate([people, disputed])
    second = np.concatenate([people, (disputed + 1) % 5])
    return make_ratings(np.stack([first, second], axis=1), np.concatenate([judge, disputed]), absent=0)
