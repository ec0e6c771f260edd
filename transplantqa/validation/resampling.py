"""Confusion counts of every bootstrap resample at once, as drawn and re-weighted by stratum."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import Field

from transplantqa.validation.matrices import FloatArray
from transplantqa.validation.ratings import Codes

LEAST_DEFINED = 0.9
"""Share of resamples in which a figure must be defined for an interval to be given; ours."""


class Bootstrap:
    """How intervals are made: percentile bootstrap over questions, whose pairs aren't independent.

    Args:
        replicates: resamples; 0 makes no intervals.
        confidence: coverage aimed at.
        seed: of the resamples.
    """

    def __init__(
        self,
        *,
        replicates: Annotated[int, Field(ge=0, le=100_000)] = 1000,
        confidence: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.95,
        seed: Annotated[int, Field(ge=0)] = 0,
    ) -> None:
        self.replicates = replicates
        self.confidence = confidence
        self.seed = seed

    def identity(self) -> dict[str, float | int]:
        """Return every setting: each can change an interval."""
        return dict(vars(self))

    def draw(self, clusters: Codes) -> FloatArray:
        """Return how often each resample draws each cluster: (clusters, replicates)."""
        size = int(clusters.max(initial=-1)) + 1
        drawn = np.zeros((size, self.replicates))
        generator = np.random.default_rng(self.seed)
        for replicate in range(self.replicates if size else 0):
            drawn[:, replicate] = np.bincount(generator.integers(0, size, size), minlength=size)
        return drawn


@dataclass(frozen=True)
class Tally:
    """Counts by stratum and cell: (strata, cells) of the sample and (strata, cells, replicates) of its resamples.

    The last cell holds what counts for a stratum's size only. ``population`` is (strata,).
    """

    sample: FloatArray
    resamples: FloatArray
    population: FloatArray

    @classmethod
    def of(
        cls,
        cells: Codes,
        size: int,
        strata: Codes,
        clusters: Codes,
        population: FloatArray,
        drawn: FloatArray,
        weights: FloatArray | None = None,
    ) -> "Tally":
        """Count entries by stratum and cell.

        Args:
            cells: (entries,), from 0; ``size`` stands for "outside", counted in its stratum's size alone.
            size: number of cells.
            strata: (entries,).
            clusters: (entries,).
            population: (strata,).
            drawn: from ``Bootstrap.draw``.
            weights: (entries,); 1 each when None.
        """
        from scipy.sparse import csr_matrix  # noqa: PLC0415

        wide = size + 1
        weights = np.ones(len(cells)) if weights is None else weights
        places = strata * wide + cells
        rows = len(population) * wide
        sample = np.bincount(places, weights, minlength=rows).astype(np.float64)
        spread = csr_matrix((weights, (places, clusters)), shape=(rows, len(drawn))) @ drawn
        return cls(
            sample.reshape(len(population), wide), np.asarray(spread).reshape(len(population), wide, -1), population
        )

    def point(self, weighting: str) -> FloatArray:
        """Return the sample's cells: (cells,)."""
        return np.asarray(self._weighted(self.sample[..., None], weighting)[0])

    def replicates(self, weighting: str) -> FloatArray:
        """Return every resample's cells: (replicates, cells)."""
        return self._weighted(self.resamples, weighting)

    def _weighted(self, counted: FloatArray, weighting: str) -> FloatArray:
        """Add up the strata; re-weighted cells sum to the number of pairs counted, so that alpha's n stays."""
        inside = counted[:, :-1, :]
        if weighting == "drawn":
            return np.asarray(inside.sum(axis=0).T)
        sizes = counted.sum(axis=1)
        factors = np.where(sizes > 0, self.population[:, None] / np.where(sizes > 0, sizes, 1.0), 0.0)
        weighted = (inside * factors[:, None, :]).sum(axis=0)
        total, whole = inside.sum(axis=(0, 1)), weighted.sum(axis=0)
        scale = np.where(whole > 0, total / np.where(whole > 0, whole, 1.0), 0.0)
        return np.asarray((weighted * scale).T)


def interval(
    value: float | None, replicates: FloatArray, share_over: int | None, bootstrap: Bootstrap
) -> tuple[float | None, float | None]:
    """Return a percentile interval around a value.

    Where resampling can't vary (all pairs agree, or none does) a share has the exact one-sided binomial bound over its
    questions, as ``analysis.intervals`` has, and any other figure has no interval.

    Args:
        value: the figure; None has no interval.
        replicates: (replicates,), NaN where undefined.
        share_over: the questions that a share's pairs are of; None for figures that aren't shares.
        bootstrap: replicates and confidence.
    """
    defined = replicates[np.isfinite(replicates)]
    if value is None or not bootstrap.replicates or len(defined) < LEAST_DEFINED * bootstrap.replicates:
        return None, None
    if np.ptp(defined) < 1e-12:
        return _one_sided(value, share_over, bootstrap.confidence)
    tail = (1.0 - bootstrap.confidence) / 2.0
    low, high = np.quantile(defined, [tail, 1.0 - tail])
    return float(low), float(high)


def _one_sided(value: float, share_over: int | None, confidence: float) -> tuple[float | None, float | None]:
    if not share_over:
        return None, None
    reach = 1.0 - (1.0 - confidence) ** (1.0 / share_over)
    if value <= 1e-9:
        return 0.0, reach
    return (1.0 - reach, 1.0) if value >= 1.0 - 1e-9 else (None, None)
