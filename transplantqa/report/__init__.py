"""What people and programs are told: progress, the closing table, one question shown whole."""

from transplantqa.report.summary import closing_summary

__all__ = ["closing_summary"]
