"""One dataset repository on the Hub, through the Hub's own client; every call is tried again as the Hub asks."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transplantqa.errors import ConfigError, InputError
from transplantqa.hub.difference import RemoteFile
from transplantqa.hub.patience import Patience

if TYPE_CHECKING:
    from huggingface_hub import HfApi

KIND = "dataset"
_NOT_SEEN = frozenset({401, 403, 404})
"""How the Hub answers for a dataset that isn't there, or isn't shown to who asks."""


@dataclass(frozen=True)
class RemoteState:
    """What is on the Hub at a revision.

    Attributes:
        exists: whether there is such a dataset.
        private: whether it is private.
        commit: the commit the revision names; null where the dataset or the revision isn't there.
        files: path to file at that commit.
        tags: tag to its commit.
    """

    exists: bool
    private: bool = True
    commit: str | None = None
    files: Mapping[str, RemoteFile] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class HubDataset:
    """A dataset repository.

    Attributes:
        repo: OWNER/NAME.
        patience: how long to wait for the Hub.
    """

    repo: str
    patience: Patience = field(default_factory=Patience)

    def state(self, revision: str) -> RemoteState:
        """Return what is there.

        Raises:
            HubUnavailableError: the Hub doesn't answer.
        """
        facts = self.patience.call(f"read {self.repo}", self._facts)
        if facts is None:
            return RemoteState(exists=False)
        refs = self.patience.call(
            f"read the tags of {self.repo}", lambda: _api().list_repo_refs(self.repo, repo_type=KIND)
        )
        tags = {ref.name: ref.target_commit for ref in refs.tags}
        commit = self._commit(revision)
        files = {} if commit is None else self.files(commit)
        return RemoteState(exists=True, private=bool(facts.private), commit=commit, files=files, tags=tags)

    def _facts(self) -> Any:
        from huggingface_hub.errors import RepositoryNotFoundError  # noqa: PLC0415 - heavy

        try:
            return _api().dataset_info(self.repo)
        except RepositoryNotFoundError as error:
            if error.response.status_code in _NOT_SEEN:
                return None
            raise

    def _commit(self, revision: str) -> str | None:
        from huggingface_hub.errors import RevisionNotFoundError  # noqa: PLC0415 - heavy

        def asked() -> Any:
            try:
                return _api().dataset_info(self.repo, revision=revision)
            except RevisionNotFoundError:
                return None

        found = self.patience.call(f"read {self.repo} at {revision}", asked)
        return None if found is None else str(found.sha)

    def resolve(self, revision: str) -> str:
        """Return the commit that a branch, a tag or a commit names.

        Raises:
            InputError: there is no such dataset or revision; the message lists the tags.
        """
        state = self.state(revision)
        if not state.exists:
            raise InputError(
                f"{self.repo}: there is no such dataset, or it is private and you aren't signed in.\n"
                "Check OWNER/NAME, or sign in with `hf auth login`."
            )
        if state.commit is None:
            tags = ", ".join(sorted(state.tags)) or "none"
            raise InputError(f"{self.repo}: has no revision {revision!r}.\nTags: {tags}. A commit works as well.")
        return state.commit

    def files(self, commit: str) -> dict[str, RemoteFile]:
        """Return path to file at a commit."""
        from huggingface_hub import RepoFile  # noqa: PLC0415 - heavy

        def listed() -> dict[str, RemoteFile]:
            entries = _api().list_repo_tree(self.repo, recursive=True, revision=commit, repo_type=KIND)
            return {
                entry.path: RemoteFile(entry.blob_id, entry.size, None if entry.lfs is None else entry.lfs.sha256)
                for entry in entries
                if isinstance(entry, RepoFile)
            }

        return self.patience.call(f"list the files of {self.repo}", listed)

    def download(self, path: str, commit: str, folder: Path | None = None) -> Path:
        """Download one file at a commit, into the Hub's cache or a folder, and return where it is."""
        from huggingface_hub import hf_hub_download  # noqa: PLC0415 - heavy

        def fetch() -> Path:
            return Path(hf_hub_download(self.repo, path, repo_type=KIND, revision=commit, local_dir=folder))

        return self.patience.call(f"download {path} of {self.repo}", fetch)

    def create(self, *, private: bool) -> None:
        """Make the dataset; one that is there stays as it is."""
        self.patience.call(
            f"create {self.repo}",
            lambda: _api().create_repo(self.repo, repo_type=KIND, private=private, exist_ok=True),
        )

    def create_branch(self, name: str) -> None:
        """Make a branch; one that is there stays as it is."""
        self.patience.call(
            f"create branch {name} of {self.repo}",
            lambda: _api().create_branch(self.repo, branch=name, repo_type=KIND, exist_ok=True),
        )

    def commit(self, changes: Sequence[Any], message: str, revision: str, parent: str | None) -> str:
        """Upload what is missing and make one commit on top of ``parent``; return its id.

        Large files are told by their hash, so that what an earlier try has sent isn't sent again.

        Raises:
            InputError: the branch has moved on since.
        """

        def send() -> str:
            made = _api().create_commit(
                self.repo,
                changes,
                commit_message=message,
                repo_type=KIND,
                revision=revision,
                parent_commit=parent,
            )
            return str(made.oid)

        return self.patience.call(f"commit to {self.repo}", send)

    def tag(self, name: str, commit: str) -> None:
        """Name a commit."""
        self.patience.call(
            f"tag {self.repo}",
            lambda: _api().create_tag(self.repo, tag=name, revision=commit, repo_type=KIND, exist_ok=True),
        )


def require_login() -> None:
    """Refuse to go on without the Hub's own sign-in.

    Raises:
        ConfigError: there is none.
    """
    from huggingface_hub import get_token  # noqa: PLC0415 - heavy

    if get_token() is None:
        raise ConfigError(
            "You aren't signed in to the Hub.\nSign in with `hf auth login`; a token is taken from there alone."
        )


def _api() -> "HfApi":
    from huggingface_hub import HfApi  # noqa: PLC0415 - heavy
    from huggingface_hub.utils.tqdm import disable_progress_bars  # noqa: PLC0415 - heavy

    if not sys.stderr.isatty():
        disable_progress_bars()
    return HfApi(library_name="transplantqa")
