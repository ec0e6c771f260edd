"""The few figures of a validation that every table, page, card and tracked run shows."""

from collections.abc import Sequence

from transplantqa.validation.agreement import DRAWN, JUDGE, PEOPLE, POPULATION, Figure

_JUDGE = f"{JUDGE}~{PEOPLE}"


def flat(labels: Sequence[Figure], severities: Sequence[Figure]) -> dict[str, float | int]:
    """Return headline figures by flat name, each with ``_n``, ``_lo`` and ``_hi``; undefined ones have ``_n`` alone.

    ``judge_...`` is over all pairs that a judge decided, disputes settled by the adjudicator, re-weighted to the
    population. Where disputes stay, it is the figure with all of them settled against the judge, and ``judge_..._best``
    the one with all settled for it.

    Args:
        labels: of ``agreement`` on labels.
        severities: of ``agreement`` on significances.
    """
    bounded = any(figure.reference == "worst" for figure in labels)
    lower = "worst" if bounded else "decided"
    found: dict[str, float | int] = {}
    for name, measure in _JUDGED.items():
        figure = _find(labels, _JUDGE, lower, "judged", POPULATION, measure)
        found |= _parts(name, figure)
        if bounded:
            best = _find(labels, _JUDGE, "best", "judged", POPULATION, measure)
            upper = {f"{name}_best": best.value, f"{name}_hi": best.high}
            found.pop(f"{name}_hi", None)
            found |= {key: value for key, value in upper.items() if value is not None}
    found |= _parts("judge_kappa_agreed_drawn", _find(labels, _JUDGE, "agreed", "all", DRAWN, "kappa"))
    found |= _parts("people_alpha", _find(labels, PEOPLE, "", "all", DRAWN, "alpha"))
    severity = _find(severities, _JUDGE, "decided", "all", DRAWN, "kappa_linear")
    return found | _parts("judge_severity_kappa_linear", severity)


_JUDGED = {
    "judge_kappa": "kappa",
    "judge_kappa_linear": "kappa_linear",
    "judge_raw_agreement": "raw",
    "judge_macro_f1": "macro_f1",
    "judge_constant_guess_raw": "constant_raw",
}


def _find(figures: Sequence[Figure], between: str, reference: str, pairs: str, weighting: str, measure: str) -> Figure:
    wanted = (between, reference, pairs, weighting, measure)
    return next(one for one in figures if (one.between, one.reference, one.pairs, one.weighting, one.measure) == wanted)


def _parts(name: str, figure: Figure) -> dict[str, float | int]:
    parts = {"": figure.value, "_n": figure.n, "_lo": figure.low, "_hi": figure.high}
    return {f"{name}{part}": value for part, value in parts.items() if value is not None}
