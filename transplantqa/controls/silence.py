"""What re-asking says: how much of the silence is false, what it hid, and how many answers have no support."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from transplantqa.controls.drawing import Drawn
from transplantqa.controls.ratios import Part, Ratio, Resampling, ratio, remaining
from transplantqa.records import CONFLICT_LABELS, SILENT_OUTCOMES, Answer, Judgement, Label, Outcome

FLOORS = ("none", "shuffled")
"""Retrievers with which an answer can't come from the document asked."""


@dataclass(frozen=True, slots=True)
class Stratum:
    """What cells are sampled by."""

    route: str
    group: str
    institution: str


@dataclass(frozen=True, slots=True)
class SilentCell:
    """A silent cell asked again with its whole document.

    ``again`` is the answer of the first window that answered, else the last one; failed only when a window failed and
    none answered. ``gold_silent`` is what people found, where they looked.
    """

    question_id: str
    document_id: str
    stratum: Stratum
    again: Answer
    windows: int
    gold_silent: bool | None = None

    @property
    def decided(self) -> bool:
        """The question was answered or declined; not failed."""
        return self.found or self.again.outcome in SILENT_OUTCOMES

    @property
    def found(self) -> bool:
        """The whole document gave an answer: the silence was false."""
        return self.again.outcome is Outcome.OK


@dataclass(frozen=True, slots=True)
class AnsweredCell:
    """An answered cell: whether its document supports the answer, and what the generator says without the document.

    ``floors`` has, for each retriever of ``FLOORS``, null where it failed or was not asked, else whether the reply is
    an answer, and whether the document supports it.
    """

    question_id: str
    document_id: str
    supported: bool
    floors: Mapping[str, tuple[bool, bool] | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RevealedPair:
    """A pair that a recovered answer makes visible, as judged, and how many such pairs it stands for."""

    judgement: Judgement
    weight: float


@dataclass(frozen=True, slots=True)
class Finding:
    """Whether a silent cell's question is addressed by its document after all, and how many cells it stands for."""

    question_id: str
    weight: float
    addressed: bool


@dataclass(frozen=True)
class Silence:
    """Everything a probe found.

    Attributes:
        silent: silent cells drawn and asked again.
        answered: answered cells drawn.
        revealed: judged pairs of recovered answers with the run's answers.
        cells: per question, how many cells the run has answered and silent.
    """

    silent: Sequence[Drawn[SilentCell]]
    answered: Sequence[Drawn[AnsweredCell]]
    revealed: Sequence[RevealedPair]
    cells: Mapping[str, tuple[int, int]]


def figures(found: Silence, how: Resampling) -> dict[str, Ratio]:
    """Return every figure of a probe by name; see ``docs/judging.md`` for the definitions."""
    return {
        "false_absence_rate": false_absence(_findings(found.silent), how),
        "corrected_absence_rate": corrected_absence(_findings(found.silent), found.cells, how),
        **{
            f"false_absence_rate/{facet}/{member}": false_absence(_findings(cells), how)
            for facet in ("route", "group", "institution")
            for member, cells in _by(found.silent, facet).items()
        },
        "revealed_divergence_rate": _revealed(found.revealed, how),
        "unsupported_answer_rate": _over(found.answered, how, lambda cell: (not cell.supported, True)),
        **{f"{name}_evidence/{measure}": one for name in FLOORS for measure, one in _floor(found, name, how).items()},
        "probe_right_on_gold": _gold(found.silent, how),
    }


def false_absence(findings: Sequence[Finding], how: Resampling) -> Ratio:
    """Return the share of the silent cells that these stand for whose question is addressed after all."""
    return ratio(_addressed(findings), how)


def corrected_absence(findings: Sequence[Finding], cells: Mapping[str, tuple[int, int]], how: Resampling) -> Ratio:
    """Return silent cells less those that stand for false silence, over all cells that were answered or silent."""
    parts = [Part(name, silent, answered + silent) for name, (answered, silent) in cells.items()]
    if not any(silent for _, silent in cells.values()):
        return replace(ratio(parts, how), n=0)
    return remaining(parts, _addressed(findings), how)


def _addressed(findings: Iterable[Finding]) -> Iterator[Part]:
    return (Part(one.question_id, one.weight * one.addressed, one.weight) for one in findings)


def _findings(cells: Iterable[Drawn[SilentCell]]) -> list[Finding]:
    return [Finding(one.item.question_id, one.weight, one.item.found) for one in cells if one.item.decided]


def _revealed(pairs: Sequence[RevealedPair], how: Resampling) -> Ratio:
    visible = [pair for pair in pairs if pair.judgement.label not in {None, Label.ABSENT}]
    parts = (
        Part(pair.judgement.question_id, pair.weight * (pair.judgement.label in CONFLICT_LABELS), pair.weight)
        for pair in visible
    )
    return ratio(parts, how)


def _floor(found: Silence, name: str, how: Resampling) -> dict[str, Ratio]:
    def answered(cell: AnsweredCell) -> tuple[bool, bool]:
        floor = cell.floors.get(name)
        return (floor is not None and floor[0], floor is not None)

    def unsupported(cell: AnsweredCell) -> tuple[bool, bool]:
        floor = cell.floors.get(name)
        given = floor is not None and floor[0]
        return (given and floor is not None and not floor[1], given)

    return {
        "answer_rate": _over(found.answered, how, answered),
        "unsupported_answer_rate": _over(found.answered, how, unsupported),
    }


def _gold(cells: Iterable[Drawn[SilentCell]], how: Resampling) -> Ratio:
    known = [one for one in cells if one.item.decided and one.item.gold_silent is not None]
    parts = (Part(one.item.question_id, float(one.item.found is not one.item.gold_silent), 1.0) for one in known)
    return ratio(parts, how)


def _over(cells: Iterable[Drawn[AnsweredCell]], how: Resampling, counted: Any) -> Ratio:
    parts = []
    for one in cells:
        event, eligible = counted(one.item)
        if eligible:
            parts.append(Part(one.item.question_id, one.weight * event, one.weight))
    return ratio(parts, how)


def _by(cells: Iterable[Drawn[SilentCell]], facet: str) -> dict[str, list[Drawn[SilentCell]]]:
    members: dict[str, list[Drawn[SilentCell]]] = {}
    for one in cells:
        members.setdefault(getattr(one.item.stratum, facet), []).append(one)
    return dict(sorted(members.items()))


def counts(found: Silence) -> dict[str, Any]:
    """Return plain counts that belong beside the figures."""
    outcomes = Counter(str(one.item.again.outcome) for one in found.silent)
    labels = Counter(str(pair.judgement.label or pair.judgement.outcome) for pair in found.revealed)
    recovered = [one.item for one in found.silent if one.item.found]
    in_conflict = {
        cell
        for pair in found.revealed
        if pair.judgement.label in CONFLICT_LABELS
        for cell in (
            (pair.judgement.question_id, pair.judgement.document_a),
            (pair.judgement.question_id, pair.judgement.document_b),
        )
    }
    return {
        "silent_cells": sum(silent for _, silent in found.cells.values()),
        "answered_cells": sum(answered for answered, _ in found.cells.values()),
        "silent_cells_asked_again": len(found.silent),
        "outcomes_of_asking_again": dict(sorted(outcomes.items())),
        "recovered_cells_in_conflict": sum((one.question_id, one.document_id) in in_conflict for one in recovered),
        "labels_of_revealed_pairs": dict(sorted(labels.items())),
        "conflicts_revealed_estimate": round(
            sum(pair.weight for pair in found.revealed if pair.judgement.label in CONFLICT_LABELS), 2
        ),
    }
