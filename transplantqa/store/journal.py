"""The journal: checksummed batches appended to a file, durable once ``append`` returns.

A frame is a marker, the payload's length, a SHA-256 digest of length and payload, and the payload: an Arrow IPC stream
of one batch with its schema, so that every frame can be read without the others. A torn, truncated or altered frame is
found by its digest; reading goes on at the next marker, so that damage costs the frame it hit and no other.
"""

import hashlib
import os
import struct
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from transplantqa.store.atomic import read_bytes, refusals, sync_folder

_MARKER = b"\x89TQAJ\r\n\n"
_LENGTH = struct.Struct("<Q")
_END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0"
_DIGEST_BYTES = 16
_ALIGNED = pa.ipc.IpcReadOptions(ensure_alignment=pa.ipc.Alignment.DataTypeSpecific)
_HEAD_BYTES = len(_MARKER) + _LENGTH.size + _DIGEST_BYTES


class Journal:
    """One file that a single writer appends batches to. It must not exist: no two writers ever share a journal.

    Args:
        path: the file to make.

    Raises:
        StoreError: the file exists, or the disk refuses.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows = 0
        self.bytes = 0
        with refusals("create", path):
            self._descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND, 0o644)
            sync_folder(path.parent)

    def append(self, *batches: pa.RecordBatch) -> None:
        """Write batches and wait until they are on disk.

        Raises:
            StoreError: the disk refuses; what was appended before is kept and the torn frames are cut off.
        """
        pieces = [piece for batch in batches for piece in _frame(batch)]
        with refusals("append to", self.path):
            try:
                for piece in pieces:
                    _write_all(self._descriptor, piece)
                os.fsync(self._descriptor)
            except OSError:
                os.ftruncate(self._descriptor, self.bytes)
                raise
        self.rows += sum(batch.num_rows for batch in batches)
        self.bytes += sum(map(len, pieces))

    def close(self) -> None:
        """Close the file; what was appended stays."""
        os.close(self._descriptor)


@dataclass(frozen=True, slots=True)
class JournalContent:
    """What could be read of a journal: its sound batches in order, and how many bytes were not sound."""

    batches: list[pa.RecordBatch]
    damaged_bytes: int
    torn_tail_only: bool

    @property
    def rows(self) -> int:
        """Number of rows in the sound batches."""
        return sum(batch.num_rows for batch in self.batches)


def read_journal(path: Path) -> JournalContent:
    """Read every sound batch of a journal.

    A journal being written may end in an unfinished frame: ``torn_tail_only`` says that nothing else is wrong.

    Raises:
        FileNotFoundError: there is no such journal (any more).
        StoreError: it can't be read.
    """
    return _parse(read_bytes(path))


def _parse(content: bytes) -> JournalContent:
    batches: list[pa.RecordBatch] = []
    position, sound_bytes, sound_until, damage_from = 0, 0, 0, len(content)
    while position < len(content):
        end, found = _frame_at(content, position)
        if end is None:
            damage_from = min(damage_from, position)
            position = _next_marker(content, position + 1)
        else:
            batches.extend(found)
            sound_bytes += end - position
            position = sound_until = end
    return JournalContent(batches, len(content) - sound_bytes, torn_tail_only=sound_until <= damage_from < len(content))


def _frame(batch: pa.RecordBatch) -> list[memoryview]:
    """Return the pieces of a frame, whose payload is that of ``pa.ipc.new_stream`` without the copies it makes.

    No table has a dictionary column, which would need messages of its own.
    """
    payload = [memoryview(batch.schema.serialize()), memoryview(batch.serialize()), memoryview(_END_OF_STREAM)]
    length = _LENGTH.pack(sum(map(len, payload)))
    return [memoryview(_MARKER + length + _digest(length, *payload)), *payload]


def _frame_at(content: bytes, start: int) -> tuple[int | None, list[pa.RecordBatch]]:
    """Return where the frame at ``start`` ends and its batches; null when it is not sound."""
    body = start + _HEAD_BYTES
    if not content.startswith(_MARKER, start) or body > len(content):
        return None, []
    length = content[start + len(_MARKER) : start + len(_MARKER) + _LENGTH.size]
    end = body + _LENGTH.unpack(length)[0]
    payload = memoryview(content)[body:end]
    if end > len(content) or _digest(length, payload) != content[body - _DIGEST_BYTES : body]:
        return None, []
    return end, list(pa.ipc.open_stream(pa.py_buffer(payload), options=_ALIGNED))


def _digest(length: bytes, *payload: memoryview) -> bytes:
    state = hashlib.sha256(length)
    for piece in payload:
        state.update(piece)
    return state.digest()[:_DIGEST_BYTES]


def _next_marker(content: bytes, start: int) -> int:
    found = content.find(_MARKER, start)
    return len(content) if found < 0 else found


def _write_all(descriptor: int, view: memoryview) -> None:
    while view:
        view = view[os.write(descriptor, view) :]
