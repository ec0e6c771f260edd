"""Seeded probability samples of cells, by stratum."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from transplantqa.store.hashing import text_sha256

T = TypeVar("T")
S = TypeVar("S", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Drawn(Generic[T]):
    """One drawn item with the probability with which it was to be drawn."""

    item: T
    probability: float

    @property
    def weight(self) -> float:
        """How many items it stands for."""
        return 1.0 / self.probability


def allocation(sizes: Mapping[S, int], size: int) -> dict[S, int]:
    """Share a sample out over strata: one each as far as it goes, the largest first, the rest by size.

    Every stratum gets at least one where ``size`` allows; the rest goes to the strata that are furthest below their
    proportional share (largest remainder), none beyond its own size. Ties go to the stratum that sorts first.

    Args:
        sizes: stratum to items it has, each at least one.
        size: items wanted.
    """
    total = sum(sizes.values())
    wanted = min(size, total)
    ordered = sorted(sizes, key=lambda name: (-sizes[name], str(name)))
    given = dict.fromkeys(ordered, 0)
    for name in ordered[:wanted]:
        given[name] = 1
    for _ in range(wanted - sum(given.values())):
        open_ones = [name for name in ordered if given[name] < sizes[name]]
        neediest = max(open_ones, key=lambda name: (wanted * sizes[name] / total - given[name], -ordered.index(name)))
        given[neediest] += 1
    return given


def draw(items: Mapping[str, T], strata: Mapping[str, Hashable], size: int, seed: int) -> list[Drawn[T]]:
    """Draw a stratified sample without replacement.

    Within a stratum of N items of which n are drawn each has probability n / N: the n of least hash of seed and id, so
    that the draw depends on no order. With more strata than ``size`` the strata left out could never be drawn, so the
    sample is then drawn without strata, each item with probability size / N.

    Args:
        items: id to item.
        strata: id to stratum.
        size: items wanted; all, with probability 1, where there are no more.
        seed: of the draw.

    Returns:
        The drawn items, by id.
    """
    members: dict[Hashable, list[str]] = {}
    for name in items:
        members.setdefault(strata[name], []).append(name)
    if len(members) > size:
        members = {None: list(items)} if items else {}
    shares = allocation({name: len(ids) for name, ids in members.items()}, size)
    drawn: list[tuple[str, float]] = []
    for stratum, ids in members.items():
        by_hash = sorted(ids, key=lambda one: text_sha256(f"{seed}\n{one}"))
        drawn += [(one, shares[stratum] / len(ids)) for one in by_hash[: shares[stratum]]]
    return [Drawn(items[name], probability) for name, probability in sorted(drawn)]


def thinned(names: Sequence[str], size: int, seed: int, salt: str) -> tuple[list[str], float]:
    """Return at most ``size`` of the names by hash, sorted, and the probability with which each was to be taken."""
    kept = sorted(names, key=lambda one: text_sha256(f"{seed}\n{salt}\n{one}"))[:size]
    return sorted(kept), len(kept) / len(names) if names else 1.0
