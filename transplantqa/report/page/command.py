"""The command ``report``: writes the page of a finished run, now or again."""

import sys
from collections.abc import Sequence

from transplantqa.errors import EXIT_OK
from transplantqa.report.page.write import write_page
from transplantqa.store.run_folder import open_named

USAGE = "transplantqa report RUN [RUN ...] [artifacts=DIR]"


def main(arguments: Sequence[str]) -> int:
    """Write the page of each run named and print its path; return the exit code.

    Raises:
        ConfigError: if no run is named.
        InputError: if one isn't found or isn't finished.
    """
    for run in open_named(arguments, USAGE):
        sys.stdout.write(f"{write_page(run)}\n")
    return EXIT_OK
