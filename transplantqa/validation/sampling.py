"""Which pairs people are asked to label: a stratified probability sample, balanced over lengths and institutions."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from transplantqa.records import Label
from transplantqa.store.hashing import text_sha256
from transplantqa.validation.frame import Frame
from transplantqa.validation.ratings import Codes

Share = Annotated[float, Field(ge=0.0, le=1.0)]

LENGTH_CLASSES = 3
DEFAULT_CONFLICT: Mapping[str, float] = {
    "ABSENT": 0.02,
    "CONSISTENT": 0.05,
    "COMPLEMENTARY": 0.15,
    "DIVERGENT": 0.6,
    "CONTRADICTORY": 0.95,
}


class SampleDesign:
    """How pairs are drawn and shown; ``conf/validate.yaml`` says where each value comes from.

    Args:
        allocation: ``equal`` draws the same number from every stratum; ``target`` allocates ``total`` for the rate of
            conflict (Neyman 1934).
        per_stratum: pairs of each stratum under ``equal``, or all where there are fewer.
        total: pairs in all under ``target``; more where ``least`` asks for it.
        least: fewest pairs of a stratum under ``target``.
        expected_conflict: label to the share of its pairs that people are expected to call DIVERGENT or CONTRADICTORY,
            under ``target``; one left out keeps its default.
        names: whether names of institutions and documents in the texts are ``hidden`` from annotators or ``shown``.
        citations: whether the answers' citations of sections are ``hidden`` or ``shown``: they tell sources apart and
            are no content, and judges don't see them either unless told to.
        seed: of the draw, the order of pairs and the order of answers.
    """

    def __init__(  # noqa: PLR0913 - a component's parameters are its configuration
        self,
        *,
        allocation: Literal["equal", "target"] = "equal",
        per_stratum: Annotated[int, Field(ge=1)] = 40,
        total: Annotated[int, Field(ge=1)] = 200,
        least: Annotated[int, Field(ge=1)] = 10,
        expected_conflict: dict[Label, Share] | None = None,
        names: Literal["hidden", "shown"] = "hidden",
        citations: Literal["hidden", "shown"] = "hidden",
        seed: Annotated[int, Field(ge=0)] = 0,
    ) -> None:
        self.allocation = allocation
        self.per_stratum = per_stratum
        self.total = total
        self.least = least
        given = {str(label): share for label, share in (expected_conflict or {}).items()}
        self.expected_conflict: dict[str, float] = {**DEFAULT_CONFLICT, **given}
        self.names = names
        self.citations = citations
        self.seed = seed

    def identity(self) -> dict[str, Any]:
        """Return every setting: each can change which pairs are drawn or how they are shown."""
        return dict(vars(self))

    def sizes(self, population: Mapping[str, int]) -> dict[str, int]:
        """Return how many pairs of each stratum are drawn, given how many there are."""
        if self.allocation == "equal":
            return {name: min(self.per_stratum, size) for name, size in population.items()}
        return _neyman(population, self._spreads(population), self.total, self.least)

    def _spreads(self, population: Mapping[str, int]) -> dict[str, float]:
        shares = {name: self.expected_conflict[name.rpartition("/")[2]] for name in population}
        return {name: float(np.sqrt(share * (1.0 - share))) for name, share in shares.items()}


def draw(population: Frame, design: SampleDesign) -> Codes:
    """Return the rows drawn, ascending.

    Within a stratum every pair has the same chance: a systematic draw with a random start goes through its pairs by
    third of answer length, then pair of institutions, then chance.
    """
    sizes = design.sizes(population.sizes)
    institutions = population.institutions
    drawn = []
    for place, name in enumerate(population.strata):
        rows = np.flatnonzero(population.stratum == place)
        generator = np.random.default_rng([design.seed, int(text_sha256(name)[:8], 16)])
        thirds = length_thirds(population.length[rows])
        by_chance = generator.permutation(int(institutions.max()) + 1)[institutions[rows]]
        order = np.lexsort((generator.random(len(rows)), by_chance, thirds))
        step = len(rows) / sizes[name]
        places = np.floor((generator.random() + np.arange(sizes[name])) * step).astype(np.int64)
        drawn.append(rows[order[np.minimum(places, len(rows) - 1)]])
    return np.sort(np.concatenate(drawn))


def length_thirds(lengths: Codes) -> Codes:
    """Return the third each length falls into by rank, 0 the shortest; ties in the order given."""
    ranks = np.empty(len(lengths), dtype=np.int64)
    ranks[np.argsort(lengths, kind="stable")] = np.arange(len(lengths))
    return ranks * LENGTH_CLASSES // max(len(lengths), 1)


def _neyman(population: Mapping[str, int], spreads: Mapping[str, float], total: int, least: int) -> dict[str, int]:
    """Allocate ``total`` in proportion to size times spread; strata at a bound keep it, the others share the rest."""
    fixed: dict[str, int] = {}
    while True:
        free = {name: population[name] * spreads[name] for name in population if name not in fixed}
        rest, weight = total - sum(fixed.values()), sum(free.values())
        wanted = {name: rest * share / weight if weight else 0.0 for name, share in free.items()}
        bounds = {name: (min(least, population[name]), population[name]) for name in free}
        low = {name: bounds[name][0] for name, size in wanted.items() if size < bounds[name][0]}
        high = {name: bounds[name][1] for name, size in wanted.items() if size > bounds[name][1]}
        if not low and not high:
            return _rounded(wanted, fixed, population)
        fixed |= low or high


def _rounded(wanted: Mapping[str, float], fixed: Mapping[str, int], population: Mapping[str, int]) -> dict[str, int]:
    """Round by largest remainder, so that the sizes add up."""
    sizes = {name: int(size) for name, size in wanted.items()}
    short = round(sum(wanted.values())) - sum(sizes.values())
    for name in sorted(wanted, key=lambda one: (sizes[one] - wanted[one], one))[: max(short, 0)]:
        sizes[name] += 1
    return {name: {**sizes, **fixed}[name] for name in population}
