"""Proof that a plan's units are there exactly once, or the names of those that are not."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from transplantqa.records import FAILED_OUTCOMES
from transplantqa.store.matching import best, distinct, have_key_in, mask, match, repeated
from transplantqa.store.tables import TableSpec


@dataclass(frozen=True, slots=True)
class MergeReport:
    """What a ledger holds of a plan: ``planned == present + len(stale) + len(missing)``.

    Args:
        planned: units asked for, each counted once.
        present: of these, units with a row made from the same inputs.
        outcomes: how the present ones ended, by their highest attempt.
        missing: key columns of planned units without any row.
        stale: key columns of planned units whose rows were made from other inputs.
        duplicate: key columns of planned units with several rows of the same inputs and attempt.
        damaged: files set aside because their bytes had changed.
    """

    planned: int
    present: int
    outcomes: dict[str, int]
    missing: pa.Table
    stale: pa.Table
    duplicate: pa.Table
    damaged: tuple[Path, ...] = ()

    @property
    def is_exact(self) -> bool:
        """Each planned unit is there exactly once."""
        return self.present == self.planned and len(self.duplicate) == 0

    @property
    def failed(self) -> dict[str, int]:
        """The failures among the outcomes."""
        return {outcome: count for outcome, count in self.outcomes.items() if outcome in FAILED_OUTCOMES}

    def problems(self, examples: int = 3) -> list[str]:
        """Name what keeps the plan from being there exactly once: a line a kind, each with a few units."""
        kinds = {"missing": self.missing, "stale": self.stale, "duplicate": self.duplicate}
        return [
            f"{len(units)} of {self.planned} units {kind}, such as "
            + "; ".join("/".join(map(str, unit.values())) for unit in units.slice(0, examples).to_pylist())
            for kind, units in kinds.items()
            if len(units)
        ]


def census(units: pa.Table, rows: pa.Table, spec: TableSpec, damaged: tuple[Path, ...] = ()) -> MergeReport:
    """Compare a plan with stored rows.

    Args:
        units: key columns and ``inputs_sha256`` of the plan.
        rows: the same, with ``attempt`` and ``outcome``, of what is stored.
        spec: the table both are of.
        damaged: files set aside, to be reported.
    """
    planned = distinct(units, spec)
    matches = match(planned, rows, spec)
    chosen = best(matches)
    keys = planned.select(list(spec.key))
    present = mask(chosen["unit"].to_numpy(), len(planned))
    known = have_key_in(keys, rows, spec)
    return MergeReport(
        planned=len(planned),
        present=len(chosen),
        outcomes=dict(sorted(Counter(chosen["outcome"].to_pylist()).items())),
        missing=keys.filter(pa.array(~present & ~known)),
        stale=keys.filter(pa.array(~present & known)),
        duplicate=keys.take(pa.array(repeated(matches))),
        damaged=damaged,
    )
