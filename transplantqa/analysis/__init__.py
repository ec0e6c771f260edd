"""Measures, intervals and verdicts computed from a run's tables; definitions in ``docs/measures.md``."""

from transplantqa.analysis.audit import audit
from transplantqa.analysis.further import with_further_findings
from transplantqa.analysis.gold import GoldFacts, gold_figures
from transplantqa.analysis.instrument import not_an_instrument, support_figures
from transplantqa.analysis.settings import Analysis
from transplantqa.analysis.tables import AuditTables, Findings

__all__ = [
    "Analysis",
    "AuditTables",
    "Findings",
    "GoldFacts",
    "audit",
    "gold_figures",
    "not_an_instrument",
    "support_figures",
    "with_further_findings",
]
