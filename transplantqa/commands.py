"""What the Hydra commands do with a checked configuration, and what they print at the end."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from rich.console import Console

from transplantqa.config import IngestConfig, RunConfig
from transplantqa.errors import EXIT_FAILURES, EXIT_OK, Interrupted
from transplantqa.pipeline import ingest_only, run_system
from transplantqa.report.console import print_findings
from transplantqa.report.documents import documents_table
from transplantqa.store.run_folder import RunFolder


def run_and_show(config: RunConfig, plain: Mapping[str, Any], name: str) -> tuple[int, str | None, str | None]:
    """Run one system and print its findings; return exit code, the run's folder, and what to say of it."""
    sys.stderr.write(f"System {name}\n")
    finished = run_system(config, plain, name)
    tracked = finished.tracked
    if tracked is not None and tracked.warning:
        sys.stderr.write(f"{tracked.warning}\n")
    if finished.folder is not None:
        commands = [tracked.command] if tracked is not None and tracked.command else []
        print_findings([RunFolder(finished.folder)], commands)
    if finished.message:
        sys.stderr.write(f"{finished.message}\n")
    return finished.exit_code, None if finished.folder is None else str(finished.folder), finished.message


def ingest_and_show(config: IngestConfig) -> int:
    """Read the documents, print their table, and return 0: an unreadable document is a finding, not an error."""
    rows = ingest_only(config)
    console = Console()
    console.print(documents_table(rows))
    verdicts = [row["verdict"] for row in rows]
    totals = ", ".join(f"{verdicts.count(name)} {name}" for name in ("accept", "review", "reject"))
    console.print(f"{len(rows)} documents: {totals}. Rejected ones are asked nothing and are never counted as silent.")
    return EXIT_OK


class Job(Protocol):
    """One job of a sweep, ended."""

    @property
    def number(self) -> int:
        """Its place in the sweep, from 0."""
        ...

    @property
    def overrides(self) -> tuple[str, ...]:
        """What it was asked."""
        ...

    @property
    def exit_code(self) -> int:
        """0 when all went well."""
        ...

    @property
    def folder(self) -> str | None:
        """The run's folder, if it got that far."""
        ...

    @property
    def message(self) -> str | None:
        """What went wrong."""
        ...


def close_sweep(jobs: Sequence[Job]) -> int:
    """Print which jobs failed and the findings of all that have some; return the sweep's exit code.

    That is 0 when every job ended well, the interruption's code after one, else that of failures.
    """
    runs = [RunFolder(Path(job.folder)) for job in jobs if job.folder is not None]
    if runs:
        print_findings(runs)
    for job in jobs:
        if job.exit_code != EXIT_OK:
            sys.stderr.write(
                f"job {job.number} ({' '.join(job.overrides)}), exit code {job.exit_code}: {job.message}\n"
            )
    codes = {job.exit_code for job in jobs}
    if Interrupted.exit_code in codes:
        return Interrupted.exit_code
    return EXIT_OK if codes <= {EXIT_OK} else EXIT_FAILURES
