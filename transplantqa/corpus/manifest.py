"""Which files are documents, and whose: from a manifest, or from one subfolder for each institution."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from transplantqa.corpus.html_manual import first_page, html_files
from transplantqa.corpus.ingested import SourceFile, slug
from transplantqa.corpus.tabular import Problems, TableRow, find_columns, read_table, text_value
from transplantqa.errors import InputError
from transplantqa.store.hashing import digest, file_sha256

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "document_id": ("document_id", "id"),
    "path": ("path", "file", "filename"),
    "institution": ("institution",),
    "group": ("group",),
    "phase": ("phase",),
    "title": ("title",),
    "year": ("year",),
    "licence": ("licence", "license"),
    "redistributable": ("redistributable",),
}
MANIFEST_NAMES = ("manifest.csv", "manifest.yaml", "manifest.yml", "manifest.jsonl", "manifest.json")
UNGROUPED = "general"
"""Group of a document that has none: only general questions are asked of it."""
NO_GROUP_NOTE = f'no group given: counted as "{UNGROUPED}", asked only general questions'
_TRUE, _FALSE = frozenset({"true", "yes", "1", "y"}), frozenset({"false", "no", "0", "n", ""})


def find_sources(folder: Path, manifest: Path | None) -> list[SourceFile]:
    """Return every document of a corpus, sorted by id; raises InputError with all that is wrong.

    Args:
        folder: where the documents are; with no manifest, ``<institution>/<group>/<file>`` or ``<institution>/<file>``.
        manifest: a table of the documents; null takes the folder's own manifest file if there is one.
    """
    if not folder.is_dir():
        what = "is a file, not a folder" if folder.exists() else "doesn't exist"
        raise InputError(f"{folder}: the corpus folder {what}.\nSet corpus.folder; it is taken from {Path.cwd()}.")
    if manifest is None:
        manifest = next((folder / name for name in MANIFEST_NAMES if (folder / name).is_file()), None)
    sources = _from_folders(folder) if manifest is None else _from_manifest(folder, manifest)
    return sorted(sources, key=lambda source: source.document_id)


def _from_manifest(folder: Path, manifest: Path) -> list[SourceFile]:
    rows, problems = read_table(manifest, "documents")
    columns = find_columns(rows, COLUMNS, ("path", "institution"), problems)
    sources: list[SourceFile] = []
    lines: dict[str, int] = {}
    for row in rows:
        source = _source(folder, row, columns, problems)
        if source is None:
            continue
        if source.document_id in lines:
            problems.add(
                row.line,
                f'document id "{source.document_id}" was already used on {problems.unit} {lines[source.document_id]}.',
                "Give each document an id of its own (column document_id).",
            )
        lines.setdefault(source.document_id, row.line)
        sources.append(source)
    problems.raise_any()
    return sources


def _source(folder: Path, row: TableRow, columns: Mapping[str, str], problems: Problems) -> SourceFile | None:
    values = {field: text_value(row, columns.get(field), problems) for field in COLUMNS}
    for field in ("path", "institution"):
        if not values[field]:
            problems.add(
                row.line, f"the {field} is empty.", f"Every document needs a value in column {columns[field]}."
            )
    if not values["path"]:
        return None
    path = folder / values["path"]
    document_id = values["document_id"] or slug(str(Path(values["path"]).with_suffix("")))
    if "#" in document_id or "\n" in document_id:
        problems.add(row.line, f'document id "{document_id}" has a "#" or a line break in it.', "Use another id.")
    if not path.is_file() and first_page(path) is None:
        what = "is a folder without index.html" if path.is_dir() else "doesn't exist"
        problems.add(
            row.line, f'file "{values["path"]}" {what} in {folder}.', "Correct the path, or take the line out."
        )
        return None
    return SourceFile(
        document_id=document_id,
        path=path,
        source_file=Path(values["path"]).as_posix(),
        institution=values["institution"],
        group=values["group"] or UNGROUPED,
        sha256=_sha256(path),
        phase=values["phase"] or None,
        title=values["title"] or None,
        year=_year(row, values["year"], problems),
        licence=values["licence"] or None,
        redistributable=_truth(row, values["redistributable"], problems),
        notes=() if values["group"] else (NO_GROUP_NOTE,),
    )


def _year(row: TableRow, value: str, problems: Problems) -> int | None:
    if not value:
        return None
    if not re.fullmatch(r"[0-9]{4}", value):
        problems.add(row.line, f'year "{value}" isn\'t a year of four digits.', "Leave it empty where it isn't known.")
        return None
    return int(value)


def _truth(row: TableRow, value: str, problems: Problems) -> bool:
    folded = value.casefold()
    if folded not in _TRUE | _FALSE:
        problems.add(
            row.line, f'redistributable "{value}" is neither true nor false.', "Write true or false; empty means false."
        )
    return folded in _TRUE


def _from_folders(folder: Path) -> list[SourceFile]:
    sources: list[SourceFile] = []
    faults: list[str] = []
    for path in _files(folder):
        parts = path.relative_to(folder).parts
        if len(parts) == 1:
            faults.append(
                f"{path}: this document belongs to no institution.\n"
                "Put it in a subfolder named after its institution, or list the documents in manifest.csv."
            )
            continue
        grouped = len(parts) > 2
        sources.append(
            SourceFile(
                document_id=slug("-".join((*parts[:-1], path.stem))),
                path=path,
                source_file="/".join(parts),
                institution=parts[0],
                group=parts[1] if grouped else UNGROUPED,
                sha256=_sha256(path),
                notes=() if grouped else (NO_GROUP_NOTE,),
            )
        )
    by_id: dict[str, SourceFile] = {}
    for source in sources:
        other = by_id.setdefault(source.document_id, source)
        if other is not source:
            faults.append(
                f'{source.path}: would have the same id "{source.document_id}" as {other.source_file}.\n'
                "Rename one of the files, or give ids in manifest.csv."
            )
    if not sources and not faults:
        faults.append(
            f"{folder}: no documents.\n"
            "Put PDF, Markdown or text files in one subfolder for each institution, or write a manifest.csv."
        )
    if faults:
        raise InputError("\n\n".join(faults))
    return sources


def _files(folder: Path) -> list[Path]:
    """Return the files under the folder in order of path, but hidden ones and those a system leaves behind."""
    found = []
    for directory, subfolders, names in os.walk(folder):
        subfolders[:] = sorted(name for name in subfolders if not name.startswith("."))
        found += [
            Path(directory, name)
            for name in names
            if not name.startswith((".", "~$")) and name.lower() not in _LEFT_BEHIND
        ]
    return sorted(found)


_LEFT_BEHIND = frozenset({"thumbs.db", "desktop.ini"})


def _sha256(path: Path) -> str:
    """Return the hash of a file, or of the names and contents of a folder's HTML files."""
    try:
        if path.is_dir():
            return digest([[one.relative_to(path).as_posix(), file_sha256(one)] for one in html_files(path)])
        return file_sha256(path)
    except OSError as error:
        raise InputError(f"{path}: can't be read: {error.strerror}.\nCheck the permissions of the file.") from None
