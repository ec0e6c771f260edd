"""Several judges on the same pairs: agreement with each other and with people, time and tokens a pair."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow.compute as pc

from transplantqa.errors import InputError
from transplantqa.records import Label
from transplantqa.store.hashing import text_sha256
from transplantqa.store.run_folder import RunFolder
from transplantqa.validation.agreement import DRAWN, Figure, agreement
from transplantqa.validation.assess import SCALE
from transplantqa.validation.judged import SIDES, Judged, PairKey, judged_pairs, key_of, rows_of
from transplantqa.validation.ratings import Ratings, coded
from transplantqa.validation.record import of_run, reference_labels
from transplantqa.validation.resampling import Bootstrap

_COST = ("seconds", "prompt_tokens", "cached_tokens", "completion_tokens")


@dataclass(frozen=True)
class Comparison:
    """What was found.

    Args:
        names: each judge's system.
        pairs: pairs that every judge decided itself, over the same two answers.
        costs: of each judge: pairs looked at that it left without a label; judgements of the pairs that count, and
            seconds and tokens a pair of them.
        figures: of each two judges, the first as reference; and of each against people where a record has labels.
    """

    names: tuple[str, ...]
    pairs: int
    costs: Sequence[Mapping[str, float]]
    figures: Sequence[Figure]


def compare_judges(
    runs: Sequence[RunFolder], pairs: Sequence[Mapping[str, Any]] | None, bootstrap: Bootstrap
) -> Comparison:
    """Compare the judges of runs over the pairs that all of them decided, from word for word the same answers.

    Args:
        runs: one a judge.
        pairs: rows of a sample's key to look at; all pairs of the first run when None.
        bootstrap: of the intervals.

    Raises:
        InputError: two runs are of one name, or there is no such pair.
    """
    names = tuple(run.system for run in runs)
    if len(set(names)) < len(names):
        raise InputError(f"runs of the same name: {', '.join(names)}.\nGive each system a name of its own: system=NAME")
    looked_at = all_pairs(runs[0]) if pairs is None else pairs
    judged = [judged_pairs(run, looked_at) for run in runs]
    shared = sorted(key for key in judged[0] if all(_is_judged(one.get(key)) for one in judged))
    if not shared:
        raise InputError(
            f"{', '.join(names)}: there is no pair that all of these judges decided from the same answers.\n"
            "Compare runs that differ in their judge alone: transplantqa run -m judge=structured,label_only"
        )
    costs = [
        {"without_label": sum(found.label is None for found in one.values()), **_costs(run, set(shared))}
        for run, one in zip(runs, judged, strict=True)
    ]
    figures = [*_between(names, judged, shared, bootstrap), *_with_people(runs, names, judged, shared, bootstrap)]
    return Comparison(names, len(shared), costs, figures)


def all_pairs(run: RunFolder) -> list[dict[str, Any]]:
    """Return every pair of a run that its judge was asked about, with its answers' hashes."""
    hashes = {
        (row["question_id"], row["document_id"]): text_sha256(row["text"])
        for batch in run.batches("answers", columns=["question_id", "document_id", "variant", "text"])
        for row in batch.to_pylist()
        if row["variant"] == "default"
    }
    found = []
    for batch in run.batches("comparisons", columns=["question_id", "document_a", "document_b", "decided_by"]):
        for row in batch.filter(pc.equal(batch["decided_by"], "judge")).to_pylist():
            sides = {sha256: hashes[row["question_id"], row[side]] for side, sha256 in SIDES}
            found.append({**row, **sides})
    return found


def _is_judged(one: Judged | None) -> bool:
    return one is not None and one.decided_by == "judge" and one.label is not None


def _costs(run: RunFolder, keys: set[PairKey]) -> dict[str, float]:
    """Return judgements, and seconds and tokens a pair, of these pairs: orders and replicates all count."""
    totals = dict.fromkeys(_COST, 0.0)
    judgements = 0
    for row in rows_of(run, "judgements", keys, _COST):
        judgements += 1
        for name in _COST:
            totals[name] += row[name]
    return {"judgements": judgements, **{f"{name}_per_pair": total / len(keys) for name, total in totals.items()}}


def _between(
    names: Sequence[str], judged: Sequence[Mapping[PairKey, Judged]], keys: Sequence[PairKey], bootstrap: Bootstrap
) -> list[Figure]:
    codes = {name: _labels(one, keys) for name, one in zip(names, judged, strict=True)}
    found: list[Figure] = []
    for first, second in combinations(names, 2):
        ratings = _ratings(keys, codes[first], codes[second], first)
        found += _renamed(agreement(ratings, bootstrap), f"judge~{first}", f"{second}~{first}")
    return found


def _with_people(
    runs: Sequence[RunFolder],
    names: Sequence[str],
    judged: Sequence[Mapping[PairKey, Judged]],
    keys: Sequence[PairKey],
    bootstrap: Bootstrap,
) -> list[Figure]:
    """Compare each judge with people's labels of the pairs that have one, from the first run that was validated."""
    validated = next((run for run in runs if of_run(run) is not None), None)
    people = None if validated is None else reference_labels(validated)
    if people is None:
        return []
    shared = set(keys)
    rows = [row for row in people.to_pylist() if row["label"] is not None and key_of(row) in shared]
    labelled = [key_of(row) for row in rows]
    said = coded([row["label"] for row in rows], SCALE)
    found: list[Figure] = []
    for name, one in zip(names, judged, strict=True):
        ratings = _ratings(labelled, said, _labels(one, labelled), "people")
        found += _renamed(agreement(ratings, bootstrap), "judge~people", f"{name}~people")
    return found


def _labels(judged: Mapping[PairKey, Judged], keys: Sequence[PairKey]) -> Any:
    return coded([judged[key].label for key in keys], SCALE)


def _ratings(keys: Sequence[PairKey], reference: Any, judge: Any, name: str) -> Ratings:
    questions = sorted({key[0] for key in keys})
    return Ratings(
        scale=SCALE,
        annotators=(name,),
        labels=reference[:, None],
        judge=judge,
        clusters=coded([key[0] for key in keys], questions),
        strata=np.zeros(len(keys), np.int64),
        population=np.ones(1),
        absent=SCALE.index(Label.ABSENT),
    )


def _renamed(figures: Sequence[Figure], between: str, name: str) -> list[Figure]:
    return [
        replace(one, between=name, reference="")
        for one in figures
        if one.between == between and one.weighting == DRAWN and one.reference in {"", "decided"}
    ]
