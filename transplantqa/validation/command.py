"""The command ``validate``: draws a sample for people, reads what they said, compares judges."""

import sys
from collections.abc import Sequence
from pathlib import Path

from transplantqa.command_lines import parted, quoted, with_quoted
from transplantqa.config import ValidateConfig, build
from transplantqa.errors import ConfigError
from transplantqa.report.page import write_page
from transplantqa.store.run_folder import RunFolder, open_run
from transplantqa.tracking.protocols import Tracker
from transplantqa.validation.annotations import read_annotations
from transplantqa.validation.assess import assess
from transplantqa.validation.compare import compare_judges
from transplantqa.validation.comparison_folder import print_comparison, write_comparison
from transplantqa.validation.console import print_sample, print_validation
from transplantqa.validation.frame import frame
from transplantqa.validation.record import Validation
from transplantqa.validation.record_folder import write_record
from transplantqa.validation.resampling import Bootstrap
from transplantqa.validation.sample_folder import SampleFolder, find_sample, write_sample
from transplantqa.validation.sampling import SampleDesign

USAGE = (
    "transplantqa validate sample run=RUN [key=value ...]\n"
    "       transplantqa validate agreement run=RUN FILE [FILE ...] [key=value ...]\n"
    "       transplantqa validate compare RUN RUN [RUN ...] [key=value ...]"
)
ACTIONS = {"sample": "run", "agreement": "files", "compare": "runs"}
"""What is done, and the key that plain arguments after it are values of."""


def hydra_arguments(arguments: Sequence[str]) -> list[str]:
    """Turn a command line of ``validate`` into overrides: its first word, and plain words for files or runs.

    Raises:
        ConfigError: the first word isn't an action.
    """
    if arguments and arguments[0] in {"--help", "-h", "--hydra-help", "--info"}:
        return list(arguments)
    if not arguments or arguments[0] not in ACTIONS:
        given = f"{arguments[0]!r} is not something to do." if arguments else "Nothing to do is named."
        raise ConfigError(f"validate: {given} It is one of {', '.join(ACTIONS)}.\nUsage: {USAGE}")
    action, *rest = arguments
    words, others = parted(rest, _is_override)
    key = ACTIONS[action]
    if not words:
        given_words = []
    elif key == "run":
        given_words = [f"run={quoted(words[0])}", *words[1:]]
    else:
        given_words = [f"{key}=[{','.join(map(quoted, words))}]"]
    return [f"action={action}", *given_words, *with_quoted(others, {"run", "sample"})]


def validate_and_show(config: ValidateConfig) -> Path:
    """Do what a configuration says, print what came out, and return the folder written.

    Raises:
        ConfigError: a key that the action needs isn't given.
        InputError: a run, sample or file isn't found or can't be read as given.
    """
    _require(config)
    artifacts, bootstrap = Path(config.artifacts), build(config.bootstrap)
    if config.action == "compare":
        return _compare(artifacts, config, bootstrap)
    run = open_run(artifacts, str(config.run))
    if config.action == "sample":
        design: SampleDesign = build(config.design)
        sample = write_sample(artifacts, run, frame(run), design)
        print_sample(sample)
        return sample.path
    return _agreement(artifacts, run, config, bootstrap)


def _agreement(artifacts: Path, run: RunFolder, config: ValidateConfig, bootstrap: Bootstrap) -> Path:
    sample = find_sample(artifacts, config.sample, run.run_id)
    found = make_record(artifacts, run, sample, config, bootstrap)
    write_page(run)
    tracker: Tracker = build(config.tracking)
    tracked = tracker.track(run)
    print_validation(found, [tracked.command] if tracked.command else [])
    if tracked.warning:
        sys.stderr.write(f"{tracked.warning}\n")
    return found.path


def make_record(
    artifacts: Path, run: RunFolder, sample: SampleFolder, config: ValidateConfig, bootstrap: Bootstrap
) -> Validation:
    """Read annotators' files and write the record of a run's judge.

    Raises:
        ConfigError: the adjudicator is nobody's code.
        InputError: a file can't be read as given.
    """
    items = {row["item"]: row["stratum"] for row in sample.pairs}
    annotations = read_annotations([Path(file) for file in config.files], items, sample.sample_id, config.spellings)
    if config.adjudicator is not None and config.adjudicator not in annotations.said:
        codes = ", ".join(sorted(annotations.said))
        raise ConfigError(f"adjudicator: nobody is called {config.adjudicator!r}.\nAnnotators: {codes}.")
    return write_record(artifacts, run, sample, assess(run, sample, annotations, config.adjudicator), bootstrap)


def _compare(artifacts: Path, config: ValidateConfig, bootstrap: Bootstrap) -> Path:
    runs = [open_run(artifacts, reference) for reference in config.runs]
    pairs = None if config.sample is None else find_sample(artifacts, config.sample, "").pairs
    found = compare_judges(runs, pairs, bootstrap)
    folder = write_comparison(artifacts, runs, config.sample, found, bootstrap)
    print_comparison(found, folder)
    return folder


def _require(config: ValidateConfig) -> None:
    problems = []
    if config.action == "compare":
        if len(config.runs) < 2:
            problems.append("runs: judges are compared between two runs or more.")
    elif config.run is None:
        problems.append("run: needs a value, the run whose judge is meant.")
    if config.action == "agreement" and not config.files:
        problems.append("files: needs the annotators' files.")
    if problems:
        raise ConfigError("\n".join([*problems, f"Usage: {USAGE}"]))


def _is_override(argument: str) -> bool:
    """Tell ``bootstrap.seed=1`` from the name of a system or file that holds a "="."""
    key, separator, _ = argument.partition("=")
    return bool(separator) and (
        "." in key or key.startswith(("+", "~", "hydra/")) or key in ValidateConfig.model_fields
    )
