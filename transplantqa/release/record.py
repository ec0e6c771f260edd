"""The record of a release, ``release.json``: its files with their hashes, rows and schemas; read, never executed."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from transplantqa.errors import InputError
from transplantqa.release.settings import ReleaseSettings
from transplantqa.store.atomic import json_bytes
from transplantqa.store.hashing import file_sha256

if TYPE_CHECKING:
    from datasets import Features

RECORD_FILE = "release.json"
FORMAT = 1
"""Raised when an older program couldn't read a release rightly."""


@dataclass(frozen=True)
class ReleaseRecord:
    """What a release says of itself.

    Attributes:
        format: see ``FORMAT``.
        made_by: program and version.
        name: the dataset's name.
        title: the name people read.
        licence: of what the release adds.
        waiver: why labels of a judge that wasn't validated are published, if they are.
        max_failure_rate: what the release allows.
        reviewed: values that look like personal data and that a person found public.
        contacts: values that look like personal data and that the document answered from publishes itself.
        systems: split to the system's name.
        schemas: config to its features, as ``datasets.Features.to_dict`` gives them.
        rows: config to split to number of rows.
        files: path in the release to size in bytes and SHA-256; every file but this record.
    """

    format: int
    made_by: str
    name: str
    title: str
    licence: str
    waiver: str | None
    max_failure_rate: float
    reviewed: Sequence[str]
    contacts: Sequence[str]
    systems: Mapping[str, str]
    schemas: Mapping[str, Mapping[str, Any]]
    rows: Mapping[str, Mapping[str, int]]
    files: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def content(self) -> bytes:
        """Return the file's bytes."""
        return json_bytes(asdict(self))

    def tables(self) -> list[tuple[str, str]]:
        """Return every (config, split), sorted."""
        return sorted((config, split) for config, splits in self.rows.items() for split in splits)


def table_path(config: str, split: str) -> str:
    """Return where a split lies in a release."""
    return f"{config}/{split}.parquet"


def make_record(
    settings: ReleaseSettings, schemas: Mapping[str, "Features"], rows: Mapping[str, Any], systems: Mapping[str, str]
) -> ReleaseRecord:
    """Make the record of a release whose files are not listed yet."""
    from transplantqa import __version__  # noqa: PLC0415

    return ReleaseRecord(
        format=FORMAT,
        made_by=f"transplantqa {__version__}",
        name=settings.name,
        title=settings.title,
        licence=settings.licence,
        waiver=settings.waiver,
        max_failure_rate=settings.max_failure_rate,
        reviewed=sorted(settings.reviewed),
        contacts=(),
        systems=dict(systems),
        schemas={config: features.to_dict() for config, features in schemas.items()},
        rows={config: dict(splits) for config, splits in rows.items()},
    )


def listed_files(folder: Path) -> dict[str, dict[str, Any]]:
    """Return path to size and SHA-256 of every file under a folder but its record, sorted."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != RECORD_FILE)
    return {
        path.relative_to(folder).as_posix(): {"bytes": path.stat().st_size, "sha256": file_sha256(path)}
        for path in paths
    }


def read_record(folder: Path) -> ReleaseRecord:
    """Read the record of a release.

    Raises:
        InputError: there is none, it isn't one, it names files outside of the folder, or a later version wrote it.
    """
    path = folder / RECORD_FILE
    remedy = "Build the folder with transplantqa release, or pull it again."
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{folder}: not a release (it has no {RECORD_FILE}).\n{remedy}") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: can't be read as the record of a release ({error}).\n{remedy}") from error
    known = {entry.name for entry in fields(ReleaseRecord)}
    if not isinstance(content, dict) or not known <= content.keys():
        raise InputError(f"{path}: isn't the record of a release.\n{remedy}")
    record = ReleaseRecord(**{name: content[name] for name in known})
    problems = _problems(record)
    if problems:
        raise InputError(f"{path}: {'; '.join(problems)}.\n{remedy}")
    return record


def _problems(record: ReleaseRecord) -> list[str]:
    if record.format != FORMAT:
        return [f"it is of format {record.format!r}, and this version reads {FORMAT}"]
    mappings = {name: getattr(record, name) for name in ("systems", "schemas", "rows", "files")}
    wrong = [f"{name} isn't a mapping" for name, value in mappings.items() if not isinstance(value, Mapping)]
    if wrong:
        return wrong
    outside = [path for path in record.files if not _inside(path)]
    missing = [table_path(*table) for table in record.tables() if table_path(*table) not in record.files]
    return [
        *(f"{path!r} lies outside of the release" for path in outside),
        *(f"{path!r} isn't among its files" for path in missing),
    ]


def _inside(path: str) -> bool:
    parts = PurePosixPath(path)
    return not parts.is_absolute() and ".." not in parts.parts and "\\" not in path and bool(parts.parts)


def changed_files(folder: Path, record: ReleaseRecord) -> list[str]:
    """Return in words every file that is missing, was changed, or was added since the record was made."""
    present = listed_files(folder)
    gone = [f"{path} is missing" for path in record.files.keys() - present.keys()]
    added = [f"{path} was added" for path in present.keys() - record.files.keys()]
    changed = [
        f"{path} isn't what was built (SHA-256 {present[path]['sha256'][:12]}…)"
        for path in record.files.keys() & present.keys()
        if record.files[path].get("sha256") != present[path]["sha256"]
    ]
    return sorted([*gone, *added, *changed])
