"""Wall clock shared out among requests that an engine answers together."""

import time
from collections.abc import Callable


class SharedClock:
    """Gives each request its share of the time it was in flight: with n in flight, an nth of it.

    So the seconds of many requests add up to the time the engine was at work, however many ran at once.

    Args:
        now: seconds that only go forward.
    """

    def __init__(self, now: Callable[[], float] = time.perf_counter) -> None:
        self._now = now
        self._last = now()
        self._per_request = 0.0
        self._started: dict[str, float] = {}

    def start(self, request_id: str) -> None:
        """Note that a request is in flight from now on."""
        self._advance()
        self._started[request_id] = self._per_request

    def stop(self, request_id: str) -> float:
        """Note that a request is done; return its share, in seconds."""
        self._advance()
        return self._per_request - self._started.pop(request_id)

    def _advance(self) -> None:
        now = self._now()
        if self._started:
            self._per_request += (now - self._last) / len(self._started)
        self._last = now
