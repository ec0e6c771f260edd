"""The run's side of the reading process: starts it, bounds its time and memory, replaces it when it dies."""

import json
import signal
import subprocess
import sys
import threading
import weakref
from pathlib import Path

from transplantqa.corpus.extraction import Extraction

MEMORY_MB = 480
"""Address space of the reading process; it starts with 30, and a 200-page handbook takes it to about 100. Ours."""
CLOCK_FACTOR = 10
"""How much longer than its processor time a file may take by the clock. Ours."""
_CPU_SIGNAL = getattr(signal, "SIGXCPU", 0)
MAX_REPLY_BYTES = 64 << 20
"""Longest reply read: more text than any handbook. Ours."""


class Reader:
    """Reads documents in a process of its own, one at a time; every file gets an extraction, never an exception.

    Args:
        timeout_seconds: processor time for one file; over it, or over ten times that by the clock, the process is ended
            and the file has failed. A busy machine so gives the same verdicts as an idle one.
        max_pages: pages above which a file isn't read.
        memory_mb: address space of the process.
    """

    def __init__(self, *, timeout_seconds: float, max_pages: int, memory_mb: int = MEMORY_MB) -> None:
        self._timeout = timeout_seconds
        self._max_pages = max_pages
        self._memory_mb = memory_mb
        self._process: subprocess.Popen[bytes] | None = None
        self._finalizer: weakref.finalize[..., Reader] | None = None

    def read(self, path: Path) -> Extraction:
        """Read one document; see ``Extraction.failure`` for why it couldn't be."""
        process = self._started()
        request = json.dumps({"path": str(path), "max_pages": self._max_pages, "seconds": self._timeout}) + "\n"
        replies: list[bytes] = []
        thread = threading.Thread(target=_exchange, args=(process, request.encode(), replies), daemon=True)
        thread.start()
        thread.join(self._timeout * CLOCK_FACTOR)
        if thread.is_alive():
            self.close()
            thread.join()
            return Extraction(failure=self._too_long())
        return self._understood(process, replies[0] if replies else b"")

    def close(self) -> None:
        """End the process; the next ``read`` starts another."""
        if self._finalizer is not None:
            self._finalizer()
        self._process = None
        self._finalizer = None

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self.close()
            command = [sys.executable, "-P", "-m", "transplantqa.corpus.worker", str(self._memory_mb)]
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
            self._finalizer = weakref.finalize(self, _end, self._process)
        return self._process

    def _understood(self, process: subprocess.Popen[bytes], reply: bytes) -> Extraction:
        if reply.endswith(b"\n"):
            try:
                return Extraction.from_json(json.loads(reply))
            except (KeyError, TypeError, ValueError):
                self.close()
                return Extraction(failure="the reading process answered what can't be understood")
        if len(reply) >= MAX_REPLY_BYTES:
            self.close()
            return Extraction(failure=f"more than {MAX_REPLY_BYTES >> 20} MB of text")
        code = process.wait()
        self.close()
        return Extraction(failure=self._too_long() if code == -_CPU_SIGNAL else _death(code, self._memory_mb))

    def _too_long(self) -> str:
        return f"reading it took longer than {self._timeout:g} seconds (corpus.timeout_seconds)"


def _exchange(process: subprocess.Popen[bytes], request: bytes, replies: list[bytes]) -> None:
    stdin, stdout = process.stdin, process.stdout
    if stdin is None or stdout is None:
        return
    try:
        stdin.write(request)
        stdin.flush()
        replies.append(stdout.readline(MAX_REPLY_BYTES))
    except (OSError, ValueError):
        replies.append(b"")


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            try:
                stream.close()
            except OSError:
                continue


def _death(code: int, memory_mb: int) -> str:
    if code in (-signal.SIGABRT, -signal.SIGTRAP, -signal.SIGILL, -signal.SIGKILL):
        return (
            f"the reading process died on it, most likely of its limit of {memory_mb:,} MB of memory (signal {-code})"
        )
    return f"the reading process died on it ({f'signal {-code}' if code < 0 else f'exit code {code}'})"
