"""One writer a shard: a lock file that says who holds it, stays fresh by a heartbeat, and outlives no one.

The file is created exclusively, which holds across machines that share the file system. A lock whose holder is dead is
taken over: at once where that can be seen (same machine), else when its heartbeat is older than ``STALE_SECONDS``.
Times are the file system's, so that machines' clocks need not agree. Even if two machines took a stale lock over at the
same moment, nothing would be corrupted: the last to write the file holds it, the other stops at its next flush, and no
two writers ever append to one journal (see ``journal``).
"""

import errno
import fcntl
import json
import logging
import os
import secrets
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from transplantqa.errors import StoreError
from transplantqa.store.atomic import refusals, temporary_beside

HEARTBEAT_SECONDS = 15.0
STALE_SECONDS = 300.0  # ours: twenty missed heartbeats
_POLL_SECONDS = 0.5
_MOST_BYTES = 4096

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Waiting:
    """How long a writer waits: ``seconds`` for a holder that lives, calling ``between`` before every new try.

    ``between`` may raise, to stop waiting.
    """

    seconds: float = 0.0
    between: Callable[[], None] = lambda: None


NO_WAITING = Waiting()


class WriterLock:
    """Exclusive right to write one shard, held from ``acquire`` to ``release``.

    Args:
        path: the lock file; its folder exists.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._content = b""

    def acquire(self, waiting: Waiting = NO_WAITING) -> None:
        """Take the lock.

        A holder on another machine may have died without a trace; it is watched until its heartbeat shows that it
        lives, which takes seconds, or until the lock lapses and is taken over.

        Args:
            waiting: how long a holder that lives is waited for.

        Raises:
            StoreError: another writer is alive and holds it (named in the message), or the folder refuses.
        """
        content = _identity()
        deadline = time.monotonic() + waiting.seconds
        first_beat = _beat(self.path)
        told = False
        with refusals("lock", self.path):
            while not self._try(content):
                doubtful = not _is_here(self.path) and _beat(self.path) == first_beat
                if time.monotonic() >= deadline and not doubtful and is_live(self.path):  # it may just have ended
                    raise _held(self.path)
                if not told:
                    _log.warning("Waiting for %s, held by %s", self.path, holder(self.path))
                    told = True
                time.sleep(_POLL_SECONDS)
                waiting.between()
        self._content = content

    def still_held(self) -> bool:
        """Say whether the lock is still ours: false when another machine took it over after a long silence."""
        return _read(self.path) == self._content

    def beat(self) -> None:
        """Show other machines that the holder is alive."""
        if self.still_held():
            os.utime(self.path)

    def release(self) -> None:
        """Give the lock back; does nothing where it is no longer ours."""
        if self.still_held():
            self.path.unlink(missing_ok=True)

    def _try(self, content: bytes) -> bool:
        with _serialised(self.path.parent):
            if _create(self.path, content):
                return True
            found = _read(self.path)
            if found is None:
                return _create(self.path, content)
            if is_live(self.path):
                return False
            _log.info("Taking over %s, left by %s", self.path, _in_words(_parse(found)))
            temporary = temporary_beside(self.path)
            temporary.write_bytes(content)
            temporary.replace(self.path)
            return True


def is_live(path: Path) -> bool:
    """Say whether a lock file's holder is alive: by its process on this machine, by its heartbeat on another."""
    found = _read(path)
    if found is None:
        return False
    facts = _parse(found)
    if facts.get("machine") == _machine():
        return _process_start(facts.get("pid", 0)) == facts.get("started")
    return _age_seconds(path) < STALE_SECONDS


def _is_here(path: Path) -> bool:
    """Say whether the holder is of this machine, where its process can be seen."""
    return _parse(_read(path) or b"").get("machine") == _machine()


def _beat(path: Path) -> float | None:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return None


def holder(path: Path) -> str:
    """Return in words who holds a lock file."""
    return _in_words(_parse(_read(path) or b""))


def _in_words(facts: dict[str, Any]) -> str:
    if not facts:
        return "an unknown writer"
    return f"process {facts.get('pid')} on {facts.get('host')} since {facts.get('since')}"


def _held(path: Path) -> StoreError:
    return StoreError(
        f"{path} is held by {holder(path)}.\n"
        "One writer a shard: wait for it to finish, stop it, or give this one another shard.index. If that process is "
        f"gone, on another machine, its lock lapses {STALE_SECONDS / 60:.0f} minutes after its last sign of life."
    )


def _create(path: Path, content: bytes) -> bool:
    """Create the lock with its content in one step; false when it exists."""
    temporary = temporary_beside(path)
    temporary.write_bytes(content)
    try:
        os.link(temporary, path)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in {errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS}:
            raise
        return _create_unlinked(path, content)
    finally:
        temporary.unlink(missing_ok=True)
    return True


def _create_unlinked(path: Path, content: bytes) -> bool:
    """Create the lock on a file system without hard links."""
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
    except FileExistsError:
        return False
    try:
        os.write(descriptor, content)
    finally:
        os.close(descriptor)
    return True


@contextmanager
def _serialised(folder: Path) -> Iterator[None]:
    """Let one process of this machine at a time decide about locks in ``folder``, where the file system can."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError as error:
            _log.debug("No advisory lock on %s: %s", folder, error)
        yield
    finally:
        os.close(descriptor)


def _identity() -> bytes:
    facts = {
        "host": socket.gethostname(),
        "machine": _machine(),
        "pid": os.getpid(),
        "since": datetime.now(UTC).isoformat(timespec="seconds"),
        "started": _process_start(os.getpid()),
        "token": secrets.token_hex(8),
    }
    return json.dumps(facts, sort_keys=True).encode()


def _machine() -> str:
    """Return what must be equal for two process numbers to be comparable: host, boot and process namespace."""
    boot = _first_line(Path("/proc/sys/kernel/random/boot_id"))
    try:
        namespace = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        namespace = ""
    return f"{socket.gethostname()} {boot} {namespace}".strip()


def _process_start(pid: int) -> str | None:
    """Return when a live process started (clock ticks since boot, "running" where unknown), or null for a dead one."""
    statistics = _first_line(Path(f"/proc/{pid}/stat"))
    if statistics:
        fields = statistics.rpartition(")")[2].split()  # the command before it may hold spaces and parentheses
        return None if fields[0] in {"Z", "X"} else fields[19]
    if Path("/proc/self/stat").exists():
        return None
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        pass
    return "running"


def _first_line(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").partition("\n")[0].strip()
    except OSError:
        return ""


def _read(path: Path) -> bytes | None:
    """Return a lock file's content; bare system calls, because it is asked for at every flush."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        return os.read(descriptor, _MOST_BYTES)
    finally:
        os.close(descriptor)


def _parse(content: bytes) -> dict[str, Any]:
    try:
        value = json.loads(content)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _age_seconds(path: Path) -> float:
    """Return how long ago the lock's last heartbeat was, by the clock of the file system it lies on."""
    probe = temporary_beside(path)
    probe.touch()
    try:
        return probe.stat().st_mtime - path.stat().st_mtime
    except FileNotFoundError:
        return 0.0
    finally:
        probe.unlink(missing_ok=True)
