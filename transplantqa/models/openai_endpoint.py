"""Where an OpenAI-compatible server is: its address, key and timeouts, and what is said when it can't be used."""

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from transplantqa.errors import ModelError

CONNECT_SECONDS = 10.0
LONGEST_WAIT_SECONDS = 120.0
RETRIED_STATUSES = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""Refusals whose reason may pass."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One server, as a component of the configuration uses it.

    Attributes:
        component: ``model`` or ``embedder``, whose keys an error names.
        base_url: up to and including the version; relative addresses are joined to it.
        api_key_env: NAME of the environment variable that holds the key; null: the server wants none.
        timeout_seconds: longest wait for one call.
    """

    component: str
    base_url: str
    api_key_env: str | None
    timeout_seconds: float

    def client_settings(self) -> dict[str, Any]:
        """Return address, headers and timeouts for a client of httpx.

        Raises:
            ModelError: if the key's environment variable is not set.
        """
        import httpx  # noqa: PLC0415

        timeout = httpx.Timeout(self.timeout_seconds, connect=CONNECT_SECONDS)
        return {"base_url": self.base_url, "headers": self._headers(), "timeout": timeout}

    def key_refused(self, status: int) -> ModelError:
        """Return what is said to who has the wrong key."""
        return ModelError(
            f"{self.base_url}: the server refuses the key (HTTP {status}).\n"
            f"Name the environment variable that holds a valid one: {self.component}.api_key_env=NAME"
        )

    def unreachable(self, error: Exception) -> ModelError:
        """Return what is said where no server answers."""
        return ModelError(
            f"{self.base_url}: the server can't be reached ({type(error).__name__}: {error}).\n"
            f"Start it, or set {self.component}.base_url to its address up to and including the version (…/v1)."
        )

    def _headers(self) -> dict[str, str]:
        if self.api_key_env is None:
            return {}
        key = os.environ.get(self.api_key_env)
        if not key:
            raise ModelError(
                f"{self.component}.api_key_env: the environment variable {self.api_key_env} is not set.\n"
                f"Set it to the server's key, or use {self.component}.api_key_env=null for a server without one."
            )
        return {"Authorization": f"Bearer {key}"}


def wished_wait(retry_after: str | None) -> float | None:
    """Return the seconds that a ``Retry-After`` header (seconds, or a date) asks to wait, within what is sensible."""
    if retry_after is None:
        return None
    try:
        return min(max(0.0, float(retry_after)), LONGEST_WAIT_SECONDS)
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(retry_after)
    except ValueError:
        return None
    if moment.tzinfo is None:  # "-0000": universal time, of an unknown place
        moment = moment.replace(tzinfo=UTC)
    return min(max(0.0, (moment - datetime.now(UTC)).total_seconds()), LONGEST_WAIT_SECONDS)
