"""The command ``pull``: a pinned release from the Hub, as runs that every other command reads."""

import sys
from collections.abc import Sequence
from pathlib import Path

from transplantqa.cli import plain_arguments
from transplantqa.errors import EXIT_OK, ConfigError
from transplantqa.hub.arguments import refuse_tokens, repository
from transplantqa.hub.dataset import HubDataset
from transplantqa.hub.pull import Pulled, pull
from transplantqa.report.text import plain

USAGE = "transplantqa pull repo=OWNER/NAME revision=TAG_OR_COMMIT [artifacts=artifacts]"


def main(arguments: Sequence[str]) -> int:
    """Pull a release, say what was checked and what can be done with it; return the exit code.

    Raises:
        ConfigError: an argument is wrong, or no revision is named.
        InputError: there is no such release, or it isn't what its record says.
        HubUnavailableError: the Hub doesn't answer.
    """
    refuse_tokens(arguments)
    given = plain_arguments(arguments, ("repo", "revision", "artifacts"), USAGE)
    dataset = HubDataset(repository(given, USAGE))
    revision = given.get("revision", "").strip()
    if not revision:
        state = dataset.state("main")
        tags = ", ".join(sorted(state.tags)) or "none"
        raise ConfigError(
            f"revision: needs a value, so that the same command gives the same data tomorrow.\n"
            f"Tags of {dataset.repo}: {tags}. The newest commit: {state.commit or 'none'}.\nUsage: {USAGE}"
        )
    artifacts = given.get("artifacts") or "artifacts"
    pulled = pull(dataset, revision, Path(artifacts))
    sys.stdout.write("\n".join(_lines(dataset, pulled, artifacts)) + "\n")
    return EXIT_OK


def _lines(dataset: HubDataset, pulled: Pulled, artifacts: str) -> list[str]:
    lines = [f"{dataset.repo} at {pulled.commit}", f"  every file is as its record says: {pulled.folder}"]
    for found in pulled.runs:
        lines.append(f"{plain(found.run.system)}: {found.run.path}")
        same = found.verified - len(found.differing)
        lines.append(f"  {same:,} of {found.verified:,} published figures follow from the published rows")
        lines += [f"  {plain(line)}" for line in found.differing[:10]]
    where = "" if artifacts == "artifacts" else f" artifacts={artifacts}"
    paths = [str(found.run.path) for found in pulled.runs]
    commands = [f"  transplantqa report {paths[0]}"] if paths else []
    if len(paths) > 1:
        commands.append(f"  transplantqa contrast baseline={paths[0]} candidate={paths[1]}{where}")
    return [*lines, "", "Next:", *commands]
