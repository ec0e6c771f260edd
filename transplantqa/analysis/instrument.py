"""Whether a system's findings may be read as measurements, and why not."""

from collections.abc import Mapping
from dataclasses import dataclass

from transplantqa.analysis.settings import Analysis

Figures = Mapping[str, float | int]


@dataclass(frozen=True)
class _Requirement:
    """A figure, what it means in words, and the words around its threshold."""

    names: tuple[str, ...]
    meaning: str
    units: str


_ABSENCE = _Requirement(
    ("absence_balanced_accuracy",), "silence is told from answers with balanced accuracy {value}", "gold cells"
)
_KAPPA = _Requirement(
    ("judge_kappa", "judge_gold_kappa"), "the judge agrees with people at kappa {value}", "pairs that both answer"
)
_SUPPORT = _Requirement(("support_rate",), "the share of answers supported by their evidence is {value}", "answers")
_PARSE = _Requirement(("parse_success_rate",), "the share of judgements that could be read is {value}", "judgements")
_FAILURE = _Requirement(("failure_rate",), "the share of failed units is {value}", "units")


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
        _KAPPA: settings.min_judge_kappa,
        _SUPPORT: settings.min_support_rate,
        _PARSE: settings.min_parse_success_rate,
    }
    reasons = []
    for requirement, threshold in least.items():
        name = _measured(figures, requirement)
        if name is not None and figures[name] < threshold:
            reasons.append(_sentence(figures, name, requirement, f"at least {threshold:.2f} is asked"))
    name = _measured(figures, _FAILURE)
    if name is not None and figures[name] > settings.max_failure_rate:
        reasons.append(_sentence(figures, name, _FAILURE, f"at most {settings.max_failure_rate:.2f} is allowed"))
    return tuple(reasons)


def _measured(figures: Figures, requirement: _Requirement) -> str | None:
    return next((name for name in requirement.names if name in figures), None)


def _sentence(figures: Figures, name: str, requirement: _Requirement, limit: str) -> str:
    meaning = requirement.meaning.format(value=f"{figures[name]:.2f}")
    over = f" over {figures[f'{name}_n']} {requirement.units}" if f"{name}_n" in figures else ""
    return f"{meaning[0].upper()}{meaning[1:]}{over}; {limit}."
