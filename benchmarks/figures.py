"""What every benchmark prints: one object with its figures, each with its unit and, where there is one, its target."""

import argparse
import json
import operator
import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Literal

_COMPARISONS = {"<=": operator.le, ">=": operator.ge, "==": operator.eq}


@dataclass(frozen=True, slots=True)
class Target:
    """What a figure must be, such as ``<= 5``."""

    comparison: Literal["<=", ">=", "=="]
    value: float

    def __str__(self) -> str:
        """Return the target as it is printed."""
        return f"{self.comparison} {self.value:g}"


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number; ``met`` is null where there is no target."""

    name: str
    value: float
    unit: str
    target: str | None
    met: bool | None


def figure(name: str, value: float, unit: str, target: Target | None = None) -> Figure:
    """Make a figure, compared with its target."""
    if target is None:
        return Figure(name, value, unit, None, None)
    return Figure(name, value, unit, str(target), bool(_COMPARISONS[target.comparison](value, target.value)))


def main(benchmark: str, measure: Callable[[bool], Sequence[Figure]], arguments: Sequence[str] | None = None) -> int:
    """Run a benchmark from the command line: ``--quick`` ends within 50 seconds, ``--json`` prints the object alone.

    Args:
        benchmark: its name.
        measure: takes whether to be quick and returns the figures.
        arguments: those of the command line by default.

    Returns:
        0 when every target is met, else 1.
    """
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{benchmark}")
    parser.add_argument("--quick", action="store_true", help="smaller sizes, at most 50 seconds")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    options = parser.parse_args(arguments)
    figures = list(measure(options.quick))
    if options.json:
        print(json.dumps(report(benchmark, figures, options.quick), ensure_ascii=False))
    else:
        print(table(figures))
    return 0 if all(found.met is not False for found in figures) else 1


def report(benchmark: str, figures: Sequence[Figure], quick: bool) -> dict[str, object]:
    """Return the object that ``--json`` prints."""
    return {
        "benchmark": benchmark,
        "quick": quick,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": {"system": platform.platform(), "cpus": os.cpu_count(), "python": platform.python_version()},
        "load_average_1min": os.getloadavg()[0],
        "figures": [asdict(found) for found in figures],
    }


def table(figures: Sequence[Figure]) -> str:
    """Return the figures as aligned lines."""
    width = max((len(found.name) for found in figures), default=0)
    return "\n".join(_line(found, width) for found in figures)


def _line(found: Figure, width: int) -> str:
    mark = {True: "met", False: "MISSED", None: ""}[found.met]
    return f"{found.name:<{width}}  {found.value:>12.4g} {found.unit:<10}  {found.target or '':<10} {mark}".rstrip()
