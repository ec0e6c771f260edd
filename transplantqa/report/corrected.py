"""A run's rates corrected for its judge's errors, where people labelled a sample of its pairs."""

from typing import Any

from transplantqa import validation
from transplantqa.analysis import Analysis, AuditTables
from transplantqa.analysis.corrected import corrected_rates
from transplantqa.analysis.counts import read_cells, read_pairs
from transplantqa.analysis.facets import HEADLINE_SCOPE, SCOPES, read_attributes, scope_of, select
from transplantqa.store.run_folder import RunFolder


def corrected_rows(run: RunFolder) -> list[dict[str, Any]]:
    """Return the headline scope's correctable rates, uncorrected and corrected; none without people's labels.

    See ``transplantqa.analysis.corrected``; nothing is kept, so that labels added later count the next time.
    """
    reference = validation.reference_labels(run)
    if reference is None:
        return []
    tables = AuditTables(**{name: run.table(name) for name in ("documents", "questions", "answers", "comparisons")})
    cells = read_cells(tables)
    pairs, _ = read_pairs(cells, tables.comparisons)
    configured = run.config.get("analysis") or {}
    spanning = tuple(configured.get("spanning_phases") or ())
    confidence = float(configured.get("confidence") or Analysis().confidence)
    scope = scope_of(pairs, read_attributes(tables, cells), spanning)
    headline = select(pairs, scope == SCOPES.index(HEADLINE_SCOPE))
    return list(corrected_rates(cells, headline, reference, confidence).to_pylist())
