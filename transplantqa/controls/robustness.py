"""One set of answers judged several ways: how far the headline depends on prompt, model, order, and on citations."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from transplantqa.records import CONFLICT_LABELS, Label

PairKey = tuple[str, str, str]
HEADLINES = ("divergence_rate", "any_divergence_rate", "source_dependence_index", "severity_weighted_divergence")
FACTORS = ("judge", "prompt", "model", "order", "citations", "other")
_CONFLICT = {str(label) for label in CONFLICT_LABELS}


@dataclass(frozen=True)
class JudgedRun:
    """A run as far as its judging goes.

    Attributes:
        run_id: the run.
        system: its name.
        factors: what its judge is made of, by ``FACTORS``.
        answers: hash of the answers judged.
        generator_family: family of the generator's model, if it has one.
        judge_family: family of the judge's model, if it has one.
        labels: every pair judged (not pre-screened) and read, with its label.
        metrics: flat figures of the run.
    """

    run_id: str
    system: str
    factors: Mapping[str, str]
    answers: str
    generator_family: str | None
    judge_family: str | None
    labels: Mapping[PairKey, str]
    metrics: Mapping[str, float]


def robustness(runs: Sequence[JudgedRun]) -> dict[str, Any]:
    """Compare runs that differ in their judge; only runs over the same answers are compared with each other.

    Returns:
        JSON-safe: ``runs`` (each with its headline and triads), ``ranges`` of the headline over runs of the same
        answers, ``factors`` (what changes when one factor alone does), ``order_flips``, ``self_preference``.
    """
    groups: dict[str, list[JudgedRun]] = defaultdict(list)
    for run in runs:
        groups[run.answers].append(run)
    return {
        "runs": [_described(run) for run in runs],
        "sets_of_answers": len(groups),
        "ranges": [row for name, group in groups.items() for row in ranges(group, name[:12])],
        "factors": factor_effects([pair for group in groups.values() for pair in combinations(group, 2)]),
        "order_flips": [row for run in runs if (row := _order_flips(run)) is not None],
        "self_preference": self_preference(runs),
    }


def ranges(runs: Sequence[JudgedRun], answers: str) -> list[dict[str, Any]]:
    """Return the least and greatest of each headline rate over runs of the same answers."""
    rows = []
    for name in HEADLINES:
        values = [run.metrics[name] for run in runs if name in run.metrics]
        if values:
            low, high = min(values), max(values)
            rows.append(
                {
                    "answers": answers,
                    "measure": name,
                    "runs": len(values),
                    "low": low,
                    "high": high,
                    "range": high - low,
                }
            )
    return rows


def factor_effects(pairs: Iterable[tuple[JudgedRun, JudgedRun]]) -> list[dict[str, Any]]:
    """Return, for each factor and pair of its choices, what changes between runs that differ in it alone.

    ``changed`` is the share of pairs labelled in both whose label differs; ``conflict_points`` how many more of a
    hundred are in conflict under the second choice; both over all such pairs of runs.
    """
    found: dict[tuple[str, str, str], list[tuple[str, str]]] = defaultdict(list)
    for one, other in pairs:
        different = [factor for factor in FACTORS if one.factors.get(factor) != other.factors.get(factor)]
        if len(different) != 1:
            continue
        factor = different[0]
        first, second = sorted((one, other), key=lambda run: str(run.factors.get(factor)))
        key = (factor, str(first.factors.get(factor)), str(second.factors.get(factor)))
        found[key] += [
            (first.labels[name], second.labels[name]) for name in sorted(first.labels.keys() & second.labels)
        ]
    return [_effect(key, labels) for key, labels in sorted(found.items()) if labels]


def _effect(key: tuple[str, str, str], labels: Sequence[tuple[str, str]]) -> dict[str, Any]:
    changed = sum(a != b for a, b in labels)
    conflict = [sum(side in _CONFLICT for side in sides) for sides in zip(*labels, strict=True)]
    return {
        "factor": key[0],
        "first": key[1],
        "second": key[2],
        "pairs": len(labels),
        "changed": changed / len(labels),
        "conflict_points": 100 * (conflict[1] - conflict[0]) / len(labels),
    }


def triads(labels: Mapping[PairKey, str]) -> dict[str, Any]:
    """Count triads that can't be: a says what b says and b what c says, yet a and c are in conflict.

    ``eligible`` triads of one question's documents have three labelled pairs, at least two of them CONSISTENT.
    """
    by_question: dict[str, dict[tuple[str, str], str]] = defaultdict(dict)
    for (question, a, b), label in labels.items():
        by_question[question][a, b] = label
    eligible = broken = 0
    for known in by_question.values():
        for three in _triples(known):
            consistent = sum(label == Label.CONSISTENT for label in three)
            eligible += consistent >= 2
            broken += consistent == 2 and any(label in _CONFLICT for label in three)
    return {"eligible": eligible, "intransitive": broken, "share": broken / eligible if eligible else None}


def _triples(known: Mapping[tuple[str, str], str]) -> Iterator[tuple[str, str, str]]:
    documents = sorted({name for pair in known for name in pair})
    for a, b, c in combinations(documents, 3):
        sides = (known.get((a, b)), known.get((a, c)), known.get((b, c)))
        if sides[0] is not None and sides[1] is not None and sides[2] is not None:
            yield (sides[0], sides[1], sides[2])


def self_preference(runs: Sequence[JudgedRun]) -> dict[str, Any]:
    """Compare judges of the generator's own family with others, on the same answers.

    ``agreement_points``: how many more of a hundred pairs a judge of the own family takes to agree (CONSISTENT,
    COMPLEMENTARY) than judges of other families do, over the ``pairs`` to which all of them gave a label other than
    ABSENT; a mean over sets of answers that both judged. Null where none is.
    """
    differences, pairs = [], 0
    for answers in sorted({run.answers for run in runs}):
        judged = [run for run in runs if run.answers == answers and run.generator_family and run.judge_family]
        own = [run for run in judged if run.judge_family == run.generator_family]
        others = [run for run in judged if run.judge_family != run.generator_family]
        if not own or not others:
            continue
        shared = set.intersection(*(_visible(run) for run in judged))
        if shared:
            mine, theirs = (float(np.mean([_agreement(run, shared) for run in side])) for side in (own, others))
            differences.append(100 * (mine - theirs))
            pairs += len(shared)
    families = sorted({run.judge_family for run in runs if run.judge_family})
    return {
        "sets_of_answers": len(differences),
        "pairs": pairs,
        "judge_families": families,
        "agreement_points": float(np.mean(differences)) if differences else None,
    }


def _visible(run: JudgedRun) -> set[PairKey]:
    return {key for key, label in run.labels.items() if label != Label.ABSENT}


def _agreement(run: JudgedRun, keys: Collection[PairKey]) -> float:
    return sum(run.labels[key] not in _CONFLICT for key in keys) / len(keys)


def _order_flips(run: JudgedRun) -> dict[str, Any] | None:
    kept = run.metrics.get("judge_order_consistency")
    if kept is None:
        return None
    return {"system": run.system, "pairs": int(run.metrics["judge_order_consistency_n"]), "flipped": 1.0 - kept}


def _described(run: JudgedRun) -> dict[str, Any]:
    return {
        "run_id": run.run_id,
        "system": run.system,
        "factors": dict(run.factors),
        "answers": run.answers[:12],
        "generator_family": run.generator_family,
        "judge_family": run.judge_family,
        "judged_pairs": len(run.labels),
        "headline": {name: run.metrics[name] for name in HEADLINES if name in run.metrics},
        "parse_success_rate": run.metrics.get("parse_success_rate"),
        "noise_floor": run.metrics.get("judge_noise_floor"),
        "triads": triads(run.labels),
    }
