"""The command ``probe-silence``: samples a finished run, asks again, writes and shows what came out."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from transplantqa.analysis import Analysis
from transplantqa.config import ProbeSilenceConfig, build
from transplantqa.controls.console import figures_table
from transplantqa.controls.folder import controls_folder, write_control
from transplantqa.controls.people import SHEET_ROWS, LookedUp, for_people, people_figures, read_sheet, write_for_people
from transplantqa.controls.probe import ProbeSize, probe
from transplantqa.controls.ratios import Ratio, Resampling, flat
from transplantqa.controls.reopened import Reopened, reopen
from transplantqa.controls.silence import Silence, counts, figures
from transplantqa.corpus.gold import load_gold
from transplantqa.corpus.protocols import QuestionSource
from transplantqa.corpus.tabular import read_table
from transplantqa.errors import InputError
from transplantqa.report.page import write_page
from transplantqa.report.text import number, plain
from transplantqa.sheets import write_sheet
from transplantqa.signals import StopRequest
from transplantqa.stages import CellKey
from transplantqa.store import WHOLE
from transplantqa.store.run_folder import open_run
from transplantqa.workshop import Workshop

NAME = "probe_silence"
CELLS_SHEET, PEOPLE_SHEET = f"{NAME}_cells.csv", f"{NAME}_people.csv"
UNBOUNDED = 1_000_000_000
"""Tokens that a generator without a context can be shown."""

CONTEXT_SHARE = 2 / 3
"""Share of a model's context, less the answer, that a window takes: the rest is for the prompt. Ours."""

CELL_COLUMNS = (
    "question_id",
    "question",
    "document_id",
    "route",
    "group",
    "institution",
    "probability",
    "windows",
    "outcome_again",
    "answer_again",
    "gold_silent",
)


def probe_and_show(config: ProbeSilenceConfig) -> Path:
    """Probe the run of a configuration, write into its folder, print, and return the record's path.

    Raises:
        ConfigError: this version can't build the run's configuration.
        InputError: there is no such run, it has nothing to probe, or the sheet can't be read.
    """
    run = open_run(Path(config.artifacts), config.run)
    reopened = reopen(run, config.artifacts)
    if not reopened.answers:
        raise InputError(f"{run.path}: the run has no answers to probe.\nRun it with documents that can be read.")
    if config.sheet is not None:
        read_table(Path(config.sheet), SHEET_ROWS)  # one that can't be read is told before anything is asked
    settings: Analysis = build(config.analysis)
    how = Resampling(settings.bootstrap_replicates, config.seed, settings.confidence)
    size = ProbeSize(
        config.silent_cells,
        config.answered_cells,
        config.pairs_per_cell,
        config.window_tokens or _window_tokens(run.config),
        config.seed,
    )
    with StopRequest() as stop:
        shop = Workshop(Path(config.artifacts), frozenset({"retrieve", "generate", "compare"}), WHOLE, (), stop)
        try:
            found = probe(shop, reopened, size, _gold_silent(reopened))
        finally:
            reopened.close()
    asked = for_people(found, config.people, config.seed)
    said = _looked_up(controls_folder(run) / PEOPLE_SHEET, config.sheet, asked, reopened)
    measured = {**figures(found, how), **people_figures(found, asked, said, how)}
    _write_cells(controls_folder(run) / CELLS_SHEET, found, reopened)
    record = {
        "control": NAME,
        "settings": asdict(size),
        "counts": {**counts(found), "looked_up_by_people": len(said)},
        "metrics": {key: value for name, one in measured.items() for key, value in flat(name, one).items()},
        "people": {item: [one.item.question_id, one.item.document_id] for item, one in asked.items()},
        "sentences": sentences(measured),
    }
    path = write_control(run, NAME, record)
    write_page(run)
    console = Console()
    title = f"Silence of {plain(run.system)}, asked again"
    console.print(figures_table(title, measured, settings.exploratory_below_clusters))
    for line in _lines(record, path.parent):
        console.print(Text(plain(line)), soft_wrap=True)
    return path


def _looked_up(own: Path, given: str | None, asked: LookedUp, reopened: Reopened) -> dict[str, bool]:
    """Read what people wrote in the sheet given, or in the run's own; write that one where nobody has written yet."""
    if given is not None:
        return read_sheet(Path(given), asked)
    said = read_sheet(own, asked) if own.is_file() else {}
    if asked and not said:
        write_for_people(own, asked, reopened.readings)
    return said


