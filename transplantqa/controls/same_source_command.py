"""The command ``same-source``: the divergence that an audit reports where there is no disagreement at all."""

from pathlib import Path

from rich.console import Console
from rich.text import Text

from transplantqa.analysis import Analysis
from transplantqa.config import SameSourceConfig, build
from transplantqa.controls.console import figures_table
from transplantqa.controls.folder import controls_folder, write_control
from transplantqa.controls.ratios import Resampling, flat
from transplantqa.controls.reopened import reopen
from transplantqa.controls.same_source import (
    answer_twice,
    null_counts,
    null_figures,
    null_sentences,
    read_paraphrases,
    varied,
)
from transplantqa.corpus.paths import located
from transplantqa.report.page import write_page
from transplantqa.report.text import plain
from transplantqa.sheets import write_sheet
from transplantqa.signals import StopRequest
from transplantqa.store import WHOLE
from transplantqa.store.run_folder import open_run
from transplantqa.workshop import Workshop

COLUMNS = (
    "question_id",
    "document_id",
    "asked",
    "first_answer",
    "second_outcome",
    "second_answer",
    "label",
    "reasoning",
)


def same_source_and_show(config: SameSourceConfig) -> Path:
    """Make the null of a configuration's run, write into its folder, print, and return the record's path.

    Raises:
        ConfigError: the run has nothing of that kind to vary.
        InputError: there is no such run, or no paraphrases of its questions.
    """
    run = open_run(Path(config.artifacts), config.run)
    reopened = reopen(run, config.artifacts, varied(run.config, config.by, config.other_prompt))
    questions = reopened.readings.questions
    asked = read_paraphrases(located(config.paraphrases), questions) if config.by == "paraphrase" else dict(questions)
    settings: Analysis = build(config.analysis)
    how = Resampling(settings.bootstrap_replicates, config.seed, settings.confidence)
    with StopRequest() as stop:
        shop = Workshop(Path(config.artifacts), frozenset({"retrieve", "generate", "compare"}), WHOLE, (), stop)
        try:
            found = answer_twice(shop, reopened, asked, config.by, config.cells, config.seed)
        finally:
            reopened.close()
    measured = null_figures(found, how)
    told = null_sentences(found, measured, run.measures.metrics, config.by)
    name = f"same_source_{config.by}"
    rows = [
        (
            one.item.question_id,
            one.item.document_id,
            asked[one.item.question_id].text,
            reopened.answers[one.item.question_id, one.item.document_id].text,
            str(one.item.again.outcome),
            one.item.again.text,
            one.item.judgement.label if one.item.judgement is not None else None,
            one.item.judgement.reasoning if one.item.judgement is not None else None,
        )
        for one in found
    ]
    write_sheet(controls_folder(run) / f"{name}_cells.csv", COLUMNS, rows)
    record = {
        "control": name,
        "settings": {"by": config.by, "cells": config.cells, "seed": config.seed},
        "counts": null_counts(found),
        "metrics": {key: value for key_, one in measured.items() for key, value in flat(key_, one).items()},
        "sentences": told,
    }
    path = write_control(run, name, record)
    write_page(run)
    title = f"{plain(run.system)}: one document, asked twice ({config.by})"
    console = Console()
    console.print(figures_table(title, measured, settings.exploratory_below_clusters))
    for line in (*told, f"  record: {path}"):
        console.print(Text(plain(line)), soft_wrap=True)
    return path
