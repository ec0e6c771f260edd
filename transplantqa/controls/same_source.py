"""The same-source null: one document answers twice, and the two answers are judged as if they were two documents'."""

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from transplantqa.controls.drawing import Drawn, draw
from transplantqa.controls.ratios import Part, Ratio, Resampling, ratio
from transplantqa.controls.reopened import Reopened, answer_again, judge_again, retrieve_again
from transplantqa.errors import ConfigError, InputError
from transplantqa.records import (
    CONFLICT_LABELS,
    FAILED_OUTCOMES,
    SILENT_OUTCOMES,
    Answer,
    Judgement,
    Label,
    Outcome,
    Question,
)
from transplantqa.stages import CellKey, Readings
from transplantqa.workshop import Workshop

Variation = Literal["paraphrase", "seed", "prompt"]


@dataclass(frozen=True, slots=True)
class SecondAnswer:
    """A cell's second answer, and the judgement of the two where both answer."""

    question_id: str
    document_id: str
    again: Answer
    judgement: Judgement | None


def read_paraphrases(path: Path, questions: Mapping[str, Question]) -> dict[str, Question]:
    """Return the questions in other words, by id, from a CSV with columns ``question_id`` and ``text``.

    Raises:
        InputError: the file can't be read, or has none of the questions.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: can't be read ({error}).\nGive a CSV with columns question_id, text.") from error
    found = {}
    for row in rows:
        name, text = (row.get("question_id") or "").strip(), (row.get("text") or "").strip()
        if name in questions and text:
            found[name] = replace(questions[name], text=text)
    if not found:
        raise InputError(
            f"{path}: has no other words for any of the run's questions.\n"
            "Give a CSV with columns question_id, text: paraphrases=FILE"
        )
    return found


def varied(config: Mapping[str, Any], by: Variation, prompt: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the parts of a run's configuration that the second answer is made with.

    Raises:
        ConfigError: the generator has nothing of that kind to vary.
    """
    generator = dict(config["generator"])
    if by == "seed":
        model = generator.get("model")
        if not model or not model.get("temperature"):
            raise ConfigError(
                "by=seed: the run's generator draws nothing at random, so another seed changes no answer.\n"
                "Use by=paraphrase, or a run with model.temperature above 0."
            )
        return {"generator": {**generator, "model": {**model, "seed": int(model.get("seed", 0)) + 1}}}
    if by == "prompt":
        if "prompt" not in generator or prompt is None:
            raise ConfigError("by=prompt: the run's generator has no prompt.\nUse by=paraphrase.")
        return {"generator": {**generator, "prompt": dict(prompt)}}
    return {}


def answer_twice(
    shop: Workshop, reopened: Reopened, asked: Mapping[str, Question], by: Variation, cells: int, seed: int
) -> list[Drawn[SecondAnswer]]:
    """Draw answered cells and answer them again, through the ledger; judge the pairs of those that answer twice.

    Args:
        shop: where it is done.
        reopened: the run, with the components that make the second answer.
        asked: the questions as they are asked the second time, by id; cells of others are not drawn.
        by: what is different; names the variant.
        cells: cells drawn, by group and institution.
        seed: of the draw.
    """
    sources = reopened.readings.sources
    first = {
        "\x1f".join(cell): cell
        for cell, answer in reopened.answers.items()
        if answer.outcome is Outcome.OK and cell[0] in asked and cell[1] in sources
    }
    strata = {
        name: (sources[cell[1]].document.group, sources[cell[1]].document.institution) for name, cell in first.items()
    }
    drawn = draw(first, strata, cells, seed)
    again = _again(shop, reopened, asked, [one.item for one in drawn], f"same_source/{by}")
    reopened.generator.close()
    variant = f"same_source/{by}"
    pairs = [
        (reopened.readings.questions[cell[0]], replace(reopened.answers[cell], variant=variant), again[cell])
        for cell in (one.item for one in drawn)
        if again[cell].outcome is Outcome.OK
    ]
    judged = {(one.question_id, one.document_a): one for one in judge_again(shop, reopened.judge, pairs)}
    return [Drawn(SecondAnswer(*one.item, again[one.item], judged.get(one.item)), one.probability) for one in drawn]


