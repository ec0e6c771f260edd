"""What the Hydra commands do with a checked configuration, and what they print at the end."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console

from transplantqa.config import IngestConfig, RunConfig, build
from transplantqa.controls.robustness_command import sweep_report
from transplantqa.errors import EXIT_FAILURES, EXIT_OK, Interrupted
from transplantqa.pipeline import ingest_only, run_system
from transplantqa.records import Outcome
from transplantqa.report.console import print_findings
from transplantqa.report.documents import documents_read
from transplantqa.report.inspection_files import write_inspection
from transplantqa.status import closing_line, status_table, survey, writers
from transplantqa.store.run_folder import RunFolder
from transplantqa.sweeps import Ended, failure_lines, jobs_table, read_jobs
from transplantqa.tracking.protocols import Tracker


def run_and_show(config: RunConfig, plain: Mapping[str, Any], name: str) -> Ended:
    """Run one system and print its findings."""
    sys.stderr.write(f"System {name}\n")
    finished = run_system(config, plain, name)
    command = None
    if finished.folder is not None:
        print_findings([RunFolder(finished.folder)])
        command = _track(finished.tracker, finished.folder)
    if finished.message:
        sys.stderr.write(f"{finished.message}\n")
    folder = None if finished.folder is None else str(finished.folder)
    return Ended(finished.exit_code, folder, finished.message, command)


def _track(tracker: Tracker | None, folder: Path) -> str | None:
    """Project a run whose findings are on the screen already: a cold tracking store takes ten seconds."""
    if tracker is None:
        return None
    tracked = tracker.track(RunFolder(folder))
    if tracked.warning:
        sys.stderr.write(f"{tracked.warning}\n")
    if tracked.command:
        Console().print(f"  {tracked.command}", markup=False, soft_wrap=True)
    return tracked.command


def ingest_and_show(config: IngestConfig) -> int:
    """Read the documents, print their table, and return 0: an unreadable document is a finding, not an error."""
    rows = ingest_only(config)
    console = Console()
    console.print(documents_read(rows))
    verdicts = [row["verdict"] for row in rows]
    totals = ", ".join(f"{verdicts.count(name)} {name}" for name in ("accept", "review", "reject"))
    console.print(f"{len(rows)} documents: {totals}. Rejected ones are asked nothing and are never counted as silent.")
    if unread := sum(row["outcome"] == Outcome.ENGINE_ERROR for row in rows):
        console.print(f"{unread} of them failed for a reason that isn't the file's: the same command tries again.")
    index = write_inspection(rows, build(config.corpus), Path(config.artifacts) / "inspection")
    console.print(f"What was read, page by page: {index}", markup=False, soft_wrap=True)
    return EXIT_OK


def show_status(config: RunConfig) -> int:
    """Print how far a run is and return 0, whether it is done or not."""
    found = survey(config)
    console = Console()
    console.print(status_table(found))
    for line in (*writers(found), closing_line(found)):
        console.print(line, markup=False, soft_wrap=True)
    return EXIT_OK


def close_sweep(folder: Path) -> int:
    """Print the findings of all jobs that have some, and the table of all jobs; return the sweep's exit code.

    That is 0 when every job ended well, the interruption's code after one, else that of failures.
    """
    jobs = read_jobs(folder)
    runs = [RunFolder(job.folder) for job in jobs if job.folder is not None]
    if runs:
        print_findings(runs, list(dict.fromkeys(job.command for job in jobs if job.command)))
        sweep_report(folder.parent.parent, runs)
    Console().print(jobs_table(jobs))
    for line in failure_lines(jobs, folder):
        sys.stderr.write(f"{line}\n")
    codes = {job.exit_code for job in jobs}
    if Interrupted.exit_code in codes:
        sys.stderr.write("The sweep was interrupted. Run it again to go on.\n")
        return Interrupted.exit_code
    return EXIT_OK if codes == {EXIT_OK} else EXIT_FAILURES
