"""The processor cores that this process may use: on a shared machine or in a job they are fewer than there are."""

import os


def usable_cores() -> int:
    """Return how many cores the system lets this process run on, where it says; else all."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