def _again(
    shop: Workshop, reopened: Reopened, asked: Mapping[str, Question], cells: Sequence[CellKey], variant: str
) -> dict[CellKey, Answer]:
    readings = Readings(reopened.readings.sources, {**reopened.readings.questions, **asked})
    evidence = retrieve_again(shop, reopened.retriever, cells, readings)
    shown = [(asked[cell[0]], one) for cell, one in evidence.items()]
    return answer_again(shop, reopened.generator, shown, readings.sections, variant)


def null_figures(found: Sequence[Drawn[SecondAnswer]], how: Resampling) -> dict[str, Ratio]:
    """Return the null's figures, design-weighted.

    ``null_divergence_rate``: conflicts among pairs of two answers of one document whose label is not ABSENT.
    ``null_silence_rate``: second answers that are silent, of those that did not fail. ``null_label/…``: label shares of
    the judged pairs.
    """
    visible, silence = [], []
    labels: dict[Label, list[Part]] = {label: [] for label in Label}
    for one in found:
        item, weight = one.item, one.weight
        if item.again.outcome is Outcome.OK or item.again.outcome in SILENT_OUTCOMES:
            silence.append(Part(item.question_id, weight * (item.again.outcome in SILENT_OUTCOMES), weight))
        label = item.judgement.label if item.judgement is not None else None
        if label is None:
            continue
        for name, parts in labels.items():
            parts.append(Part(item.question_id, weight * (name is label), weight))
        if label is not Label.ABSENT:
            visible.append(Part(item.question_id, weight * (label in CONFLICT_LABELS), weight))
    return {
        "null_divergence_rate": ratio(visible, how),
        "null_silence_rate": ratio(silence, how),
        **{f"null_label/{name}": ratio(parts, how) for name, parts in labels.items()},
    }


def null_counts(found: Sequence[Drawn[SecondAnswer]]) -> dict[str, Any]:
    """Return plain counts that belong beside the figures."""
    outcomes = Counter(str(one.item.again.outcome) for one in found)
    judged = sum(one.item.judgement is not None for one in found)
    return {"cells": len(found), "second_outcomes": dict(sorted(outcomes.items())), "judged_pairs": judged}


def null_sentences(
    found: Sequence[Drawn[SecondAnswer]], measured: Mapping[str, Ratio], headline: Mapping[str, float], by: Variation
) -> list[str]:
    """Return what a report shows: the headline with the null beside it, and over it; and what failed."""
    outcomes = null_counts(found)["second_outcomes"]
    failed = ", ".join(f"{count} {name}" for name, count in outcomes.items() if Outcome(name) in FAILED_OUTCOMES)
    failures = [f"Second answers that failed, of {len(found)}: {failed}."] if failed else []
    null = measured["null_divergence_rate"]
    if null.value is None:
        return [f"Same-source null ({by}): no pair of answers of one document could be judged.", *failures]
    bounds = f" [{null.low:.3f},{null.high:.3f}]" if null.low is not None and null.high is not None else ""
    pairs = f"of {null.n} pairs of two answers of one document"
    lines = [f"Same-source null ({by}): {pairs} {null.value:.3f}{bounds} are judged to be in conflict."]
    rate = headline.get("divergence_rate")
    if rate is not None:
        lines.append(
            f"Divergent pairs, pooled: {rate:.3f} between documents, {null.value:.3f} within one, "
            f"{rate - null.value:+.3f} over the null."
        )
    silence = measured["null_silence_rate"]
    if silence.value is not None:
        lines.append(f"Of answered cells asked a second time {silence.value:.3f} of {silence.n} fall silent.")
    return [*lines, *failures]
