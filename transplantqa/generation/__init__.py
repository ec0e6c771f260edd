"""Answers from evidence: an extractive baseline and a grounded language model, with checked citations and silence."""

from transplantqa.generation.extractive import Extractive
from transplantqa.generation.grounded import Grounded, render_evidence
from transplantqa.generation.prompts import Domain, Prompt
from transplantqa.generation.protocols import Cell, Generator, ResolvedPassage
from transplantqa.generation.reading import read_completion, reread
from transplantqa.generation.support import Support, support

__all__ = [
    "Cell",
    "Domain",
    "Extractive",
    "Generator",
    "Grounded",
    "Prompt",
    "ResolvedPassage",
    "Support",
    "read_completion",
    "render_evidence",
    "reread",
    "support",
]
