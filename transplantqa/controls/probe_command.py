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
from transplantqa.controls.drawing import thinned
from transplantqa.controls.folder import controls_folder, write_control
from transplantqa.controls.probe import ProbeSize, probe
from transplantqa.controls.ratios import Ratio, Resampling, flat
from transplantqa.controls.reopened import Reopened, reopen
from transplantqa.controls.sheets import write_sheet
from transplantqa.controls.silence import Silence, counts, figures
from transplantqa.corpus.gold import load_gold
from transplantqa.corpus.protocols import QuestionSource
from transplantqa.errors import InputError
from transplantqa.report.page import write_page
from transplantqa.report.text import number, plain
from transplantqa.signals import StopRequest
from transplantqa.stages import CellKey
from transplantqa.store import WHOLE
from transplantqa.store.run_folder import RunFolder, open_run
from transplantqa.workshop import Workshop

NAME = "probe_silence"
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
PEOPLE_COLUMNS = ("item", "question", "document", "file", "addressed_yes_no", "page", "note")


def probe_and_show(config: ProbeSilenceConfig) -> Path:
    """Probe the run of a configuration, write into its folder, print, and return the record's path.

    Raises:
        ConfigError: this version can't build the run's configuration.
        InputError: there is no such run, or it has nothing to probe.
    """
    run = open_run(Path(config.artifacts), config.run)
    reopened = reopen(run, config.artifacts)
    if not reopened.answers:
        raise InputError(f"{run.path}: the run has no answers to probe.\nRun it with documents that can be read.")
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
    measured = figures(found, how)
    path = _write(run, reopened, found, measured, size, config.people)
    write_page(run)
    _print(run, measured, found, path, settings.exploratory_below_clusters)
    return path


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


def _write(
    run: RunFolder,
    reopened: Reopened,
    found: Silence,
    measured: Mapping[str, Ratio],
    size: ProbeSize,
    people: int,
) -> Path:
    folder = controls_folder(run)
    questions, sources = reopened.readings.questions, reopened.readings.sources
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
    write_sheet(folder / f"{NAME}_cells.csv", CELL_COLUMNS, rows)
    chosen = _for_people(found, people, size.seed)
    sheet = [
        (
            item,
            questions[cell[0]].text,
            sources[cell[1]].document.title,
            sources[cell[1]].document.source_file,
            None,
            None,
            None,
        )
        for item, cell in chosen.items()
    ]
    write_sheet(folder / f"{NAME}_people.csv", PEOPLE_COLUMNS, sheet)
    record = {
        "control": NAME,
        "settings": asdict(size),
        "counts": counts(found),
        "metrics": {key: value for name, one in measured.items() for key, value in flat(name, one).items()},
        "people": {item: list(cell) for item, cell in chosen.items()},
        "sentences": sentences(measured),
    }
    return write_control(run, NAME, record)


def _for_people(found: Silence, people: int, seed: int) -> dict[str, CellKey]:
    """Choose silent cells for people, in an order that says nothing of what the probe found."""
    cells = {f"{one.item.question_id}\x1f{one.item.document_id}": one.item for one in found.silent}
    names, _ = thinned(list(cells), people, seed, "people")
    return {
        f"{place:04}": (cells[name].question_id, cells[name].document_id) for place, name in enumerate(names, start=1)
    }


def sentences(measured: Mapping[str, Ratio]) -> list[str]:
    """Return what a report shows of a probe."""
    false, corrected = measured["false_absence_rate"], measured["corrected_absence_rate"]
    revealed, unsupported = measured["revealed_divergence_rate"], measured["unsupported_answer_rate"]
    if false.value is None:
        return ["Silence probed: no silent cell could be asked again."]
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
    return lines


def _words(found: Ratio) -> str:
    if found.value is None:
        return "-"
    interval = (
        f" [{number(found.low)},{number(found.high)}]" if found.low is not None and found.high is not None else ""
    )
    return f"{number(found.value)}{interval}"


def _print(run: RunFolder, measured: Mapping[str, Ratio], found: Silence, path: Path, exploratory_below: int) -> None:
    console = Console()
    console.print(figures_table(f"Silence of {plain(run.system)}, asked again", measured, exploratory_below))
    for line in _lines(found, path):
        console.print(Text(plain(line)), soft_wrap=True)


def _lines(found: Silence, path: Path) -> Sequence[str]:
    said = counts(found)
    outcomes = ", ".join(f"{count} {name}" for name, count in said["outcomes_of_asking_again"].items())
    return (
        f"{said['silent_cells_asked_again']} of {said['silent_cells']} silent cells asked again: {outcomes or 'none'}",
        f"{said['recovered_cells_in_conflict']} recovered answers are in conflict with another institution's",
        "The probe is no better than its generator: what people say of the same cells is in gold, or can be asked",
        f"  for people: {path.parent / f'{NAME}_people.csv'}",
        f"  all cells:  {path.parent / f'{NAME}_cells.csv'}",
        f"  record:     {path}",
    )
