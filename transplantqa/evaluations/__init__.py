"""Retrievers measured against gold, side by side: the command ``evaluate-retrieval``."""
