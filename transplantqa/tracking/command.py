"""The command ``track``: projects finished runs into their tracking store, now or again."""

import sys
from collections.abc import Mapping, Sequence

from transplantqa.config import build
from transplantqa.errors import EXIT_OK, StoreError
from transplantqa.store.run_folder import RunFolder, open_named
from transplantqa.tracking.mlflow_tracker import MLflow
from transplantqa.tracking.protocols import NoTracking, Tracker

USAGE = "transplantqa track RUN [RUN ...] [artifacts=DIR]"
_OURS = {f"transplantqa.tracking.{kind.__name__}" for kind in (MLflow, NoTracking)}


def main(arguments: Sequence[str]) -> int:
    """Track each run named, as its own configuration says; return the exit code.

    Raises:
        ConfigError: if no run is named.
        InputError: if one isn't found or isn't finished.
    """
    code = EXIT_OK
    for run in open_named(arguments, USAGE):
        tracked = tracker_of(run).track(run)
        if tracked.warning is not None:
            sys.stderr.write(f"{tracked.warning}\n")
            code = StoreError.exit_code
        else:
            sys.stdout.write(f"{run.system}: {tracked.command or 'not tracked'}\n")
    return code


def tracker_of(run: RunFolder) -> Tracker:
    """Return the tracker that the run's configuration names, when it is one of ours; else MLflow's default.

    A run's record may come from somewhere else, so nothing else that it names is made.
    """
    configured = run.config.get("tracking")
    if isinstance(configured, Mapping) and configured.get("_target_") in _OURS:
        tracker: Tracker = build(configured)
        return tracker
    return MLflow()
