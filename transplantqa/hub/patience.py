"""Calls to the Hub that are tried again when it is busy or the connection breaks, as long as it asks for."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

from transplantqa.errors import EXIT_INTERRUPTED, ConfigError, InputError, TransplantQAError

T = TypeVar("T")

BUSY = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Statuses that mean "not now"."""

REFUSED = frozenset({401, 403})

_log = logging.getLogger(__name__)


class HubUnavailableError(TransplantQAError):
    """The Hub didn't answer, or not in time; what it has already is kept, and the same command goes on from there."""

    exit_code = EXIT_INTERRUPTED


@dataclass(frozen=True)
class Patience:
    """How long to wait for the Hub.

    Attributes:
        tries: calls at most.
        first_wait_seconds: before the second try, doubled before each later one, where the Hub names no time.
        longest_wait_seconds: above it a call is given up, even when the Hub asks for it.
        sleep: waits so many seconds.
    """

    tries: int = 6
    first_wait_seconds: float = 1.0
    longest_wait_seconds: float = 600.0
    sleep: Callable[[float], None] = time.sleep

    def call(self, action: str, work: Callable[[], T]) -> T:
        """Return what a call to the Hub's client returns, trying again as told.

        Args:
            action: what is done, for messages ("read owner/name").
            work: the call; it may be made several times.

        Raises:
            ConfigError: the Hub refuses: not signed in, or no permission.
            InputError: there is no such dataset, revision or file.
            HubUnavailableError: it is still busy, or can't be reached.
        """
        from huggingface_hub.errors import (  # noqa: PLC0415 - heavy
            HfHubHTTPError,
            LocalEntryNotFoundError,
            OfflineModeIsEnabled,
        )

        transport: Any = HfHubHTTPError.__bases__[0]  # of whichever HTTP library the client uses
        network: tuple[type[Exception], ...] = (transport, ConnectionError, TimeoutError, LocalEntryNotFoundError)
        for number in range(1, self.tries + 1):
            try:
                return work()
            except HfHubHTTPError as error:
                status = error.response.status_code
                if status not in BUSY:
                    raise refusal(action, status, error) from error
                self._wait(action, number, error, asked_wait(error))
            except OfflineModeIsEnabled as error:
                raise ConfigError(f"Can't {action}: HF_HUB_OFFLINE is set.\nUnset it to reach the Hub.") from error
            except network as error:
                self._wait(action, number, error, None)
        raise AssertionError  # the last try waits no more: it raises

    def _wait(self, action: str, number: int, error: Exception, asked: float | None) -> None:
        wait = self.first_wait_seconds * 2 ** (number - 1) if asked is None else asked
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        if number == self.tries or wait > self.longest_wait_seconds:
            asks = "" if asked is None else f" It asks to wait {asked:.0f} s."
            raise HubUnavailableError(
                f"Can't {action}: {reason}.{asks}\n"
                "Run the same command again: what the Hub has already isn't sent again."
            ) from error
        _log.warning("Can't %s (%s); trying again in %.0f s", action, reason, wait)
        self.sleep(wait)


def asked_wait(error: Any, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> float | None:
    """Return the seconds that an answer's ``Retry-After`` asks to wait, given as seconds or as a date; null without."""
    headers = getattr(error.response, "headers", {})
    value = str(headers.get("Retry-After") or "").strip()
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(value) - now()).total_seconds())
    except (ValueError, TypeError):
        return None


def refusal(action: str, status: int, error: Exception) -> TransplantQAError:
    """Return what a status that waiting doesn't mend means to the user."""
    reason = " ".join(str(error).split())[:300]
    if status in REFUSED:
        return ConfigError(
            f"Can't {action}: the Hub refuses ({status}).\n"
            "Sign in with `hf auth login`, with a token that may do this; no token is taken from anywhere else."
        )
    if status == 404:
        return InputError(
            f"Can't {action}: {reason}\nCheck the name and the revision; a private dataset needs a sign-in."
        )
    return InputError(f"Can't {action}: {reason}")
