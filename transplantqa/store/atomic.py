"""Files that are there whole or not at all, and the operating system's refusals in words a user can act on."""

import errno
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from transplantqa.errors import StoreError

_REMEDIES = {
    errno.ENOSPC: "the disk is full. Free some space and run the same command again: finished work is kept",
    errno.EDQUOT: "the disk quota is used up. Free some space and run the same command again: finished work is kept",
    errno.EFBIG: "a file grew above the allowed size. Raise the limit (ulimit -f) and run the same command again",
    errno.EACCES: "permission denied. Choose a folder you may write to, or ask for the permission",
    errno.EPERM: "permission denied. Choose a folder you may write to, or ask for the permission",
    errno.EROFS: "the file system is read-only. Choose a folder you may write to",
    errno.ENOTDIR: "a part of this path is a file, not a folder. Move it away or choose another folder",
    errno.ENOENT: "it vanished while it was in use. Run the same command again: what is missing is redone",
    errno.EIO: "the disk reports a hardware error. Copy the folder to a sound disk and run again from there",
    errno.ESTALE: "the network file system lost the file. Check the mount and run the same command again",
}


def store_error(error: OSError, action: str, path: Path) -> StoreError:
    """Return the ``StoreError`` for an operating-system error: what was tried, where, why it failed and the remedy."""
    reason = _REMEDIES.get(error.errno or 0, f"{error.strerror or error}. Mend this and run the same command again")
    return StoreError(f"Cannot {action} {path}: {reason}.")


@contextmanager
def refusals(action: str, path: Path) -> Iterator[None]:
    """Turn every ``OSError`` of the block into the ``StoreError`` that says what could not be done to ``path``."""
    try:
        yield
    except OSError as error:
        raise store_error(error, action, path) from error


def read_bytes(path: Path) -> bytes:
    """Return a file's bytes.

    Raises:
        FileNotFoundError: there is no such file (any more); what that means is the caller's to say.
        StoreError: it can't be read.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise store_error(error, "read", path) from error


def sync_folder(folder: Path) -> None:
    """Make renames and removals in ``folder`` survive a power cut, where its file system can."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in {errno.EINVAL, errno.ENOTSUP}:
            raise
    finally:
        os.close(descriptor)


def temporary_beside(path: Path) -> Path:
    """Return a name no one else uses, in the folder of ``path``, so that a rename from it to ``path`` is atomic."""
    return path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")


def move_into_place(temporary: Path, path: Path) -> None:
    """Flush ``temporary`` to disk and rename it to ``path``: readers see the old file or the whole new one."""
    descriptor = os.open(temporary, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    temporary.replace(path)
    sync_folder(path.parent)


def write_atomically(path: Path, content: bytes) -> None:
    """Write ``content`` to ``path``, making its folder; a crash leaves the old file or the new one, never a part.

    Raises:
        StoreError: the disk or the folder refuses; the old file, if any, is as it was.
    """
    with refusals("write", path):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = temporary_beside(path)
        try:
            temporary.write_bytes(content)
            move_into_place(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)


def json_bytes(value: object) -> bytes:
    """Return JSON-safe data as readable UTF-8: two spaces of indent, sorted keys, a final newline."""
    text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return (text + "\n").encode("utf-8", "backslashreplace")
