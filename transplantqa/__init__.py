"""Audit source-dependence: ask every document the same questions, judge every two answers, measure who says what."""

from importlib.metadata import version

__version__ = version("transplantqa")
