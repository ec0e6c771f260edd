"""The command ``report``: writes the page of a finished run, now or again."""

import sys
from collections.abc import Sequence
from pathlib import Path

from transplantqa.errors import EXIT_OK, ConfigError
from transplantqa.report.page.write import write_page
from transplantqa.store.run_folder import open_run

USAGE = "transplantqa report RUN [RUN ...] [artifacts=DIR]"


def main(arguments: Sequence[str]) -> int:
    """Write the page of each run named and print its path; return the exit code.

    Raises:
        ConfigError: if no run is named.
        InputError: if one isn't found or isn't finished.
    """
    artifacts = Path("artifacts")
    references = []
    for argument in arguments:
        if argument.startswith("artifacts="):
            artifacts = Path(argument.removeprefix("artifacts="))
        else:
            references.append(argument.removeprefix("run="))
    if not references:
        raise ConfigError(f"Name at least one run.\nUsage: {USAGE}")
    for run in [open_run(artifacts, reference) for reference in references]:
        sys.stdout.write(f"{write_page(run)}\n")
    return EXIT_OK
