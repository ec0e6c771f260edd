"""Parts: sealed, immutable Parquet files that can be proved to be what was sealed.

A part's name ends in the digests of its footer (8 hex characters) and of all its bytes (16). A reader of a few columns
checks the footer and the checksum of every page it reads; merging checks every byte.

Files of one fingerprint's folder, with ``<shard>`` such as ``003-of-020`` and ``<n>`` counting a shard's files::

    journal-<shard>-<n>.arrows              rows being written
    part-<shard>-<n>-<digest>.parquet       rows of the journal of the same shard and n, sealed
    lock-<shard>.json                       who writes the shard
    *.damaged                               set aside: failed its checksum
"""

import hashlib
import logging
import re
import struct
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from transplantqa.store.atomic import move_into_place, refusals, store_error, sync_folder, temporary_beside

_FOOTER_CHARACTERS = 8
_FILE_CHARACTERS = 16
_TRAILER = struct.Struct("<I4s")
_FILE = re.compile(
    r"(?P<kind>journal|part)-(?P<stem>\d{3,}-of-\d{3,}-\d{6,})(-(?P<digest>[0-9a-f]{24}))?\.(arrows|parquet)"
)
_SEALED_STEM = re.compile(r"(?:journal|part)-(?P<shard>\d{3,}-of-\d{3,})-(?P<number>\d{6,})")

_log = logging.getLogger(__name__)


class DamagedError(Exception):
    """A part whose bytes are not those that were sealed."""


@dataclass(frozen=True, slots=True)
class LedgerFile:
    """A journal or part by what its name says; ``stem`` is shard and number, shared by a journal and its part."""

    path: Path
    kind: str
    stem: str
    digest: str | None

    @property
    def shard_label(self) -> str:
        """The shard whose writer made it."""
        return self.stem.rpartition("-")[0]


def ledger_files(folder: Path) -> list[LedgerFile]:
    """List the journals and parts of a folder in order of name; others, set aside or temporary, are not listed."""
    with refusals("list", folder):
        names = sorted(path.name for path in folder.iterdir()) if folder.exists() else []
    matches = [(name, _FILE.fullmatch(name)) for name in names]
    return [
        LedgerFile(folder / name, match["kind"], match["stem"], match["digest"]) for name, match in matches if match
    ]


def next_stem(folder: Path, shard_label: str) -> str:
    """Return the stem of a shard's next journal: one that no file, sound or set aside, has had."""
    with refusals("list", folder):
        matches = [_SEALED_STEM.match(path.name) for path in folder.iterdir()]
    numbers = [int(match["number"]) for match in matches if match and match["shard"] == shard_label]
    return f"{shard_label}-{max(numbers, default=0) + 1:06d}"


def journal_path(folder: Path, stem: str) -> Path:
    """Return the path of the journal with this stem."""
    return folder / f"journal-{stem}.arrows"


def write_part(folder: Path, stem: str, table: pa.Table) -> Path:
    """Seal rows as the part with this stem: zstd Parquet, written aside, flushed and renamed into place.

    Raises:
        StoreError: the disk refuses; nothing is left behind.
    """
    target = folder / f"part-{stem}.parquet"
    temporary = temporary_beside(target)
    with refusals("write", target):
        try:
            pq.write_table(
                table,
                temporary,
                compression="zstd",
                write_statistics=False,  # nothing filters by them
                write_page_checksum=True,
                store_schema=True,
            )
            path = target.with_stem(f"{target.stem}-{_digests(temporary)}")
            move_into_place(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
    return path


def read_part(file: LedgerFile, columns: list[str], encoded: list[str] | None = None) -> pa.Table:
    """Read columns of a part, those of them it has, checking every page read.

    Args:
        file: the part.
        columns: what to read.
        encoded: columns to give as dictionaries, which is smaller where values repeat.

    Raises:
        FileNotFoundError: the file vanished.
        DamagedError: the footer or a page is not what was sealed.
        StoreError: the file can't be read.
    """
    try:
        if _footer_digest(file.path) != (file.digest or "")[:_FOOTER_CHARACTERS]:
            raise DamagedError("its footer is not the one that was sealed")
        with pq.ParquetFile(file.path, page_checksum_verification=True, read_dictionary=encoded) as part:
            stored = set(part.schema_arrow.names)
            return part.read(columns=[name for name in columns if name in stored])
    except FileNotFoundError:
        raise
    except (pa.ArrowException, ValueError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise store_error(error, "read", file.path) from error
        if is_intact(file):  # so the cause is another, such as memory
            raise
        raise DamagedError(str(error)) from error


def is_intact(file: LedgerFile) -> bool:
    """Say whether all of a part's bytes are those that were sealed."""
    with refusals("read", file.path):
        return _digests(file.path) == file.digest


def _digests(path: Path) -> str:
    with path.open("rb") as stream:
        whole = hashlib.file_digest(stream, "sha256").hexdigest()
    return _footer_digest(path) + whole[:_FILE_CHARACTERS]


def _footer_digest(path: Path) -> str:
    """Return the digest of a Parquet file's metadata, the length and marker that end it included."""
    size = path.stat().st_size
    with path.open("rb") as stream:
        stream.seek(max(size - _TRAILER.size, 0))
        trailer = stream.read()
        if len(trailer) < _TRAILER.size:
            return ""
        length, _marker = _TRAILER.unpack(trailer)
        stream.seek(max(size - _TRAILER.size - length, 0))
        return hashlib.sha256(stream.read()).hexdigest()[:_FOOTER_CHARACTERS]


def set_aside(path: Path, reason: str) -> None:
    """Rename a damaged file to ``*.damaged`` and report it; where the folder refuses, only report it."""
    try:
        path.rename(path.with_name(f"{path.name}.damaged"))
        sync_folder(path.parent)
    except FileNotFoundError:
        return  # another reader was faster
    except OSError as error:
        _log.warning("%s is damaged (%s) and could not be set aside (%s); its rows are redone", path, reason, error)
        return
    _log.warning("%s was damaged (%s): set aside as %s.damaged, its rows are redone", path, reason, path.name)
