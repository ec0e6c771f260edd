"""Whether a system's findings may be read as measurements, and why not."""

from collections.abc import Mapping
from dataclasses import dataclass

from transplantqa.analysis.settings import Analysis

Figures = Mapping[str, float | int]


@dataclass(frozen=True)
class _Requirement:
    """A figure, what it means in words, and what it is over."""

    name: str
    meaning: str
    units: str


_ABSENCE = _Requirement(
    "absence_balanced_accuracy", "silence is told from answers with balanced accuracy {value}", "gold cells"
)
_PEOPLE = _Requirement("judge_kappa", "the judge agrees with people at kappa {value}", "judged pairs")
_GOLD = _Requirement("judge_gold_kappa", "the judge agrees with gold at kappa {value}", "pairs that both answer")
_SUPPORT = _Requirement("support_rate", "the share of answers supported by their evidence is {value}", "answers")
_PARSE = _Requirement("parse_success_rate", "the share of judgements that could be read is {value}", "judgements")
_FAILURE = _Requirement("failure_rate", "the share of failed units is {value}", "units")


def support_figures(supported: Mapping[tuple[str, str], bool]) -> dict[str, float | int]:
    """Return ``support_rate``: the share of answered cells whose answer its evidence carries.

    Args:
        supported: (question, document) of every answered cell to whether it is supported, by
            ``transplantqa.generation.support``.
    """
    count = len(supported)
    return {"support_rate_n": count} | ({"support_rate": sum(supported.values()) / count} if count else {})


def not_an_instrument(figures: Figures, settings: Analysis) -> tuple[str, ...]:
    """Return a sentence for each figure that falls short of its threshold; none means nothing measured speaks against.

    What wasn't measured is no reason. The judge's kappa is that of its validation by people (``judge_kappa``) where
    there is one, else that on gold (``judge_gold_kappa``).

    Args:
        figures: flat figures of the audit, of gold and of support, together.
        settings: the thresholds.
    """
    least = {
        _ABSENCE: settings.min_absence_balanced_accuracy,
        _PEOPLE if _PEOPLE.name in figures else _GOLD: settings.min_judge_kappa,
        _SUPPORT: settings.min_support_rate,
        _PARSE: settings.min_parse_success_rate,
    }
    reasons = []
    for requirement, threshold in least.items():
        if figures.get(requirement.name, threshold) < threshold:
            reasons.append(_sentence(figures, requirement, ("at least", threshold, "is asked")))
    if figures.get(_FAILURE.name, 0.0) > settings.max_failure_rate:
        reasons.append(_sentence(figures, _FAILURE, ("at most", settings.max_failure_rate, "is allowed")))
    return tuple(reasons)


def _sentence(figures: Figures, requirement: _Requirement, limit: tuple[str, float, str]) -> str:
    """Say what a figure is and what it should be, with as many decimals as tell the two apart."""
    bound, threshold, verb = limit
    value, units = figures[requirement.name], figures.get(f"{requirement.name}_n")
    decimals = 4 if f"{value:.2f}" == f"{threshold:.2f}" else 2
    meaning = requirement.meaning.format(value=f"{value:.{decimals}f}")
    over = "" if units is None else f" over {units:,.0f} {requirement.units}"
    return f"{meaning[0].upper()}{meaning[1:]}{over}; {bound} {threshold:.{decimals}f} {verb}."
