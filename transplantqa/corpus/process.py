"""The run's side of the reading process: starts it, bounds its time and memory, tells what became of it."""

import json
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from transplantqa.corpus.worker import EXIT_MEMORY

COMMAND = (sys.executable, "-P", "-m", "transplantqa.corpus.worker")
CLOCK_FACTOR = 10
"""How much longer than its processor time a request may take by the clock. Ours."""
MAX_REPLY_BYTES = 64 << 20
"""Longest reply read: more text than any document. Ours."""
_TIME_SIGNAL = getattr(signal, "SIGXCPU", 0)
_MEMORY_SIGNALS = frozenset(getattr(signal, name, 0) for name in ("SIGABRT", "SIGTRAP", "SIGILL"))
"""What PDFium ends itself with when memory is refused."""
_CRASH_SIGNALS = frozenset(getattr(signal, name, 0) for name in ("SIGSEGV", "SIGBUS", "SIGFPE"))


class Reply(BaseModel):
    """What every reply has: the number of the request that it answers. Nothing unknown is let through."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    request: int


ReplyT = TypeVar("ReplyT", bound=Reply)


@dataclass(frozen=True, slots=True)
class NoReply:
    """Why a request wasn't answered; ``transient`` when that says nothing about the file."""

    reason: str
    transient: bool
    process_ended: bool = True


class WorkerProcess:
    """One ``transplantqa.corpus.worker``, replaced when it ends; it answers one request at a time.

    A process that has answered before may be worn out: a file it dies on is tried once more in a new one, so that what
    an earlier file left behind isn't held against it.

    Args:
        seconds: processor time for one request; over it, or over ten times that by the clock, the process is ended.
            A busy machine so gives the same verdicts as an idle one.
        memory_mb: address space of the process.
        command: what is run, with the memory as its last argument.
    """

    def __init__(self, *, seconds: float, memory_mb: int, command: Sequence[str] = COMMAND) -> None:
        self._command = [*command, str(memory_mb)]
        self._seconds = seconds
        self._memory_mb = memory_mb
        self._process: subprocess.Popen[bytes] | None = None
        self._finalizer: weakref.finalize[..., Any] | None = None
        self._asked = 0
        self._answered = 0

    def ask(self, request: Mapping[str, Any], kind: type[ReplyT]) -> ReplyT | NoReply:
        """Send a request and return its reply, checked, or why there is none."""
        worn = self._answered > 0
        reply = self._ask(request, kind)
        if worn and isinstance(reply, NoReply) and reply.process_ended:
            return self._ask(request, kind)
        return reply

    def close(self) -> None:
        """End the process; the next ``ask`` starts another."""
        if self._finalizer is not None:
            self._finalizer()
        self._process = None
        self._finalizer = None
        self._answered = 0

    def _ask(self, request: Mapping[str, Any], kind: type[ReplyT]) -> ReplyT | NoReply:
        try:
            process = self._started()
        except OSError as error:
            return NoReply(f"the reading process can't be started: {error.strerror or error}", transient=True)
        self._asked += 1
        line = json.dumps({**request, "request": self._asked, "seconds": self._seconds}) + "\n"
        replies: list[bytes] = []
        thread = threading.Thread(target=_exchange, args=(process, line.encode(), replies), daemon=True)
        thread.start()
        thread.join(self._seconds * CLOCK_FACTOR)
        if thread.is_alive():
            self.close()
            thread.join()
            limit = f"{self._seconds * CLOCK_FACTOR:g} seconds by the clock, ten times corpus.timeout_seconds"
            reason = f"reading it took longer than {limit}: the machine is too busy, or the file can't be reached"
            return NoReply(reason, transient=True, process_ended=False)
        return self._understood(process, replies[0] if replies else b"", kind)

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
            self._finalizer = weakref.finalize(self, _end, self._process)
        return self._process

    def _understood(self, process: subprocess.Popen[bytes], reply: bytes, kind: type[ReplyT]) -> ReplyT | NoReply:
        if reply.endswith(b"\n"):
            try:
                answer = kind.model_validate_json(reply)
            except ValidationError:
                answer = None
            if answer is None or answer.request != self._asked:
                self.close()
                return NoReply("the reading process answered what can't be understood", transient=True)
            self._answered += 1
            return answer
        if len(reply) >= MAX_REPLY_BYTES:
            self.close()
            return NoReply(f"more than {MAX_REPLY_BYTES >> 20} MB of text", transient=False, process_ended=False)
        code = process.wait()
        self.close()
        return self._death(code)

    def _death(self, code: int) -> NoReply:
        if _TIME_SIGNAL and code == -_TIME_SIGNAL:
            reason = f"reading it took longer than {self._seconds:g} seconds (corpus.timeout_seconds)"
            return NoReply(reason, transient=False, process_ended=False)
        if code == EXIT_MEMORY or -code in _MEMORY_SIGNALS - {0}:
            reason = f"reading it needs more memory than the limit of {self._memory_mb:,} MB"
            return NoReply(reason, transient=False)
        if -code in _CRASH_SIGNALS - {0}:
            return NoReply(f"the reading process crashed on it (signal {-code})", transient=False)
        how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
        return NoReply(f"the reading process ended {how} before it was read", transient=True)


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
