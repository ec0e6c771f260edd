"""Judging pairs of answers: the pre-screen, the rules baseline, the structured judge, and the comparisons they make."""

from transplantqa.judging.batched import BatchedJudge
from transplantqa.judging.comparisons import comparison_batches, derive_comparisons
from transplantqa.judging.label_only import LabelOnlyJudge
from transplantqa.judging.pairs import PAIRS, enumerate_pairs, to_judge
from transplantqa.judging.parsing import Parsed, parse
from transplantqa.judging.prescreen import Screened, screen
from transplantqa.judging.prescreens import ClassifierPrescreen, RulePrescreen
from transplantqa.judging.presentation import judging_order, presentations
from transplantqa.judging.protocols import Judge, Pair, Prescreen
from transplantqa.judging.rules import RulesJudge
from transplantqa.judging.structured import StructuredJudge
from transplantqa.judging.verdict import Verdict, verdict_schema

__all__ = [
    "PAIRS",
    "BatchedJudge",
    "ClassifierPrescreen",
    "Judge",
    "LabelOnlyJudge",
    "Pair",
    "Parsed",
    "Prescreen",
    "RulePrescreen",
    "RulesJudge",
    "Screened",
    "StructuredJudge",
    "Verdict",
    "comparison_batches",
    "derive_comparisons",
    "enumerate_pairs",
    "judging_order",
    "parse",
    "presentations",
    "screen",
    "to_judge",
    "verdict_schema",
]
