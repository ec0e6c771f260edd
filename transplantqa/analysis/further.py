"""What is found beyond the measures: themes of disagreement and the prediction of divergence."""

from transplantqa.analysis.prediction import prediction_findings
from transplantqa.analysis.settings import Analysis
from transplantqa.analysis.tables import AuditTables, Findings
from transplantqa.analysis.themes import theme_findings


def with_further_findings(tables: AuditTables, found: Findings, settings: Analysis) -> Findings:
    """Return an audit's findings with its themes, where there is an embedder, and predictions.

    Args:
        tables: the rows that were audited.
        found: of ``audit``.
        settings: distances, thresholds, the embedder.

    Raises:
        ModelError: the embedder can't be used.
    """
    if settings.embedder is not None:
        found = found.with_more(
            theme_findings(
                tables.comparisons, settings.embedder, settings.theme_distance, settings.theme_other_distances
            )
        )
    return found.with_more(prediction_findings(tables.questions, found.tables["questions"], settings))
