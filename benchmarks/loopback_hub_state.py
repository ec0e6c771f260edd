"""What a Hub on loopback knows: datasets with their commits, contents by hash, and the faults still to come."""

import base64
import hashlib
import re
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Literal

LFS_SUFFIX = ".parquet"
OWNER = "tester"


@dataclass(frozen=True)
class File:
    """One version of a file: its content's SHA-256 and size, and git's id of it or of its LFS pointer."""

    sha256: str
    size: int
    oid: str
    lfs: bool

    def entry(self, path: str) -> dict[str, Any]:
        """Return what a tree says of it."""
        found = {"type": "file", "path": path, "size": self.size, "oid": self.oid}
        return found | ({"lfs": {"oid": self.sha256, "size": self.size, "pointerSize": 134}} if self.lfs else {})


@dataclass
class Fault:
    """Something that goes wrong ``times`` times with requests of a method whose path matches.

    ``status`` answers with it and ``Retry-After``; ``drop_request`` closes after half of what is sent was read;
    ``drop_answer`` does what is asked and closes after half of the answer.
    """

    method: str
    path: str
    kind: Literal["status", "drop_request", "drop_answer"] = "status"
    times: int = 1
    status: int = 429
    retry_after: int | None = 1


@dataclass
class Repository:
    """A dataset: every commit's files, and what branches and tags point at."""

    private: bool
    commits: dict[str, dict[str, File]]
    branches: dict[str, str]
    tags: dict[str, str] = field(default_factory=dict)
    messages: list[str] = field(default_factory=list)

    def commit_of(self, revision: str) -> str | None:
        """Return the commit a branch, a tag or itself names."""
        found = self.branches.get(revision) or self.tags.get(revision) or revision
        return found if found in self.commits else None


class HubError(Exception):
    """An answer that isn't a success: status, and the code that clients look at."""

    def __init__(self, status: int, code: str = "", message: str = "") -> None:
        super().__init__(message or code)
        self.status, self.code = status, code


class Hub:
    """The state behind the server; ``log`` has (method, path, status) of every answered request."""

    def __init__(self) -> None:
        self.repositories: dict[str, Repository] = {}
        self.blobs: dict[str, bytes] = {}
        self.faults: list[Fault] = []
        self.log: list[tuple[str, str, int]] = []
        self.lock = threading.RLock()
        self._numbers = count()

    def fault(self, method: str, path: str) -> Fault | None:
        """Take the next fault that is meant for a request."""
        with self.lock:
            for found in self.faults:
                if found.times > 0 and found.method == method and re.search(found.path, path):
                    found.times -= 1
                    return found
        return None

    def create(self, name: str, *, private: bool) -> None:
        """Make an empty dataset with a first commit."""
        with self.lock:
            if name in self.repositories:
                raise HubError(409, "", "You already created this dataset repo")
            first = self.new_commit_id(name)
            self.repositories[name] = Repository(private, {first: {}}, {"main": first})

    def new_commit_id(self, seed: str) -> str:
        """Return a commit id no other commit has."""
        return hashlib.sha1(f"{seed}{next(self._numbers)}".encode(), usedforsecurity=False).hexdigest()

    def repository(self, name: str, *, signed_in: bool) -> Repository:
        """Return a dataset; a private one is not there for who isn't signed in."""
        found = self.repositories.get(name)
        if found is None or (found.private and not signed_in):
            raise HubError(404 if signed_in else 401, "RepoNotFound", "Repository not found")
        return found

    def keep(self, content: bytes) -> str:
        """Keep content and return its SHA-256."""
        name = hashlib.sha256(content).hexdigest()
        self.blobs[name] = content
        return name

    def commit(self, repository: Repository, branch: str, lines: list[dict[str, Any]]) -> str:
        """Apply one commit's lines to a branch and return the commit's id."""
        with self.lock:
            parent = repository.branches.get(branch)
            if parent is None:
                raise HubError(404, "RevisionNotFound", "Invalid rev id")
            files = dict(repository.commits[parent])
            for line in lines:
                self._apply(files, line["key"], line["value"], parent)
            made = self.new_commit_id(parent)
            repository.commits[made] = files
            repository.branches[branch] = made
            repository.messages.append(str(next(line["value"]["summary"] for line in lines if line["key"] == "header")))
            return made

    def _apply(self, files: dict[str, File], kind: str, value: Mapping[str, Any], parent: str) -> None:
        if kind == "header" and value.get("parentCommit") not in {None, parent}:
            raise HubError(412, "", "A commit has happened since. Please refresh and try again.")
        if kind == "file":
            content = base64.b64decode(value["content"])
            files[value["path"]] = File(self.keep(content), len(content), git_oid(content), lfs=False)
        elif kind == "lfsFile":
            if value["oid"] not in self.blobs:
                raise HubError(400, "", "LFS object missing")
            size = len(self.blobs[value["oid"]])
            pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{value['oid']}\nsize {size}\n"
            files[value["path"]] = File(value["oid"], size, git_oid(pointer.encode()), lfs=True)
        elif kind == "deletedFile":
            files.pop(value["path"], None)


def git_oid(content: bytes) -> str:
    """Return git's id of a file's content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def commit_named(repository: Repository, revision: str) -> str:
    """Return the commit a revision names, or answer that there is none."""
    found = repository.commit_of(revision)
    if found is None:
        raise HubError(404, "RevisionNotFound", "Invalid rev id")
    return found


def refs(repository: Repository) -> dict[str, Any]:
    """Return a dataset's branches and tags as the Hub lists them."""

    def listed(kind: str, refs: Mapping[str, str]) -> list[dict[str, str]]:
        return [{"name": name, "ref": f"refs/{kind}/{name}", "targetCommit": commit} for name, commit in refs.items()]

    return {"branches": listed("heads", repository.branches), "tags": listed("tags", repository.tags), "converts": []}


def upload_mode(path: str, files: Mapping[str, File]) -> dict[str, Any]:
    """Return how a file is to be sent: large ones by LFS."""
    mode = "lfs" if path.endswith(LFS_SUFFIX) else "regular"
    return {"path": path, "uploadMode": mode, "shouldIgnore": False, "oid": files[path].oid if path in files else None}


def tree(files: Mapping[str, File], folder: str, *, recursive: bool) -> Iterator[dict[str, Any]]:
    """Yield what a commit has under a folder, folders first."""
    prefix = f"{folder.strip('/')}/" if folder.strip("/") else ""
    below = sorted(path for path in files if path.startswith(prefix))
    if prefix and not below:
        raise HubError(404, "EntryNotFound", "not found")
    folders = dict.fromkeys(
        prefix + "/".join(parts[:depth])
        for parts in (path[len(prefix) :].split("/") for path in below)
        for depth in range(1, len(parts))
        if recursive or depth == 1
    )
    yield from (_folder(name) for name in folders)
    yield from (files[path].entry(path) for path in below if recursive or "/" not in path[len(prefix) :])


def _folder(path: str) -> dict[str, Any]:
    return {"type": "directory", "path": path, "size": 0, "oid": git_oid(path.encode())}


def path_info(files: Mapping[str, File], path: str) -> list[dict[str, Any]]:
    """Return what a commit says of one path; nothing where it has none."""
    if path in files:
        return [files[path].entry(path)]
    return [_folder(path)] if any(name.startswith(f"{path}/") for name in files) else []
