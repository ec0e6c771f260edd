"""Broad agreement of document pairs, and whether one institution's documents agree more than others'."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from transplantqa.analysis.counts import PAIR_STATES, IntArray, Pairs
from transplantqa.analysis.effects import hedges_g
from transplantqa.analysis.facets import Attributes
from transplantqa.analysis.measures import AGREEMENT, VISIBLE, FloatArray, weights_of
from transplantqa.analysis.settings import Analysis

CLASSES = (
    "same_institution_same_group",
    "same_institution_different_group",
    "different_institution_same_group",
    "different_institution_different_group",
)


@dataclass(frozen=True)
class Agreements:
    """Document pairs with enough visible pairs: documents ``a`` < ``b`` by position, and their broad agreement."""

    a: IntArray
    b: IntArray
    visible: IntArray
    value: FloatArray


def broad_agreements(pairs: Pairs, documents: int, minimum: int) -> Agreements:
    """Return ``(CONSISTENT + COMPLEMENTARY) / visible`` of document pairs of ``minimum`` or more visible questions."""
    flat = pairs.a.astype(np.int64) * documents + pairs.b
    size = documents * documents
    visible = np.bincount(flat, weights_of(VISIBLE, PAIR_STATES)[pairs.state], size)
    agreeing = np.bincount(flat, weights_of(AGREEMENT, PAIR_STATES)[pairs.state], size)
    kept = np.flatnonzero(visible >= minimum)
    return Agreements(
        kept // max(documents, 1),
        kept % max(documents, 1),
        visible[kept].astype(np.int64),
        agreeing[kept] / visible[kept],
    )


def welch(first: FloatArray, second: FloatArray) -> tuple[float, float] | None:
    """Return Welch's t and its degrees of freedom; None where a side has fewer than two values or both are constant."""
    if len(first) < 2 or len(second) < 2:
        return None
    parts = [float(side.var(ddof=1)) / len(side) for side in (first, second)]
    if sum(parts) == 0:
        return None
    freedom = sum(parts) ** 2 / (parts[0] ** 2 / (len(first) - 1) + parts[1] ** 2 / (len(second) - 1))
    return float(first.mean() - second.mean()) / float(np.sqrt(sum(parts))), freedom


def permutation_p(found: Agreements, institution: IntArray, group: IntArray, settings: Analysis) -> float | None:
    """Return the two-sided p of "same institution agrees as much as different", by permuting institution labels.

    Labels move among the documents of one group, so that groups keep their institutions' sizes; pairs aren't
    independent and Welch's test takes them to be. None where a side is empty or no permutation is asked for.
    """
    observed = _difference(found, institution)
    if observed is None or not settings.permutations:
        return None
    rng = np.random.default_rng(settings.seed)
    members = [np.flatnonzero(group == name) for name in np.unique(group)]
    extreme = drawn = 0
    for _ in range(settings.permutations):
        labels = institution.copy()
        for places in members:
            labels[places] = rng.permutation(labels[places])
        difference = _difference(found, labels)
        if difference is not None:
            drawn += 1
            extreme += abs(difference) >= abs(observed) - 1e-12
    return (1 + extreme) / (1 + drawn)


def _difference(found: Agreements, institution: IntArray) -> float | None:
    same = institution[found.a] == institution[found.b]
    if not same.any() or same.all():
        return None
    return float(found.value[same].mean() - found.value[~same].mean())


def broad_agreement(
    pairs: Pairs, attributes: Attributes, settings: Analysis
) -> tuple[dict[str, float | int], pa.Table]:
    """Return flat figures and a table of the mean broad agreement by same or different institution and group.

    Pairs of every scope count. ``broad_agreement/<class>_n`` is document pairs; ``broad_agreement_welch_t`` and ``_df``
    compare same with different institution as the paper does; ``broad_agreement_hedges_g`` is the effect size, and
    ``broad_agreement_permutation_p`` is ours.
    """
    found = broad_agreements(pairs, len(attributes.institution), settings.broad_agreement_min_questions)
    same_institution = attributes.institution[found.a] == attributes.institution[found.b]
    same_group = attributes.group[found.a] == attributes.group[found.b]
    place = np.where(same_institution, 0, 2) + np.where(same_group, 0, 1)
    metrics: dict[str, float | int] = {}
    rows = []
    for number, name in enumerate(CLASSES):
        values = found.value[place == number]
        mean = float(values.mean()) if len(values) else None
        spread = float(values.std(ddof=1)) if len(values) > 1 else None
        rows.append({"class": name, "document_pairs": len(values), "mean": mean, "standard_deviation": spread})
        metrics[f"broad_agreement/{name}_n"] = len(values)
        if mean is not None:
            metrics[f"broad_agreement/{name}"] = mean
    test = welch(found.value[same_institution], found.value[~same_institution])
    if test is not None:
        metrics |= {"broad_agreement_welch_t": test[0], "broad_agreement_welch_df": test[1]}
    size = hedges_g(found.value[same_institution], found.value[~same_institution])
    if size is not None:
        metrics["broad_agreement_hedges_g"] = size
    p = permutation_p(found, attributes.institution, attributes.group, settings)
    if p is not None:
        metrics["broad_agreement_permutation_p"] = p
    schema = pa.schema(
        {"class": pa.string(), "document_pairs": pa.int64(), "mean": pa.float64(), "standard_deviation": pa.float64()}
    )
    return metrics, pa.Table.from_pylist(rows, schema=schema)