def _window_tokens(config: Mapping[str, Any]) -> int:
    generator = config.get("generator") or {}
    model = generator.get("model") or {}
    context = model.get("context_tokens")
    if not isinstance(context, int):
        return UNBOUNDED
    return max(64, int((context - int(generator.get("max_answer_tokens", 0))) * CONTEXT_SHARE))


def _gold_silent(reopened: Reopened) -> dict[CellKey, bool]:
    """Return which cells people found silent, where the run has gold that can still be read."""
    source: QuestionSource = build(reopened.config.questions)
    if source.gold is None or not source.gold.is_file():
        return {}
    documents = [one.document for one in reopened.readings.sources.values()]
    gold = load_gold(source.gold, tuple(reopened.readings.questions.values()), documents)
    return {(one.question_id, one.document_id): one.silent for one in gold.evidence}


def _write_cells(path: Path, found: Silence, reopened: Reopened) -> None:
    questions = reopened.readings.questions
    rows = [
        (
            one.item.question_id,
            questions[one.item.question_id].text,
            one.item.document_id,
            *asdict(one.item.stratum).values(),
            round(one.probability, 6),
            one.item.windows,
            str(one.item.again.outcome),
            one.item.again.text,
            one.item.gold_silent,
        )
        for one in found.silent
    ]
    write_sheet(path, CELL_COLUMNS, rows)


def sentences(measured: Mapping[str, Ratio]) -> list[str]:
    """Return what a report shows of a probe."""
    false, corrected = measured["false_absence_rate"], measured["corrected_absence_rate"]
    revealed, unsupported = measured["revealed_divergence_rate"], measured["unsupported_answer_rate"]
    if false.value is None:
        return ["Silence probed: no silent cell could be asked again.", *_by_people(measured)]
    shown = f"{_words(false)} of {false.n} silent cells are answered when the whole document is shown"
    lines = [f"Silence probed: {shown}; corrected absence {_words(corrected)}."]
    if revealed.value is not None:
        lines.append(f"Of {revealed.n} pairs that these answers make visible {_words(revealed)} are in conflict.")
    if unsupported.value is not None:
        floors = [
            f"{_words(rate)} with {evidence}"
            for evidence, rate in (
                ("no evidence", measured["none_evidence/answer_rate"]),
                ("another document's", measured["shuffled_evidence/answer_rate"]),
            )
            if rate.value is not None
        ]
        asked = f"; the same questions are answered {' and '.join(floors)}" if floors else ""
        lines.append(
            f"Of {unsupported.n} answers {_words(unsupported)} have no lexical support in their document{asked}."
        )
    return [*lines, *_by_people(measured)]


def _by_people(measured: Mapping[str, Ratio]) -> list[str]:
    false = measured.get("people_false_absence_rate")
    if false is None:
        return []
    corrected, right = measured["people_corrected_absence_rate"], measured["probe_right_by_people"]
    told = f"By people {_words(false)} of {false.n} silent cells are addressed in their document"
    return [f"{told}; corrected absence {_words(corrected)}; the probe is right in {_words(right)} of them."]


def _words(found: Ratio) -> str:
    if found.value is None:
        return "-"
    interval = (
        f" [{number(found.low)},{number(found.high)}]" if found.low is not None and found.high is not None else ""
    )
    return f"{number(found.value)}{interval}"


def _lines(record: Mapping[str, Any], folder: Path) -> Sequence[str]:
    said = record["counts"]
    outcomes = ", ".join(f"{count} {name}" for name, count in said["outcomes_of_asking_again"].items())
    by_people = (
        record["sentences"][-1]
        if said["looked_up_by_people"]
        else (
            "The probe is no better than its generator: fill in the sheet for people, then type the same command again"
        )
    )
    return (
        f"{said['silent_cells_asked_again']} of {said['silent_cells']} silent cells asked again: {outcomes or 'none'}",
        f"{said['recovered_cells_in_conflict']} recovered answers are in conflict with another institution's",
        by_people,
        f"  for people: {folder / PEOPLE_SHEET}",
        f"  all cells:  {folder / CELLS_SHEET}",
        f"  record:     {folder / f'{NAME}.json'}",
    )
