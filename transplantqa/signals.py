"""Signals that ask a run to stop: the item in flight is finished, all is flushed, the exit code says "resume me"."""

import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Self, TypeVar

from transplantqa.errors import Interrupted

Item = TypeVar("Item")
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)


@contextmanager
def interruptible() -> Iterator[None]:
    """Let every stop signal end the program like Ctrl-C where no unit is being made: starting, measuring, reporting.

    SIGINT too, which a shell has ignored in what it starts in the background. A ``StopRequest`` entered inside takes
    over while units are made.
    """
    asked = STOP_SIGNALS if threading.current_thread() is threading.main_thread() else ()
    previous = {number: signal.signal(number, signal.default_int_handler) for number in asked}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


class StopRequest:
    """Watches for stop signals while entered. A second SIGINT stops at once, losing the item in flight."""

    def __init__(self) -> None:
        self.received: signal.Signals | None = None
        self._previous: dict[signal.Signals, object] = {}

    def __enter__(self) -> Self:
        for number in STOP_SIGNALS:
            self._previous[number] = signal.signal(number, self._receive)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    def _receive(self, number: int, _frame: FrameType | None) -> None:
        if self.received is signal.SIGINT and number == signal.SIGINT:
            raise KeyboardInterrupt
        self.received = signal.Signals(number)

    def check(self) -> None:
        """Stop here if asked to.

        Raises:
            Interrupted: if a stop signal has arrived.
        """
        if self.received is not None:
            raise Interrupted(
                f"Stopped by {self.received.name}; finished work is kept. Run the same command again to go on."
            )

    def guard(self, items: Iterable[Item]) -> Iterator[Item]:
        """Pass items on, stopping after the one in whose time a signal arrived."""
        for item in items:
            yield item
            self.check()
