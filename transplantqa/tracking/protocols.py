"""What a run asks of experiment tracking, and the choice of none."""

from dataclasses import dataclass
from typing import Protocol

from transplantqa.contrasts.folder import ContrastFolder
from transplantqa.store.run_folder import RunFolder


@dataclass(frozen=True, slots=True)
class TrackedRun:
    """Where a run can be looked at.

    ``command`` opens it (null where there is nothing to open). ``warning`` says why it could not be tracked and how to
    do it later; it is null when all went well.
    """

    run_id: str
    tracked_id: str | None = None
    location: str | None = None
    command: str | None = None
    warning: str | None = None


class Tracker(Protocol):
    """Projects finished runs into a tracking store; doing it twice changes nothing."""

    def track(self, run: RunFolder) -> TrackedRun:
        """Project one run. An unreachable store is a warning in the result, since the files are the truth."""
        ...

    def track_contrast(self, contrast: ContrastFolder, runs: tuple[RunFolder, RunFolder]) -> TrackedRun:
        """Project a contrast as a run of its own, linked to its two runs; they are tracked too."""
        ...


class NoTracking:
    """Tracks nothing: the files of a run stand for themselves."""

    def track(self, run: RunFolder) -> TrackedRun:
        """Return the run untouched."""
        return TrackedRun(run_id=run.run_id)

    def track_contrast(self, contrast: ContrastFolder, runs: tuple[RunFolder, RunFolder]) -> TrackedRun:  # noqa: ARG002
        """Return the contrast untouched."""
        return TrackedRun(run_id=contrast.contrast_id)
