"""A built release put on the Hub in one commit, then read back and compared."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from transplantqa.errors import ConfigError, InputError, TransplantQAError
from transplantqa.hub.dataset import HubDataset, RemoteState
from transplantqa.hub.difference import Difference, LocalFile, difference, local_files
from transplantqa.hub.reload import Reloaded, reload
from transplantqa.release.record import RECORD_FILE, ReleaseRecord, read_record


@dataclass(frozen=True, kw_only=True)
class PushOrder:
    """What to push, and how.

    Attributes:
        folder: the built release.
        revision: the branch to commit to; it is made where it isn't there.
        tag: name for the commit, if any; one that is taken by another commit is refused.
        private: whether the dataset is private where the push creates it.
        schema: whether a column may differ from what is on the Hub at the revision.
    """

    folder: Path
    revision: str = "main"
    tag: str | None = None
    private: bool = True
    schema: Literal["same", "replace"] = "same"


@dataclass(frozen=True)
class Planned:
    """What a push would do: the release, what is on the Hub, and how they differ."""

    record: ReleaseRecord
    local: dict[str, LocalFile]
    remote: RemoteState
    difference: Difference


@dataclass(frozen=True)
class Pushed:
    """What a push did: the commit, whether the push made it, and what was read back."""

    commit: str
    made: bool
    reloaded: Sequence[Reloaded]


def plan_push(dataset: HubDataset, order: PushOrder) -> Planned:
    """Compare a release with what is on the Hub; nothing is changed.

    Raises:
        InputError: the folder isn't a release.
        HubUnavailableError: the Hub doesn't answer.
    """
    record = read_record(order.folder)
    local = local_files(order.folder, record)
    remote = dataset.state(order.revision)
    return Planned(record, local, remote, difference(local, remote.files, (record, _remote_record(dataset, remote))))


def require_possible(dataset: HubDataset, order: PushOrder, planned: Planned) -> None:
    """Refuse what would harm what is on the Hub already.

    Raises:
        ConfigError: with every reason: a public dataset, a taken tag, another schema.
    """
    remote, problems = planned.remote, []
    if remote.exists and order.private and not remote.private:
        problems.append(f"{dataset.repo} is public.\nSay private=no to publish there, or name another dataset.")
    taken = remote.tags.get(order.tag) if order.tag else None
    if taken is not None and (planned.difference.changes or taken != remote.commit):
        problems.append(f"Tag {order.tag} is taken by commit {taken[:12]}.\nGive this release another tag.")
    if planned.difference.schemas and order.schema == "same":
        lines = "\n".join(f"  {line}" for line in planned.difference.schemas)
        problems.append(
            f"The schema differs from the one at {order.revision}:\n{lines}\n"
            "Who reads that revision would find other columns. Say schema=replace if that is meant."
        )
    if problems:
        raise ConfigError("\n\n".join(problems))


def push(dataset: HubDataset, order: PushOrder, planned: Planned) -> Pushed:
    """Put a release on the Hub: one commit that makes the dataset equal to the folder; read it back; tag it.

    What an earlier try has sent isn't sent again. Where nothing differs no commit is made. A tag is given only to
    what was read back and found equal.

    Raises:
        ConfigError: the Hub refuses.
        InputError: somebody else has pushed since, or what was read back differs.
        HubUnavailableError: the Hub doesn't answer; the same command goes on.
    """
    remote = planned.remote
    if not remote.exists:
        dataset.create(private=order.private)
    if remote.commit is None:
        dataset.create_branch(order.revision)
        planned = plan_push(dataset, order)
    made = bool(planned.difference.changes)
    commit = _commit(dataset, order, planned) if made else planned.remote.commit
    if commit is None:
        raise InputError(
            f"{dataset.repo}: has no revision {order.revision!r} after it was made.\nRun the command again."
        )
    _require_equal_files(dataset, planned, commit)
    found = [reload(dataset, order.folder, planned.record, table, commit) for table in planned.record.tables()]
    if order.tag:
        dataset.tag(order.tag, commit)
    return Pushed(commit, made, found)


def _commit(dataset: HubDataset, order: PushOrder, planned: Planned) -> str:
    message = f"{planned.record.title}: {', '.join(sorted(planned.record.systems))}"
    try:
        return dataset.commit(_operations(order.folder, planned), message, order.revision, planned.remote.commit)
    except TransplantQAError:
        # The answer may have been lost after the commit was made.
        now = dataset.state(order.revision)
        if now.commit is None or difference(planned.local, now.files, (planned.record, None)).changes:
            raise
        return now.commit


def _operations(folder: Path, planned: Planned) -> list[Any]:
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete  # noqa: PLC0415 - heavy

    return [
        CommitOperationDelete(path_in_repo=change.path)
        if change.kind == "removed"
        else CommitOperationAdd(path_in_repo=change.path, path_or_fileobj=folder / change.path)
        for change in planned.difference.changes
    ]


def _require_equal_files(dataset: HubDataset, planned: Planned, commit: str) -> None:
    left = difference(planned.local, dataset.files(commit), (planned.record, None)).changes
    if left:
        listed = ", ".join(f"{change.path} ({change.kind})" for change in left[:10])
        raise InputError(
            f"{dataset.repo} at {commit[:12]} isn't what was pushed: {listed}.\nPush again; if it stays, report it."
        )


def _remote_record(dataset: HubDataset, remote: RemoteState) -> ReleaseRecord | None:
    """Return the record of the release on the Hub; null where there is none that this version reads."""
    if remote.commit is None or RECORD_FILE not in remote.files:
        return None
    try:
        return read_record(dataset.download(RECORD_FILE, remote.commit).parent)
    except InputError:
        return None
