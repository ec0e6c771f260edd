"""Published claims beside what runs give: each with its measure, denominator, both values and a verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import pyarrow.compute as pc
import pyarrow.parquet as pq
import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from transplantqa.errors import InputError
from transplantqa.store.run_folder import RunFolder
from transplantqa.validation import measured, of_run

Verdict = Literal["agrees", "differs", "not computable"]
_AGGREGATES: Mapping[str, Any] = {"min": pc.min, "max": pc.max, "mean": pc.mean}


class Claim(BaseModel):
    """One published figure.

    Attributes:
        id: its own.
        source: which paper, and where.
        says: what it is, in a few words.
        measure: how a run gives it; null where none can (see ``because``).
        denominator: of the published figure.
        value: as published, in the measure's own unit.
        decimals: how exactly it was published.
        kind: whether ours should be equal to it, above it or below it.
        because: why no run can give it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    id: str
    source: str
    says: str
    measure: str | None = None
    denominator: str
    value: float
    decimals: Annotated[int, Field(ge=0, le=6)]
    kind: Literal["equal", "above", "below"] = "equal"
    because: str | None = None


class Claims(BaseModel):
    """A table of claims, and the size of the corpus they were made on."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    corpus: dict[str, int]
    claims: Annotated[list[Claim], Field(min_length=1)]


@dataclass(frozen=True)
class Figure:
    """What the runs give for a measure: the value, its denominator and interval where there are."""

    value: float
    n: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Checked:
    """A claim with ours: the figure or the reason that there is none, and the verdict."""

    claim: Claim
    ours: Figure | None
    verdict: Verdict
    because: str | None = None


def load_claims(path: Path) -> Claims:
    """Read a table of claims.

    Raises:
        InputError: it can't be read, an entry isn't a claim, or an id is used twice.
    """
    try:
        found = Claims.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, yaml.YAMLError) as error:
        raise InputError(
            f"{path}: can't be read as claims ({error}).\nGive a YAML file with corpus and claims."
        ) from error
    except ValidationError as error:
        lines = [
            f"  {'.'.join(map(str, detail['loc']))}: {detail['msg']}" for detail in error.errors(include_url=False)
        ]
        raise InputError("\n".join([f"{path}: these entries aren't claims:", *lines, "Mend them."])) from error
    ids = [claim.id for claim in found.claims]
    repeated = sorted({name for name in ids if ids.count(name) > 1})
    if repeated:
        raise InputError(f"{path}: {', '.join(repeated)} is there more than once.\nGive each claim an id of its own.")
    return found


def check(claims: Sequence[Claim], runs: Sequence[RunFolder]) -> list[Checked]:
    """Compare claims with one run, or with two where a claim is about a change: the first is the baseline.

    A claim of one run is checked on the last one given. Agreement means: the published value lies in our interval, or
    both are the same as exactly as it was published.

    Raises:
        InputError: a run isn't finished.
    """
    metrics = [measured(run).metrics for run in runs]
    return [_checked(claim, runs, metrics) for claim in claims]


def _checked(claim: Claim, runs: Sequence[RunFolder], metrics: Sequence[Mapping[str, float]]) -> Checked:
    if claim.measure is None:
        return Checked(claim, None, "not computable", claim.because or "no measure of a run is this")
    ours = _figure(claim.measure, runs, metrics)
    if isinstance(ours, str):
        return Checked(claim, None, "not computable", ours)
    return Checked(claim, ours, "agrees" if _agrees(claim, ours) else "differs")


def _agrees(claim: Claim, ours: Figure) -> bool:
    if claim.kind == "above":
        return ours.value >= claim.value
    if claim.kind == "below":
        return ours.value <= claim.value
    inside = ours.low is not None and ours.high is not None and ours.low <= claim.value <= ours.high
    return inside or abs(ours.value - claim.value) <= 0.5 * 10**-claim.decimals + 1e-12


def _figure(measure: str, runs: Sequence[RunFolder], metrics: Sequence[Mapping[str, float]]) -> Figure | str:
    """Return our figure, or the reason that there is none."""
    kind, _, name = measure.partition(":")
    if kind == "delta" and name:
        return _change(name, metrics)
    if kind == "documents" and name:
        return _over_documents(name, runs[-1])
    if kind == "validation" and name:
        return _validated(name, runs[-1])
    return _flat(measure, metrics[-1])


def _flat(name: str, metrics: Mapping[str, float]) -> Figure | str:
    if name == "cells":
        known = metrics.get("absence_rate_n")
        return Figure(known) if known is not None else "the run counts no cells"
    if name in metrics:
        return Figure(metrics[name], *(metrics.get(f"{name}_{part}") for part in ("n", "lo", "hi")))
    if metrics.get(f"{name}_n") == 0:
        return "its denominator is 0 in this run"
    return _REASONS.get(name.partition("/")[0], "this run has no such stratum or figure")


_REASONS = {
    "prediction": "this run has too few questions with enough visible pairs to predict divergence",
    "theme_instances": "the themes of this run weren't gathered",
    "theme_strings": "the themes of this run weren't gathered",
    "themes": "the themes of this run weren't gathered",
}


def _change(name: str, metrics: Sequence[Mapping[str, float]]) -> Figure | str:
    if len(metrics) < 2:
        return "it is a change between two systems: name the baseline first, then the candidate"
    sides = [_flat(name, found) for found in metrics[-2:]]
    first, second = sides
    if isinstance(first, str) or isinstance(second, str):
        return first if isinstance(first, str) else str(second)
    return Figure(second.value - first.value, second.n)


def _over_documents(name: str, run: RunFolder) -> Figure | str:
    column, _, how = name.partition(":")
    if not run.has_table("by_documents") or how not in _AGGREGATES:
        return "the run has no figures by document"
    values = run.table("by_documents", [column])[column].drop_null()
    value = _AGGREGATES[how](values).as_py()
    return "no document has this figure" if value is None else Figure(float(value), float(len(values)))


def _validated(name: str, run: RunFolder) -> Figure | str:
    """Return a figure of the judge's validation: over all pairs as drawn, against what all annotators agree on."""
    found = of_run(run)
    if found is None:
        return "the judge of this run wasn't validated against people (transplantqa validate)"
    about, side, measure, label = [*name.split(":"), None][:4]
    between, reference = ("judge~people", "agreed") if side == "judge" else (None, "")
    rows = [
        row
        for row in pq.read_table(found.path / "agreement.parquet").to_pylist()
        if (row["about"], row["reference"], row["measure"], row["label"]) == (about, reference, measure, label)
        and (row["pairs"], row["weighting"]) == ("all", "drawn")
        and (row["between"] == between if between else "judge" not in row["between"] and "~" in row["between"])
    ]
    if len(rows) != 1:
        return f"the validation has {len(rows)} pairs of annotators, and the claim is about one"
    (row,) = rows
    if row["value"] is None:
        return f"the validation couldn't give it: {row['undefined']}"
    return Figure(row["value"], row["n"], row["low"], row["high"])
