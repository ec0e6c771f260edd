"""What a push would change on the Hub: files, rows, schemas. Pure: two descriptions in, their difference out."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from transplantqa.release.record import RECORD_FILE, ReleaseRecord

KEPT_FILES = frozenset({".gitattributes"})
"""Files that the Hub itself puts into a dataset."""


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file as the Hub describes it: git's id, size in bytes, and the SHA-256 of large files."""

    oid: str
    size: int
    sha256: str | None


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A file to push, by both hashes that the Hub may tell it by."""

    oid: str
    size: int
    sha256: str

    def same_as(self, remote: RemoteFile) -> bool:
        """Whether the Hub has this content."""
        return self.sha256 == remote.sha256 if remote.sha256 is not None else self.oid == remote.oid


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file that a push would add, change or remove; the size is the new one, or the old one of a removed file."""

    path: str
    kind: Literal["added", "changed", "removed"]
    size: int


@dataclass(frozen=True)
class Difference:
    """What a push would change.

    Attributes:
        changes: files, by path.
        unchanged: files that stay as they are.
        rows: (config, split, rows on the Hub or null, rows to push or null) where they differ.
        schemas: in words, every column that differs in a config that both have.
    """

    changes: Sequence[FileChange]
    unchanged: int
    rows: Sequence[tuple[str, str, int | None, int | None]] = ()
    schemas: Sequence[str] = field(default_factory=tuple)


def local_files(folder: Path, record: ReleaseRecord) -> dict[str, LocalFile]:
    """Return path to what a release's files are told by, its record included."""
    return {path: _local_file(folder / path) for path in sorted([*record.files, RECORD_FILE])}


def _local_file(path: Path) -> LocalFile:
    size = path.stat().st_size
    git, plain = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False), hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            git.update(block)
            plain.update(block)
    return LocalFile(git.hexdigest(), size, plain.hexdigest())


def difference(
    local: Mapping[str, LocalFile],
    remote: Mapping[str, RemoteFile],
    records: tuple[ReleaseRecord, ReleaseRecord | None],
) -> Difference:
    """Compare a release with what is on the Hub.

    Args:
        local: files to push.
        remote: files on the Hub at the revision.
        records: of the release to push, and of the one on the Hub, if there is one.
    """
    there = {path: file for path, file in remote.items() if path not in KEPT_FILES}
    changes = [
        *(FileChange(path, "removed", there[path].size) for path in there.keys() - local.keys()),
        *(FileChange(path, "added", local[path].size) for path in local.keys() - there.keys()),
        *(
            FileChange(path, "changed", local[path].size)
            for path in local.keys() & there.keys()
            if not local[path].same_as(there[path])
        ),
    ]
    ours, theirs = records
    return Difference(
        changes=sorted(changes, key=lambda change: change.path),
        unchanged=len(local) - sum(change.kind != "removed" for change in changes),
        rows=_row_changes(ours, theirs),
        schemas=[] if theirs is None else _schema_changes(ours, theirs),
    )


def _row_changes(ours: ReleaseRecord, theirs: ReleaseRecord | None) -> list[tuple[str, str, int | None, int | None]]:
    before = {} if theirs is None else theirs.rows
    tables = sorted({*ours.tables(), *([] if theirs is None else theirs.tables())})
    counts = [
        (config, split, before.get(config, {}).get(split), ours.rows.get(config, {}).get(split))
        for config, split in tables
    ]
    return [row for row in counts if row[2] != row[3]]


def _schema_changes(ours: ReleaseRecord, theirs: ReleaseRecord) -> list[str]:
    lines = []
    for config in sorted(ours.schemas.keys() & theirs.schemas.keys()):
        new, old = ours.schemas[config], theirs.schemas[config]
        lines += [f"{config}: column {name} is taken out" for name in sorted(old.keys() - new.keys())]
        lines += [f"{config}: column {name} is new" for name in sorted(new.keys() - old.keys())]
        lines += [
            f"{config}: column {name} was {_kind(old[name])} and is {_kind(new[name])}"
            for name in sorted(old.keys() & new.keys())
            if old[name] != new[name]
        ]
    return lines


def _kind(feature: Any) -> str:
    """Return a column's type in a few words."""
    if not isinstance(feature, Mapping):
        return "a structure"
    return str(feature.get("dtype") or feature.get("_type") or "a structure")
