"""Calls that are tried again: how long is waited, when it is given up, and what is said."""

from collections.abc import Callable
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from huggingface_hub.errors import HfHubHTTPError

from transplantqa.errors import ConfigError, InputError
from transplantqa.hub.patience import HubUnavailableError, Patience, asked_wait


def _error(status: int, **headers: str) -> HfHubHTTPError:
    found = HfHubHTTPError.__new__(HfHubHTTPError)
    Exception.__init__(found, f"status {status}")
    response: Any = SimpleNamespace(
        status_code=status, headers={name.replace("_", "-"): value for name, value in headers.items()}
    )
    found.response = response
    return found


def _failing(*errors: Exception) -> Callable[[], str]:
    waiting = list(errors)

    def call() -> str:
        if waiting:
            raise waiting.pop(0)
        return "done"

    return call


def _patience(**facts: Any) -> tuple[Patience, list[float]]:
    waits: list[float] = []
    return Patience(sleep=waits.append, **facts), waits


def test_a_busy_hub_is_asked_again_after_the_time_it_names() -> None:
    patience, waits = _patience()
    assert patience.call("read", _failing(_error(429, Retry_After="7"), _error(503, Retry_After="3"))) == "done"
    assert waits == [7.0, 3.0]


def test_a_broken_connection_is_tried_again_after_longer_and_longer_waits() -> None:
    patience, waits = _patience()
    assert patience.call("read", _failing(ConnectionResetError(), ConnectionResetError(), TimeoutError())) == "done"
    assert waits == [1.0, 2.0, 4.0]


def test_the_transports_own_errors_are_tried_again() -> None:
    import importlib

    transport = importlib.import_module(HfHubHTTPError.__bases__[0].__module__.partition(".")[0])
    patience, waits = _patience()
    assert patience.call("read", _failing(transport.ReadError("cut"), transport.ConnectError("no"))) == "done"
    assert waits == [1.0, 2.0]


def test_a_hub_that_stays_busy_is_given_up_with_the_way_to_go_on() -> None:
    patience, waits = _patience(tries=3)
    with pytest.raises(HubUnavailableError, match="Run the same command again") as caught:
        patience.call("commit to owner/name", _failing(*(_error(429) for _ in range(9))))
    assert waits == [1.0, 2.0]
    assert caught.value.exit_code == 75


def test_a_wait_longer_than_allowed_is_not_waited() -> None:
    patience, waits = _patience(longest_wait_seconds=60.0)
    with pytest.raises(HubUnavailableError, match="It asks to wait 3600 s"):
        patience.call("read", _failing(_error(429, Retry_After="3600")))
    assert waits == []


@pytest.mark.parametrize("status", [401, 403])
def test_a_refusal_is_not_tried_again_and_says_how_to_sign_in(status: int) -> None:
    patience, waits = _patience()
    with pytest.raises(ConfigError, match="hf auth login"):
        patience.call("push", _failing(_error(status)))
    assert waits == []


def test_what_is_not_there_is_not_tried_again() -> None:
    patience, waits = _patience()
    with pytest.raises(InputError, match="Check the name and the revision"):
        patience.call("pull", _failing(_error(404)))
    assert waits == []


def test_a_bug_is_not_taken_for_a_busy_hub() -> None:
    patience, _ = _patience()
    with pytest.raises(KeyError):
        patience.call("read", _failing(KeyError("x")))


def test_a_date_to_wait_for_is_understood() -> None:
    error = _error(429, Retry_After="Mon, 30 Nov 2026 12:00:30 GMT")
    assert asked_wait(error, lambda: datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)) == 30.0


def test_a_wait_that_cannot_be_read_is_none() -> None:
    assert asked_wait(_error(429, Retry_After="soon")) is None
