"""The command ``init``: looks at a folder of documents, writes a project beside it, and says what to do next."""

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from transplantqa.cli import plain_arguments
from transplantqa.corpus.html_manual import contents
from transplantqa.corpus.ingested import slug
from transplantqa.errors import EXIT_OK, ConfigError, InputError
from transplantqa.report.text import plain
from transplantqa.scaffold.files import Project, project_files
from transplantqa.scaffold.survey import Survey, files_below, folders_with_contents, survey
from transplantqa.store.atomic import write_atomically

USAGE = "transplantqa init FOLDER [out=PROJECT] [name=NAME] [groups=a,b]"
MAX_LINKED = 2000
"""Linked pages of a manual that are counted; ``corpus.max_pages`` bounds what is read. Ours."""
_SHOWN = 5


def main(arguments: Sequence[str]) -> int:
    """Write ``manifest.csv``, ``questions.csv`` and ``conf/`` for the documents in a folder; overwrite nothing.

    Raises:
        ConfigError: for arguments that aren't these, or a name that can't be a configuration's.
        InputError: no such folder, nothing readable in it, or files that a project would overwrite.
        StoreError: the project's folder can't be written.
    """
    folders = [argument for argument in arguments if "=" not in argument]
    options = plain_arguments([argument for argument in arguments if "=" in argument], ("out", "name", "groups"), USAGE)
    if len(folders) != 1:
        raise ConfigError(f"Name one folder of documents.\nUsage: {USAGE}")
    documents, out = Path(folders[0]), Path(options.get("out", "."))
    found = _surveyed(documents, [name.strip() for name in options.get("groups", "").split(",") if name.strip()])
    project = Project(_name(options.get("name") or documents.resolve().name), _from_project(documents, out))
    _write(out, project_files(project, found))
    sys.stdout.write(summary(project, found, out))
    return EXIT_OK


def summary(project: Project, found: Survey, out: Path) -> str:
    """Return what was found, what to check, and the next commands."""
    marked = [proposal for proposal in found.proposals if proposal.guessed]
    counted = {"Institutions": found.institutions, "Groups": found.groups}
    lines = [
        f"Documents: {len(found.proposals)}",
        *(f"{what}: {len(names)} ({_some(names)})" for what, names in counted.items()),
        *_notes(found),
    ]
    lines += ["", "Check, then go on:", f"1. {out / 'manifest.csv'}: whose each document is."]
    if marked:
        lines.append(f"   {len(marked)} lines have something guessed or missing; their last column says what.")
    lines.append("   Pairs are compared within a group; a document without one is asked general questions only.")
    conf, name = out / "conf", project.name
    lines += [
        f"2. {out / 'questions.csv'}: one line a question; groups and topics may hold several, with | between.",
        f"3. {conf / 'domain' / f'{name}.yaml'}: what you call documents, institutions, groups and readers.",
        *([f"4. cd {out}"] if out != Path() else []),
        "",
        f"transplantqa ingest corpus={name} --config-dir conf            what was read, and what could not be",
        f"transplantqa run experiment={name} --config-dir conf           seconds, no model: does it work at all?",
        f"transplantqa run experiment={name}_local --config-dir conf     with a language model",
        "",
    ]
    return "\n".join(lines)


def _notes(found: Survey) -> list[str]:
    notes = []
    if found.passed_over:
        packed = " Unpack what is compressed." if any(map(_packed, found.passed_over)) else ""
        notes.append(
            f"Left out, of kinds that aren't read: {len(found.passed_over)} ({_some(found.passed_over)}).{packed}"
        )
    if len(found.institutions) < 2:
        notes.append(
            "Findings compare institutions, so there must be two: a subfolder each, or a value each in the manifest."
        )
    for folder, count in found.html_folders:
        notes.append(f"{folder}: {count} HTML files, each of them a document of its own.")
        notes.append("  If they are pages of one manual, name their folder as its path: it needs an index.html.")
    return notes


def _packed(path: str) -> bool:
    return path.lower().endswith((".gz", ".zip", ".bz2", ".xz", ".7z", ".tar", ".tgz", ".rar"))


def _surveyed(folder: Path, groups: Sequence[str]) -> Survey:
    if not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder.\nName the folder that holds the documents.")
    files = files_below(folder)
    linked = {name: len(contents(folder / name, MAX_LINKED).pages) for name in folders_with_contents(files)}
    found = survey(files, groups, {name: count for name, count in linked.items() if count > 1})
    if not found.proposals:
        left = f" Files of other kinds: {_some(found.passed_over)}." if found.passed_over else ""
        raise InputError(
            f"{folder}: no documents that are read (PDF, HTML, Markdown, text, DOCX).{left}\n"
            "Put them there, one subfolder for each institution; unpack what is compressed."
        )
    return found


def _name(text: str) -> str:
    name = slug(text).replace("-", "_")
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise ConfigError(f"name: {plain(text)!r} can't name a configuration.\nGive one: name=my_audit")
    return name


def _from_project(documents: Path, out: Path) -> str:
    return Path(os.path.relpath(documents.resolve(), out.resolve())).as_posix()


def _write(out: Path, files: dict[str, str]) -> None:
    there = [str(out / path) for path in files if (out / path).exists()]
    if there:
        raise InputError(
            "These files exist and are not overwritten:\n  " + "\n  ".join(there) + "\n"
            "Take them away, or write elsewhere: out=PROJECT"
        )
    for path, text in files.items():
        write_atomically(out / path, text.encode("utf-8"))


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(plain(name) for name in names[:_SHOWN])
    return (shown or "none") + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
