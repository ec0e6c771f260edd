"""The command ``release``: finds the runs, builds the folder, says what is in it."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from transplantqa.config import ReleaseConfig, build
from transplantqa.errors import ConfigError, InputError
from transplantqa.release.build import ReleaseSummary, build_release
from transplantqa.release.gates import Finding, findings, paragraphs
from transplantqa.release.settings import ReleaseSettings
from transplantqa.report.text import plain
from transplantqa.store.run_folder import RunFolder, open_run


def release(config: ReleaseConfig) -> Path:
    """Build the release a configuration describes and print what is in it; return its folder.

    Raises:
        ConfigError: if ``release`` isn't a ``ReleaseSettings``.
        InputError: if a run isn't found or isn't finished, or runs can't be released together.
    """
    settings = build(config.release)
    if not isinstance(settings, ReleaseSettings):
        raise ConfigError("release: not release settings.\nUse _target_: transplantqa.release.ReleaseSettings.")
    runs = by_system(open_run(Path(config.artifacts), reference) for reference in config.runs)
    summary = build_release(runs, Path(settings.folder), settings)
    print_summary(summary, findings(summary.folder))
    return summary.folder


def by_system(runs: Iterable[RunFolder]) -> dict[str, RunFolder]:
    """Return system name to run; a run named twice counts once.

    Raises:
        InputError: if two different runs bear one system's name.
    """
    found: dict[str, RunFolder] = {}
    for run in runs:
        earlier = found.setdefault(run.system, run)
        if earlier.run_id != run.run_id:
            raise InputError(
                f"runs {earlier.run_id} and {run.run_id} are both called {run.system!r}, and a split is a system.\n"
                "Release one of them, or run one again with another name: system=…"
            )
    return found


def print_summary(summary: ReleaseSummary, found: Sequence[Finding], console: Console | None = None) -> None:
    """Print rows by config and split, what is left out, what speaks against publishing, and what can be done next."""
    console = console or Console()
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("config", "split"):
        table.add_column(column, overflow="fold")
    table.add_column("rows", justify="right")
    for config, splits in summary.rows.items():
        for split, rows in splits.items():
            table.add_row(config, split, f"{rows:,}")
    console.print(table)
    lines = [*_withheld(summary), *_renamed(summary.splits), f"{summary.folder}", ""]
    for line in [*lines, *_closed(found), "Next:", *_next(summary, found)]:
        console.print(Text(plain(line)), soft_wrap=True)


def _withheld(summary: ReleaseSummary) -> list[str]:
    if not summary.withheld_documents:
        return []
    return [
        f"{summary.withheld_documents:,} documents are listed without their text: unreadable, or not to be passed on"
    ]


def _renamed(splits: Mapping[str, str]) -> list[str]:
    return [f"system {system} is split {split}" for system, split in splits.items() if system != split]


def _closed(found: Sequence[Finding]) -> list[str]:
    if not found:
        return []
    return ["Before it may leave this machine:", "", *(f"{paragraph}\n" for paragraph in paragraphs(found))]


def _next(summary: ReleaseSummary, found: Sequence[Finding]) -> list[str]:
    load = f"load_dataset('{summary.folder}', 'comparisons')"
    commands = [f'  python -c "from datasets import load_dataset; print({load})"']
    push = f"  transplantqa push folder={shlex.quote(str(summary.folder))} repo=OWNER/NAME dry_run=yes"
    return commands if found else [*commands, push]
