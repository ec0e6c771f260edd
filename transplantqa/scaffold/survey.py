"""What a folder of documents tells by itself: whose each file is, its group and its year, and what was only guessed."""

import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from transplantqa.corpus.ingested import slug

READABLE = frozenset({".pdf", ".html", ".htm", ".xhtml", ".md", ".markdown", ".txt", ".docx"})
"""Kinds of file that ingestion reads."""
TABLES = frozenset({".csv", ".tsv", ".jsonl", ".json", ".yaml", ".yml"})
"""Kinds of file that hold questions or manifests, and are no documents."""
_HTML = frozenset({".html", ".htm", ".xhtml"})
_PAGES_OF_ONE = 6
"""HTML files in one folder from which they are taken for pages of one document. Ours."""
_LINKED = 3
"""HTML files beside an index page, that included, from which their links are looked at. Ours."""
_YEAR = re.compile(r"(?<!\d)(19[5-9]\d|20[0-4]\d)(?!\d)")


@dataclass(frozen=True, slots=True)
class Proposal:
    """One line of a proposed manifest. ``guessed`` says which values a person should check, and why; empty: none."""

    document_id: str
    path: str
    institution: str
    group: str
    year: str
    guessed: str


@dataclass(frozen=True, slots=True)
class Survey:
    """What was found: ``proposals`` by path, and the ``passed_over`` files that no reader takes, by path."""

    proposals: tuple[Proposal, ...]
    passed_over: tuple[str, ...]

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups proposed, in order."""
        return tuple(sorted({proposal.group for proposal in self.proposals} - {""}))

    @property
    def institutions(self) -> tuple[str, ...]:
        """The institutions proposed, in order."""
        return tuple(sorted({proposal.institution for proposal in self.proposals} - {""}))

    @property
    def html_folders(self) -> tuple[tuple[str, int], ...]:
        """Folders with so many HTML files that they may be pages of one document, and how many."""
        pages = Counter(
            PurePosixPath(proposal.path).parent.as_posix()
            for proposal in self.proposals
            if PurePosixPath(proposal.path).suffix.lower() in _HTML
        )
        return tuple(sorted((folder, count) for folder, count in pages.items() if count >= _PAGES_OF_ONE))


def files_below(folder: Path) -> list[str]:
    """Return the files under ``folder`` by path from it, with "/" between; hidden ones are left out."""
    found = []
    for directory, subfolders, names in os.walk(folder):
        subfolders[:] = [name for name in subfolders if not name.startswith(".")]
        here = Path(directory).relative_to(folder)
        found += [(here / name).as_posix() for name in names if not name.startswith((".", "~$"))]
    return sorted(found)


def survey(paths: Iterable[str], groups: Sequence[str] = (), manuals: Mapping[str, int] | None = None) -> Survey:
    """Propose a manifest line for each readable file.

    The first folder of a path is the institution, the second the group. Where there is no second one, the group is the
    only one of ``groups`` that stands in the file's name; without ``groups``, the word of the name that tells the
    files of several institutions apart.

    Args:
        paths: paths from the folder of documents, "/" between.
        groups: the groups a person named.
        manuals: folders whose linked HTML files are one document each, with the number of these.
    """
    manuals = manuals or {}
    ordered = sorted({path if (folder := _manual_of(path, manuals)) is None else folder for path in paths})
    suffixes = {path: PurePosixPath(path).suffix.lower() for path in ordered}
    readable = [path for path in ordered if path in manuals or suffixes[path] in READABLE]
    words = {path: _words(path) for path in readable}
    known = tuple(groups) or _telling_words(words)
    ids = _ids(readable)
    return Survey(
        tuple(_proposal(path, ids[path], words[path], known, manuals.get(path)) for path in readable),
        tuple(path for path in ordered if path not in manuals and suffixes[path] not in READABLE | TABLES),
    )


def folders_with_contents(paths: Iterable[str]) -> list[str]:
    """Return the folders below the top that hold an index page and so many HTML files that they may be one manual."""
    pages: dict[str, list[str]] = defaultdict(list)
    for path in map(PurePosixPath, paths):
        if path.suffix.lower() in _HTML and len(path.parts) > 1:
            pages[path.parent.as_posix()].append(path.name)
    return sorted(
        folder
        for folder, names in pages.items()
        if len(names) >= _LINKED and any(name.startswith("index") for name in names)
    )


def _manual_of(path: str, manuals: Mapping[str, int]) -> str | None:
    """Return the outermost manual that a file is of; its PDF or text edition beside its pages is of none."""
    parents = [parent.as_posix() for parent in PurePosixPath(path).parents]
    manual = next((parent for parent in reversed(parents) if parent in manuals), None)
    suffix = PurePosixPath(path).suffix.lower()
    return None if parents[0] == manual and suffix in READABLE - _HTML else manual


def _proposal(path: str, document_id: str, words: Sequence[str], groups: Sequence[str], linked: int | None) -> Proposal:
    folders = PurePosixPath(path).parts[:-1] or (PurePosixPath(path).parts if linked else ())
    guesses = []
    if linked:
        guesses.append(f"path: one document of {linked} linked HTML pages; name files instead if each is its own")
    if not folders:
        guesses.append("institution: fill it in, the file lies in no subfolder")
    group = folders[1] if len(folders) > 1 else ""
    if not group:
        named = [name for name in groups if slug(name) in words]
        if len(named) == 1:
            group = named[0]
            guesses.append("group: from the file name")
        elif groups:
            guesses.append("group: not found in the file name; empty is asked general questions only")
    years = _YEAR.findall(PurePosixPath(path).stem)
    if years:
        guesses.append("year: from the file name")
    return Proposal(
        document_id, path, folders[0] if folders else "", group, years[-1] if years else "", "; ".join(guesses)
    )


def _words(path: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(slug(PurePosixPath(path).stem).split("-")))


def _telling_words(words: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return the words that tell the files of several institutions apart, or none if they don't tell all apart.

    Such a word stands in files of two institutions or more; there are two such words or more, and no file has two.
    """
    owners: dict[str, set[str]] = defaultdict(set)
    uses: dict[str, int] = defaultdict(int)
    for path, found in words.items():
        folders = PurePosixPath(path).parts[:-1]
        for word in found:
            if word.isalpha() and len(word) > 2 and folders:
                owners[word].add(folders[0])
                uses[word] += 1
    telling = {word for word in owners if len(owners[word]) > 1 and uses[word] < len(words)}
    apart = len(telling) > 1 and all(len(telling.intersection(found)) < 2 for found in words.values())
    return tuple(sorted(telling)) if apart else ()


def _ids(paths: Sequence[str]) -> dict[str, str]:
    """Give each path an id of its own, numbered where two would be the same."""
    ids: dict[str, str] = {}
    taken: dict[str, int] = {}
    for path in paths:
        name = slug(str(PurePosixPath(path).with_suffix(""))).replace("-", "_")
        taken[name] = taken.get(name, 0) + 1
        ids[path] = name if taken[name] == 1 else f"{name}_{taken[name]}"
    return ids
