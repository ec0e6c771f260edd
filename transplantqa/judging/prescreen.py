"""The pre-screen: which pairs are decided by their answers' outcomes alone, with no judge."""

from dataclasses import dataclass

from transplantqa.records import FAILED_OUTCOMES, SILENT_OUTCOMES, Outcome, SilentSide

SILENT_SIDES: tuple[SilentSide | None, ...] = (None, "a", "b", "both")
"""Indexed by (a silent) + twice (b silent)."""


@dataclass(frozen=True, slots=True)
class Screened:
    """What a pair's two outcomes decide.

    ``failure`` is the outcome of the side that failed (a's before b's): the pair stays undecided. ``silent_side`` makes
    the pair ABSENT. Neither: both answered, to be judged.
    """

    failure: Outcome | None
    silent_side: SilentSide | None

    @property
    def to_judge(self) -> bool:
        """Both sides answered."""
        return self.failure is None and self.silent_side is None


def screen(a: Outcome, b: Outcome) -> Screened:
    """Decide a pair from the outcomes of its answers; a failed side is never taken for silence, nor beside one."""
    for outcome in (a, b):
        if outcome in FAILED_OUTCOMES:
            return Screened(failure=outcome, silent_side=None)
    return Screened(failure=None, silent_side=SILENT_SIDES[(a in SILENT_OUTCOMES) + 2 * (b in SILENT_OUTCOMES)])
