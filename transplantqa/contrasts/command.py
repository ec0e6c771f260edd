"""The command ``contrast``: finds both runs, refuses what can't be compared, writes what changed, shows it."""

import sys
from pathlib import Path
from typing import Any

from transplantqa.analysis import Analysis, AuditTables
from transplantqa.analysis.paired import ContrastFindings, contrast
from transplantqa.config import ContrastConfig, build
from transplantqa.contrasts.components import Components, components, require_same_judge
from transplantqa.contrasts.console import print_contrast
from transplantqa.contrasts.design import require_same_design
from transplantqa.contrasts.folder import ContrastFolder, write_contrast
from transplantqa.contrasts.metrics import flat_metrics
from transplantqa.errors import ConfigError
from transplantqa.store import digest
from transplantqa.store.run_folder import RunFolder, open_run
from transplantqa.tracking.protocols import Tracker
from transplantqa.validation.record import describe_run, measured

ID_CHARACTERS = 16


def contrast_and_show(config: ContrastConfig) -> Path:
    """Contrast the two runs of a configuration, print what changed, and return the contrast's folder.

    Raises:
        ConfigError: the runs are one run, or were judged differently and that wasn't allowed.
        InputError: a run isn't found, or they are over different documents or questions.
    """
    artifacts = Path(config.artifacts)
    runs = (open_run(artifacts, config.baseline), open_run(artifacts, config.candidate))
    folder = make_contrast(artifacts, runs, config)
    tracker: Tracker = build(config.tracking)
    tracked = tracker.track_contrast(folder, runs)
    print_contrast(folder, [tracked.command] if tracked.command else [])
    if tracked.warning:
        sys.stderr.write(f"{tracked.warning}\n")
    return folder.path


def make_contrast(artifacts: Path, runs: tuple[RunFolder, RunFolder], config: ContrastConfig) -> ContrastFolder:
    """Contrast two runs and write the contrast's folder.

    Raises:
        ConfigError: the runs are one run, or were judged differently and that wasn't allowed.
        InputError: they are over different documents or questions.
    """
    if runs[0].run_id == runs[1].run_id:
        raise ConfigError(
            f"baseline and candidate are both run {runs[0].run_id} ({runs[0].system}).\n"
            "Give two runs; a system's name means its newest run, an id or a path means that one."
        )
    require_same_design(*runs)
    found = components(*runs)
    if config.judges == "same":
        require_same_judge(found)
    settings: Analysis = build(config.analysis)
    findings = contrast(_tables(runs[0]), _tables(runs[1]), settings, config.scope, config.margin_points)
    return write_contrast(artifacts, _record(runs, found, findings, settings, config), findings.tables)


def _tables(run: RunFolder) -> AuditTables:
    return AuditTables(**{name: run.table(name) for name in ("documents", "questions", "answers", "comparisons")})


def _record(
    runs: tuple[RunFolder, RunFolder],
    found: Components,
    findings: ContrastFindings,
    settings: Analysis,
    config: ContrastConfig,
) -> dict[str, Any]:
    told = {"scope": config.scope, "margin_points": config.margin_points, "analysis": settings.identity()}
    identity = digest([[run.run_id for run in runs], told])
    return {
        "contrast_id": identity[:ID_CHARACTERS],
        "baseline": _named(runs[0]),
        "candidate": _named(runs[1]),
        "settings": told,
        "components": found.facts(),
        "facts": dict(findings.facts),
        "metrics": flat_metrics(findings),
    }


def _named(run: RunFolder) -> dict[str, Any]:
    return {
        "run_id": run.run_id,
        "system": run.system,
        "path": str(run.path),
        "judge": describe_run(run),
        "not_an_instrument": list(measured(run).not_an_instrument),
    }
