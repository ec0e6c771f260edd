"""A document's chunks in reading order, as arrays: what choosing passages for many questions at once needs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from transplantqa.records import Chunk, Section

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Layout:
    """A *place* is a chunk's index in reading order; a section's chunks stand together.

    Attributes:
        positions: by place, the chunk's position in the indexed document.
        places: by position, the chunk's place.
        sections: by place, the number of its section.
        starts: by section, its first place.
        tokens: by place.
        members: shape (places, sections), 1 where a chunk is of a section.
        sizes: by section, its number of chunks.
        surplus: by section, by how many tokens its chunks together exceed it, which overlaps cause.
    """

    positions: Places
    places: Places
    sections: Places
    starts: Places
    tokens: Array
    members: Array
    sizes: Array
    surplus: Array

    def tokens_of(self, shown: Flags) -> Array:
        """Return the tokens of the chunks shown, shape (questions, places) to (questions,).

        A section shown whole counts no more than its own tokens.
        """
        as_numbers = shown.astype(np.float64)
        total: Array = as_numbers @ self.tokens
        if self.surplus.any():
            total -= ((as_numbers @ self.members) == self.sizes) @ self.surplus
        return total

    def alone(self) -> Flags:
        """Return for each place the places of its chunk alone."""
        return np.eye(len(self.positions), dtype=np.bool_)

    def grown(self, limit: int) -> Flags:
        """Return for each place the places shown with its chunk: by turns forwards and backwards in its section.

        Growing stops on a side at the section's end, or where the next chunk would go over ``limit`` tokens.
        """
        found = self.alone()
        tokens = self.tokens.tolist()
        for section, size in enumerate(self.sizes.astype(np.intp).tolist()):
            start = int(self.starts[section])
            for place in range(start, start + size):
                first, last = _grown(tokens, place, (start, start + size), limit)
                found[place, first : last + 1] = True
        return found


def lay_out(chunks: Sequence[Chunk], sections: Mapping[str, Section], siblings: Mapping[str, Sequence[int]]) -> Layout:
    """Lay chunks out in the order of their sections and, within one, as ``siblings`` lists their positions."""
    names = sorted(siblings, key=lambda name: sections[name].order)
    sizes = np.array([len(siblings[name]) for name in names], dtype=np.intp)
    positions = np.array([at for name in names for at in siblings[name]], dtype=np.intp)
    places = np.empty(len(chunks), dtype=np.intp)
    places[positions] = np.arange(len(chunks))
    tokens = np.array([chunks[at].tokens for at in positions], dtype=np.float64)
    numbers = np.repeat(np.arange(len(names)), sizes)
    members = (numbers[:, None] == np.arange(len(names))).astype(np.float64)
    whole = np.array([sections[name].tokens for name in names], dtype=np.float64)
    surplus = np.maximum(tokens @ members - whole, 0.0)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.intp)
    return Layout(positions, places, numbers, starts, tokens, members, sizes.astype(np.float64), surplus)


def _grown(tokens: Sequence[float], place: int, section: tuple[int, int], limit: int) -> tuple[int, int]:
    """Return the first and last place of the run grown from one place within a section's places."""
    first = last = place
    total = tokens[place]
    forwards, backwards = True, True
    while forwards or backwards:
        forwards = forwards and last + 1 < section[1] and total + tokens[last + 1] <= limit
        if forwards:
            last += 1
            total += tokens[last]
        backwards = backwards and first > section[0] and total + tokens[first - 1] <= limit
        if backwards:
            first -= 1
            total += tokens[first]
    return first, last
