"""From a run's tables to its findings."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from transplantqa.analysis.broad import broad_agreement
from transplantqa.analysis.corrected import sensitivity
from transplantqa.analysis.counts import UNREADABLE, CellState, JudgeCalls, read_cells, read_pairs
from transplantqa.analysis.estimates import Estimate, estimate, flat, to_table
from transplantqa.analysis.facets import (
    HEADLINE_SCOPE,
    SCOPES,
    Attributes,
    Facet,
    cell_facets,
    pair_facets,
    read_attributes,
    scope_of,
    select,
)
from transplantqa.analysis.institutions import institution_intervals
from transplantqa.analysis.intervals import resampling_weights
from transplantqa.analysis.measures import (
    CONFLICT,
    DECIDED,
    VISIBLE,
    FloatArray,
    Measure,
    cell_measures,
    label_measures,
    pair_measures,
    pooled,
    severity,
)
from transplantqa.analysis.perquestion import document_table, matrix_table, question_table
from transplantqa.analysis.ranks import spearman
from transplantqa.analysis.settings import Analysis
from transplantqa.analysis.strata import strata_table
from transplantqa.analysis.tables import AuditTables, Findings
from transplantqa.analysis.topics import document_topic_table
from transplantqa.records import Outcome

LABELLED = frozenset({"all", "group", "scope"})
"""Facets whose label shares are given; others' are in the counts of the per-document and per-question tables."""
FLAT_ONLY = {"document": frozenset({"absence_rate"}), "subtopic": frozenset[str]()}
"""Facets with many members keep most figures to the ``measures`` table."""
UNREAD_CALLS = frozenset({str(Outcome.ENGINE_ERROR), str(Outcome.CONTEXT_OVERFLOW)})
"""Calls that returned no text to parse."""


def audit(tables: AuditTables, settings: Analysis) -> Findings:
    """Compute every measure of one run.

    Pair figures are of the headline scope (different institutions, compatible phase) unless named ``scope/…``.

    Args:
        tables: current rows of one run.
        settings: intervals, weights and thresholds.

    Returns:
        Flat figures, and tables: ``measures`` (every estimate), ``labels``, ``questions``, ``documents``,
        ``document_pairs``, ``institution_pairs``, ``document_topics``, ``broad_agreement``, ``strata`` and
        ``any_divergence_sensitivity``.

    Raises:
        InputError: the tables don't belong together.
    """
    cells = read_cells(tables)
    pairs, calls = read_pairs(cells, tables.comparisons)
    attributes = read_attributes(tables, cells)
    scope = scope_of(pairs, attributes, settings.spanning_phases)
    by_cell = cell_facets(cells, attributes)
    by_pair = pair_facets(cells, pairs, scope, attributes)
    weights = resampling_weights(len(cells.question_ids), settings.bootstrap_replicates, settings.seed)
    estimates = _estimates(by_cell, by_pair, settings, weights)
    shown = [row for row in estimates if row.measure in FLAT_ONLY.get(row.facet, {row.measure})]
    headline = select(pairs, scope == SCOPES.index(HEADLINE_SCOPE))
    agreement, agreement_table = broad_agreement(pairs, attributes, settings)
    metrics = flat(shown) | _operations(tables, by_cell[0], calls) | _sizes(attributes, by_pair[0]) | agreement
    by_institution = next(facet for facet in by_pair if facet.name == "institution")
    metrics |= institution_intervals(cells, headline, attributes, by_institution, settings)
    metrics |= _severity_correlations(by_pair, settings)
    measures = to_table(estimates)
    whole = pc.and_(pc.equal(measures["facet"], "all"), pc.starts_with(measures["measure"], "label"))
    return Findings(
        metrics=metrics,
        tables={
            "measures": measures,
            "labels": measures.filter(whole).select(["measure", "value", "numerator", "denominator", "low", "high"]),
            "questions": question_table(tables.questions, cells, by_cell[0], by_pair[0]),
            "documents": document_table(tables.documents, cells, by_cell, by_pair),
            "document_pairs": matrix_table(headline, cells.document_ids, np.arange(len(cells.document_ids))),
            "institution_pairs": matrix_table(headline, attributes.institutions, attributes.institution),
            "document_topics": document_topic_table(cells, attributes.topic),
            "broad_agreement": agreement_table,
            "strata": strata_table(by_cell, by_pair, weights, settings),
            "any_divergence_sensitivity": _sensitivity(by_pair[0]),
        },
    )


