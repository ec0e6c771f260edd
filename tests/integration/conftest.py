"""A real browser, driven over its debugging pipe; without one the tests are skipped, and say so."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe")


class Browser:
    """One page of headless Chromium; ``problems`` gathers console errors and uncaught exceptions."""

    def __init__(self, program: str, profile: Path) -> None:
        read_end, self._commands = os.pipe()
        self._events, write_end = os.pipe()
        self.problems: list[str] = []
        self.requests: list[str] = []
        self._number = 0
        self._buffer = b""
        launcher = ["bash", "-c", f'exec "$@" 3<&{read_end} 4>&{write_end}', "bash"]
        self._process = subprocess.Popen(
            [*launcher, program, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            pass_fds=(read_end, write_end),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(read_end)
        os.close(write_end)
        self._session: str | None = None
        pages = [found for found in self.call("Target.getTargets")["targetInfos"] if found["type"] == "page"]
        attached = self.call("Target.attachToTarget", targetId=pages[0]["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send one command and return its result; what happens meanwhile is noted."""
        number = self._send(method, **parameters)
        while True:
            reply = self._next()
            if reply.get("id") == number:
                assert "error" not in reply, reply
                result: dict[str, Any] = reply["result"]
                return result

    def _send(self, method: str, **parameters: Any) -> int:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        return self._number

    def open(self, path: Path, width: int = 1200) -> None:
        """Open a file at a width and wait until it is drawn."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600
        )
        self.call("Page.navigate", url=path.as_uri())
        while self.evaluate("document.readyState") != "complete":
            pass

    def evaluate(self, expression: str) -> Any:
        """Return the value of a JavaScript expression."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def screenshot(self, path: Path) -> None:
        """Save what is seen as PNG."""
        import base64

        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]))

    def close(self) -> None:
        """End the browser."""
        self._process.terminate()
        self._process.wait(timeout=30)
        os.close(self._commands)
        os.close(self._events)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            read = os.read(self._events, 1 << 20)
            assert read, "the browser ended"
            self._buffer += read
        line, self._buffer = self._buffer.split(b"\0", 1)
        message: dict[str, Any] = json.loads(line)
        self._note(message)
        return message

    def _note(self, message: dict[str, Any]) -> None:
        facts = message.get("params", {})
        if message.get("method") == "Runtime.exceptionThrown":
            self.problems.append(str(facts["exceptionDetails"]))
        elif message.get("method") == "Log.entryAdded" and facts["entry"]["level"] == "error":
            self.problems.append(str(facts["entry"]["text"]))
        elif message.get("method") == "Runtime.consoleAPICalled" and facts["type"] in {"error", "warning", "assert"}:
            self.problems.append(str(facts["args"]))
        elif message.get("method") == "Page.javascriptDialogOpening":  # such as "leave without saving?"
            self._send("Page.handleJavaScriptDialog", accept=True)
        elif message.get("method") == "Network.requestWillBeSent":
            self.requests.append(str(facts["request"]["url"]))


@pytest.fixture(scope="session")
def program() -> str:
    """Path of an installed Chromium."""
    found = next((path for path in map(shutil.which, NAMES) if path), None)
    if found is None:
        pytest.skip(f"NOT TESTED: the page in a real browser. None of {', '.join(NAMES)} is installed.")
    return found


@pytest.fixture
def browser(program: str, tmp_path: Path) -> Iterator[Browser]:
    """A page of a real browser."""
    made = Browser(program, tmp_path / "profile")
    yield made
    made.close()
