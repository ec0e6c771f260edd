"""What is found beyond the measures: themes of disagreement and the prediction of divergence."""

from transplantqa.analysis.prediction import prediction_findings
from transplantqa.analysis.settings import Analysis
from transplantqa.analysis.tables import AuditTables, Findings
from transplantqa.analysis.themes import theme_findings
from transplantqa.errors import ModelError


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
        distances = (settings.theme_distance, settings.theme_other_distances)
        try:
            found = found.with_more(theme_findings(tables.comparisons, settings.embedder, *distances))
        except ModelError as error:
            raise ModelError(f"{error}\nThemes need the embedder; analysis.embedder=null does without them.") from error
    return found.with_more(prediction_findings(tables.questions, found.tables["questions"], settings))
