"""Foreign text made safe for a terminal, and figures made readable."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from rich.markup import escape

_CONTROL = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # an ANSI sequence, whole
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # an operating-system command: titles, links
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f]"
    r"|[\u200e\u200f\u202a-\u202e\u2066-\u2069]"  # direction overrides reorder what a reader sees
)

LONG_NAME = 20
"""Characters of a system's name that fit over a column of figures; ours."""


def plain(text: str) -> str:
    """Return text without control characters and terminal sequences; line breaks and tabs stay."""
    return _CONTROL.sub("", text.replace("\r\n", "\n"))


def safe(text: object) -> str:
    """Return text of a document or model fit for rich: nothing in it is markup or moves the cursor."""
    return escape(plain(str(text)))


def shortened(text: str, length: int) -> str:
    """Return one line of at most ``length`` characters, cut with an ellipsis."""
    line = " ".join(plain(text).split())
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"


def told_apart(names: Sequence[str]) -> list[str]:
    """Return names for the heads of columns: where one is long, without the parts that all begin or end with.

    Parts are what stands between underscores; each name keeps one at least.

    >>> told_apart(["baseline_rules_weights=small.gguf", "baseline_structured_weights=small.gguf"])
    ['rules', 'structured']
    """
    if len(names) < 2 or max(map(len, names)) <= LONG_NAME:
        return list(names)
    split = [name.split("_") for name in names]
    spare = min(map(len, split)) - 1
    first = _shared(split, spare)
    last = _shared([parts[::-1] for parts in split], spare - first)
    return ["_".join(parts[first : len(parts) - last]) for parts in split]


def _shared(split: Sequence[Sequence[str]], most: int) -> int:
    """Count the leading parts that all have in common, up to ``most``."""
    same = 0
    while same < most and len({parts[same] for parts in split}) == 1:
        same += 1
    return same


def figure_text(figure: Mapping[str, Any] | None) -> str:
    """Return a figure as ``0.412 of 78 [0.310,0.520]``; a dash where there is no value."""
    if figure is None:
        return "-"
    value = "-" if figure["value"] is None else number(figure["value"])
    of = f" of {figure['n']:,}" if isinstance(figure.get("n"), int) else ""
    interval = f" [{number(figure['lo'])},{number(figure['hi'])}]" if "lo" in figure and "hi" in figure else ""
    return f"{value}{of}{interval}"


def number(value: float) -> str:
    """Return a number with three decimals, or none where it is a whole number above one."""
    if float(value).is_integer() and abs(value) > 1:
        return f"{int(value):,}"
    return f"{value:.3f}"


def duration(seconds: float) -> str:
    """Return a time span as ``8 s``, ``3 min 20 s`` or ``2 h 5 min``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
