"""Sweeps: what each job leaves in ``<artifacts>/sweeps/<sweep_id>/``, and what is read from there when all have ended.

``job-<n>.json`` is written when a job starts and again when it ends, ``job-<n>.log`` holds what it printed and, where
it failed, the traceback. They are files because a job may have run in another process, or on another machine.
"""

import contextlib
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import IO, Any

from rich import box
from rich.table import Table
from rich.text import Text

from transplantqa.errors import EXIT_OK, Interrupted
from transplantqa.report.summary import HEADLINES, figure
from transplantqa.report.text import figure_text, plain
from transplantqa.store import json_bytes, write_atomically
from transplantqa.store.run_folder import RunFolder

HEADLINES_SHOWN = ("absence_rate", "divergence_rate", "source_dependence_index")
_REDRAWN = re.compile(r"\r(?!\n)|\x1b\[\d*[AJK]|\x1b\[\?25[hl]")


@dataclass(frozen=True)
class Ended:
    """What a command leaves: exit code, the folder it wrote, what to say of it, how to look at its tracked run."""

    exit_code: int
    folder: str | None = None
    message: str | None = None
    command: str | None = None


@dataclass(frozen=True)
class JobResult:
    """How one job ended: its exit code, the folder it wrote, what to tell the user, how to look at its tracked run.

    ``exit_code`` is null as long as it runs, and stays so when it was killed.
    """

    number: int
    overrides: tuple[str, ...]
    exit_code: int | None
    folder: str | None = None
    message: str | None = None
    command: str | None = None


def sweep_folder(artifacts: str | Path, sweep_id: str) -> Path:
    """Return where a sweep's jobs leave their records and logs."""
    return Path(artifacts) / "sweeps" / sweep_id


def record_job(folder: Path, result: JobResult) -> None:
    """Write a job's record, over its earlier one."""
    write_atomically(folder / f"job-{result.number}.json", json_bytes(asdict(result)))


def read_jobs(folder: Path) -> list[JobResult]:
    """Return the jobs recorded in a sweep's folder, by number."""
    known = {entry.name for entry in fields(JobResult)}
    jobs = []
    for path in folder.glob("job-*.json"):
        facts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        facts = {name: value for name, value in facts.items() if name in known}
        jobs.append(JobResult(**{**facts, "overrides": tuple(facts["overrides"])}))
    return sorted(jobs, key=lambda job: job.number)


class JobLog:
    """A job's log file, which also gets what the job prints while ``teed``."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, text: str) -> None:
        """Write text without terminal sequences; what redraws a progress line is left out."""
        if not _REDRAWN.search(text):
            self._file.write(plain(text))
            self._file.flush()


class _Tee:
    """A stream whose text goes to a log as well; in all else the stream itself."""

    def __init__(self, stream: IO[str], log: JobLog) -> None:
        self._stream = stream
        self._log = log

    def write(self, text: str) -> int:
        self._log.write(text)
        return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextlib.contextmanager
def teed(folder: Path, number: int) -> Iterator[JobLog]:
    """Copy what is printed to ``job-<number>.log`` while the block runs."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"job-{number}.log").open("a", encoding="utf-8", errors="backslashreplace") as file:
        log = JobLog(file)
        out, err = _Tee(sys.stdout, log), _Tee(sys.stderr, log)
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            yield log


def jobs_table(jobs: Sequence[JobResult]) -> Table:
    """Return one row a job: how it ended, its headline measures, and what it was asked that not all were."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("job", justify="right")
    table.add_column("ended")
    titles = {name: title for name, title in HEADLINES if name in HEADLINES_SHOWN}
    for title in titles.values():
        table.add_column(title, justify="right", min_width=11)
    table.add_column("asked", overflow="fold")
    common = set.intersection(*(set(job.overrides) for job in jobs)) if len(jobs) > 1 else set()
    for job in jobs:
        metrics = {} if job.folder is None else RunFolder(job.folder).measures.metrics
        asked = "\n".join(override for override in job.overrides if override not in common)
        table.add_row(str(job.number), _ended(job), *(_value(metrics, name) for name in titles), Text(plain(asked)))
    return table


def failure_lines(jobs: Sequence[JobResult], folder: Path) -> list[str]:
    """Return what to say of each job that did not end well, with the place of its log."""
    return [
        f"job {job.number} ({' '.join(job.overrides)}), {_ended(job)}: {job.message or 'it left no message'}\n"
        f"  log: {folder / f'job-{job.number}.log'}"
        for job in jobs
        if job.exit_code != EXIT_OK
    ]


def _value(metrics: Mapping[str, float], name: str) -> str:
    found = figure(metrics, name, "")
    return figure_text(None if found is None else {part: found.get(part) for part in ("value", "n")})


def _ended(job: JobResult) -> str:
    if job.exit_code is None:
        return "killed"
    if job.exit_code == Interrupted.exit_code:
        return "interrupted"
    return "done" if job.exit_code == EXIT_OK else f"failed ({job.exit_code})"
