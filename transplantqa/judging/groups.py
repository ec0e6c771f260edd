"""Which planned judgements share one call: fixed by the plan, whatever of it is still to be done."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from transplantqa.store.hashing import text_sha256

Positions = NDArray[np.int64]


@dataclass(frozen=True)
class Groups:
    """Planned judgements in groups of at most ``size``.

    A group's members have the question, the answer shown first and the replicate in common; they stand in order of the
    other document, so that a group follows from the plan alone.

    Attributes:
        planned: key columns of ``store.tables.JUDGEMENTS`` and ``inputs_sha256``.
        size: the most members.
    """

    planned: pa.Table
    size: int

    @cached_property
    def _numbered(self) -> tuple[Positions, Positions]:
        """The group of each row, and its place in it, both counted from 1."""
        a_first = pc.equal(self.planned["shown_first"], "a")
        names = ("document_a", "document_b")
        first, other = (pc.if_else(a_first, *(self.planned[name] for name in side)) for side in (names, names[::-1]))
        columns = {"question": self.planned["question_id"], "first": first, "replicate": self.planned["replicate"]}
        keyed = pa.table({**columns, "other": other})
        order = pc.sort_indices(keyed, sort_keys=[(name, "ascending") for name in keyed.column_names]).to_numpy()
        codes = [pc.rank(column.combine_chunks(), tiebreaker="dense").to_numpy()[order] for column in columns.values()]
        opens = np.ones(len(order), dtype=bool)
        opens[1:] = np.any([np.diff(code.astype(np.int64)) != 0 for code in codes], axis=0)
        starts = np.flatnonzero(opens)
        within = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
        group = np.cumsum(within % self.size == 0)
        numbers, places = np.empty(len(order), np.int64), np.empty(len(order), np.int64)
        numbers[order], places[order] = group, within % self.size + 1
        return numbers, places

    @property
    def numbers(self) -> Positions:
        """The group of each planned judgement, counted from 1."""
        return self._numbered[0]

    @property
    def places(self) -> Positions:
        """The place of each planned judgement in its group, counted from 1."""
        return self._numbered[1]

    def with_inputs(self) -> pa.Table:
        """Return the plan with inputs that name the whole group: each verdict is made from all of it."""
        own = self.planned["inputs_sha256"].to_pylist()
        order = np.lexsort((self.places, self.numbers))
        inputs: list[str] = [""] * len(own)
        bounds = np.flatnonzero(np.diff(self.numbers[order], prepend=0))
        for start, end in zip(bounds, np.append(bounds, len(own))[1:], strict=True):
            members = order[start:end].tolist()
            made_from = "\n".join(own[row] for row in members)
            for place, row in enumerate(members, start=1):
                inputs[row] = text_sha256(f"{place}\n{made_from}")
        at = self.planned.schema.get_field_index("inputs_sha256")
        return self.planned.set_column(at, "inputs_sha256", pa.array(inputs, pa.string()))

    def company(self, keys: Iterable[tuple[Any, ...]]) -> list[int]:
        """Return the positions of all planned judgements that share a group with one of these keys, in plan order."""
        wanted = {self.numbers[self._position[key]] for key in keys}
        return [int(row) for row in np.flatnonzero(np.isin(self.numbers, list(wanted)))]

    def place(self, key: tuple[Any, ...]) -> int:
        """Return the place of one planned judgement in its group, counted from 1."""
        return int(self.places[self._position[key]])

    @cached_property
    def _position(self) -> dict[tuple[Any, ...], int]:
        columns = [self.planned[name].to_pylist() for name in self.planned.column_names if name != "inputs_sha256"]
        return {key: position for position, key in enumerate(zip(*columns, strict=True))}