def _estimates(by_cell: list[Facet], by_pair: list[Facet], settings: Analysis, weights: FloatArray) -> list[Estimate]:
    rates = pair_measures(settings.rarefaction_pairs, settings.severity_weights)
    rows = [row for facet in by_cell for row in estimate(facet, cell_measures(), weights, settings)]
    for facet in by_pair:
        measures: tuple[Measure, ...] = rates + label_measures() if facet.name in LABELLED else rates
        rows += estimate(facet, measures, weights, settings)
    return rows


def _sensitivity(pairs: Facet) -> pa.Table:
    visible, conflicts, decided = (
        pairs.counts[:, 0][:, list(states)].sum(axis=1) for states in (VISIBLE, CONFLICT, DECIDED)
    )
    return sensitivity(visible, conflicts, decided > 0)


def _operations(tables: AuditTables, cells: Facet, calls: JudgeCalls) -> dict[str, float | int]:
    """Return failures, parsing, unreadable documents and tokens."""
    states = cells.counts.sum(axis=(0, 1))
    failed_calls = calls.total() - calls.outcomes.get(str(Outcome.OK), 0)
    returned = calls.total() - sum(calls.outcomes.get(outcome, 0) for outcome in UNREAD_CALLS)
    metrics: dict[str, float | int] = {}
    _rate(metrics, "failure_rate", int(states[CellState.FAILED]) + failed_calls, int(states.sum()) + calls.total())
    _rate(metrics, "comparison_failure_rate", failed_calls, calls.total())
    _rate(metrics, "parse_success_rate", calls.outcomes.get(str(Outcome.OK), 0) + calls.excluded, returned)
    unreadable = pc.equal(tables.documents["verdict"], UNREADABLE)
    metrics["documents"] = tables.documents.num_rows
    metrics["unreadable_documents"] = pc.sum(unreadable).as_py() or 0
    metrics["questions"] = tables.questions.num_rows
    sources = [tables.answers] if tables.judgements is None else [tables.answers, tables.judgements]
    for name in ("prompt", "completion"):
        metrics[f"tokens_{name}"] = sum(_total(table, f"{name}_tokens") for table in sources)
    return metrics


def _rate(metrics: dict[str, float | int], name: str, events: int, units: int) -> None:
    metrics[f"{name}_n"] = units
    if units:
        metrics[name] = events / units


def _total(table: pa.Table, column: str) -> int:
    return int(pc.sum(table[column].cast(pa.int64())).as_py() or 0)


def _severity_correlations(by_pair: list[Facet], settings: Analysis) -> dict[str, float | int]:
    """Return Spearman's correlation of severity-weighted and plain divergence over questions, topics, documents."""
    terms = severity(settings.severity_weights)
    counts = {facet.name: facet.counts for facet in by_pair}
    levels = {"question": counts["all"][:, 0]}
    levels |= {name: counts[name].sum(axis=0) for name in ("topic", "document") if name in counts}
    metrics: dict[str, float | int] = {}
    for name, level in levels.items():
        weighted, rated = terms(level)
        conflict, visible = pooled(CONFLICT, VISIBLE)(level)
        defined = (rated > 0) & (visible > 0)
        metrics[f"severity_spearman/{name}_n"] = int(defined.sum())
        value = spearman(weighted[defined] / rated[defined], conflict[defined] / visible[defined])
        if value is not None:
            metrics[f"severity_spearman/{name}"] = value
    return metrics


def _sizes(attributes: Attributes, pairs: Facet) -> dict[str, float | int]:
    return {"institutions": len(attributes.institutions), "pairs": int(pairs.counts.sum())}
