"""The command ``push``: gates, the difference with the Hub, one commit, what was read back."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from transplantqa.cli import plain_arguments
from transplantqa.errors import EXIT_OK, ConfigError
from transplantqa.hub.arguments import choice, refuse_tokens, repository
from transplantqa.hub.dataset import HubDataset, require_login
from transplantqa.hub.push import Planned, Pushed, PushOrder, plan_push, push, require_possible
from transplantqa.release.gates import findings, require_no_findings

USAGE = (
    "transplantqa push repo=OWNER/NAME [folder=release] [revision=main] [tag=TAG] [private=yes|no] "
    "[schema=same|replace] [dry_run=yes|no]"
)
_KEYS = ("repo", "folder", "revision", "tag", "private", "schema", "dry_run")
_MARKS = {"added": "+", "changed": "~", "removed": "-"}


def main(arguments: Sequence[str]) -> int:
    """Push a release, or say what a push would do; return the exit code.

    Raises:
        ConfigError: an argument is wrong, nobody is signed in, or the Hub refuses.
        InputError: the folder isn't a release, or may not leave.
        HubUnavailableError: the Hub doesn't answer.
    """
    refuse_tokens(arguments)
    given = plain_arguments(arguments, _KEYS, USAGE)
    dry = choice(given, "dry_run", ("no", "yes"), USAGE) == "yes"
    order = _order(given)
    dataset = HubDataset(repository(given, USAGE))
    found = findings(order.folder)
    if not dry:
        require_no_findings(found)
        require_login()
    planned = plan_push(dataset, order)
    _say(_difference_lines(dataset, order, planned))
    if dry:
        require_no_findings(found)
    require_possible(dataset, order, planned)
    if dry:
        _say(["Dry run: nothing was sent."])
        return EXIT_OK
    _say(_pushed_lines(dataset, order, push(dataset, order, planned)))
    return EXIT_OK


def _order(given: Mapping[str, str]) -> PushOrder:
    schema = choice(given, "schema", ("same", "replace"), USAGE)
    for name in ("revision", "tag", "folder"):
        if name in given and not given[name].strip():
            raise ConfigError(f"{name}= needs a value.\nUsage: {USAGE}")
    return PushOrder(
        folder=Path(given.get("folder", "release")),
        revision=given.get("revision", "main"),
        tag=given.get("tag"),
        private=choice(given, "private", ("yes", "no"), USAGE) == "yes",
        schema="replace" if schema == "replace" else "same",
    )


def _difference_lines(dataset: HubDataset, order: PushOrder, planned: Planned) -> list[str]:
    remote, found = planned.remote, planned.difference
    if not remote.exists:
        where = f"{dataset.repo} isn't there yet; it would be {'private' if order.private else 'public'}."
    else:
        at = "nothing yet" if remote.commit is None else f"commit {remote.commit[:12]}"
        where = f"{dataset.repo} ({'private' if remote.private else 'public'}), {order.revision}: {at}."
    changes = [f"  {_MARKS[change.kind]} {change.path}  {change.size:,} bytes" for change in found.changes]
    rows = [f"  {config}/{split}: {_change(old, new)}" for config, split, old, new in found.rows]
    schemas = [f"  {line}" for line in found.schemas]
    same = f"{found.unchanged:,} files are the same." if found.unchanged else ""
    return [line for line in (where, *changes, *rows, *schemas, same) if line]


def _change(old: int | None, new: int | None) -> str:
    if old is None:
        return f"new, {new:,} rows"
    return f"gone, {old:,} rows" if new is None else f"{old:,} to {new:,} rows"


def _pushed_lines(dataset: HubDataset, order: PushOrder, pushed: Pushed) -> list[str]:
    done = "Pushed in one commit" if pushed.made else "Nothing differed; the commit is"
    tag = f", tag {order.tag}" if order.tag else ""
    rows = sum(split.rows for split in pushed.reloaded)
    revision = order.tag or pushed.commit
    return [
        f"{done}: {pushed.commit}{tag}",
        f"Read back: {len(pushed.reloaded)} splits, {rows:,} rows; rows, schema and every value are as they were sent.",
        "",
        "Next:",
        f"  transplantqa pull repo={dataset.repo} revision={revision}",
    ]


def _say(lines: Sequence[str]) -> None:
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()
