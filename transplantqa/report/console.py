"""Progress of stages on the terminal; quiet elsewhere: one plain line a stage when it ends."""

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn
from rich.text import Text

from transplantqa.report.closing import print_findings
from transplantqa.report.text import duration

__all__ = ["StageProgress", "print_findings", "stage_progress"]

_STAGE_WIDTH = 10


class StageProgress:
    """Shows one stage: done of total, units a second, time left, tokens; used as a context manager.

    Calling it says that units were finished: ``step(advance=1, tokens=123)``. It writes to the error stream, so that
    results can be piped. ``reused`` units count as done from the start and not in the rate.
    """

    def __init__(self, stage: str, total: int, reused: int = 0, console: Console | None = None) -> None:
        self.stage = stage
        self.total = total
        self.reused = reused
        self.done = reused
        self.tokens = 0
        self.console = console or Console(stderr=True)
        self._started = time.monotonic()
        self._progress: Progress | None = None

    def __enter__(self) -> Self:
        """Start the clock, and the display where there is a terminal."""
        self._started = time.monotonic()
        if self.console.is_terminal:
            self._progress = Progress(
                TextColumn("{task.description}"),
                BarColumn(bar_width=24),
                MofNCompleteColumn(),
                _Rate(self),
                console=self.console,
                transient=True,
            )
            self._task = self._progress.add_task(f"{self.stage:<{_STAGE_WIDTH}}", total=self.total, completed=self.done)
            self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the display and leave one line behind, also when the stage was interrupted."""
        if self._progress is not None:
            self._progress.stop()
        self.console.print(Text(self.closing_line()), soft_wrap=True)

    def __call__(self, advance: int = 1, tokens: int = 0) -> None:
        """Note finished units and the tokens they took."""
        self.done += advance
        self.tokens += tokens
        if self._progress is not None:
            self._progress.update(self._task, completed=self.done)

    def reuse(self, reused: int) -> None:
        """Correct how many units need not be made: another process may have made some in the meantime."""
        self.done += reused - self.reused
        self.reused = reused

    @property
    def seconds(self) -> float:
        """Wall clock since the stage began."""
        return time.monotonic() - self._started

    @property
    def rate(self) -> float | None:
        """Units made a second; null before the first."""
        made = self.done - self.reused
        return made / self.seconds if made > 0 and self.seconds > 0 else None

    def closing_line(self) -> str:
        """Return the line that stays: stage, done of total, reused, rate, time, tokens."""
        parts = [f"{self.stage:<{_STAGE_WIDTH}}{self.done:,}/{self.total:,}"]
        if self.reused:
            parts.append(f"{self.reused:,} reused")
        if self.rate is not None:
            parts.append(f"{self.rate:,.1f}/s")
        parts.append(duration(self.seconds))
        if self.tokens:
            parts.append(f"{self.tokens:,} tokens")
        return "  ".join(parts)


class _Rate(ProgressColumn):
    """Units a second, time left and tokens, from the stage itself."""

    def __init__(self, stage: StageProgress) -> None:
        super().__init__()
        self._stage = stage

    def render(self, _task: Task) -> Text:
        """Return what stands after the bar."""
        stage = self._stage
        if stage.rate is None:
            return Text("")
        left = duration((stage.total - stage.done) / stage.rate)
        tokens = f"  {stage.tokens:,} tokens" if stage.tokens else ""
        return Text(f"{stage.rate:,.1f}/s  {left} left{tokens}")


def stage_progress(stage: str, total: int, reused: int = 0) -> StageProgress:
    """Return the progress of one stage, to be entered with ``with``."""
    return StageProgress(stage, total, reused)
