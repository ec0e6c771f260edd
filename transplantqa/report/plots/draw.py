"""Figures of findings: each function takes plain rows and returns a drawing, or None where there is nothing to draw."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from transplantqa.records import Label
from transplantqa.report.text import plain, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Row = Mapping[str, Any]
CONFLICT, SILENT, ANSWERED, FAILED = "#b33e26", "#9aa7b2", "#2f7d6b", "#6a3d9a"
WIDTH = 6.5
"""Inches: a page's text."""
LONGEST_NAME = 44
MOST_MEMBERS = 25
"""Members of a stratum, or themes, that fit a figure; the tables have all."""


def strata(rows: Sequence[Row], title: str) -> "Figure | None":
    """Draw pooled divergence by member with its interval; rows of ``measures``, the order of them from the top."""
    shown = [row for row in rows if row["value"] is not None][:MOST_MEMBERS]
    if not shown:
        return None
    figure, axes = _axes(0.8 + 0.26 * len(shown))
    places = np.arange(len(shown))[::-1]
    for place, row in zip(places, shown, strict=True):
        if row["low"] is not None:
            axes.plot([row["low"], row["high"]], [place, place], color=CONFLICT, linewidth=1.5)
    axes.scatter([row["value"] for row in shown], places, color=CONFLICT, s=22, zorder=3, clip_on=False)
    _names(axes, places, [f"{shortened(row['member'], LONGEST_NAME)} ({row['denominator']:,.0f})" for row in shown])
    axes.set_xlim(0, min(1.0, 1.05 * max(row["high"] or row["value"] for row in shown) or 1.0))
    axes.set_ylim(-0.6, len(shown) - 0.4)
    axes.set_xlabel(f"share of visible pairs in conflict, {title} (visible pairs)")
    return figure


def labels(rows: Sequence[Row]) -> "Figure | None":
    """Draw each label's share of decided pairs with its interval; rows of ``labels``."""
    found = {row["measure"].removeprefix("label/"): row for row in rows if row["measure"].startswith("label/")}
    shown = [(str(label), found[label]) for label in Label if label in found and found[label]["value"] is not None]
    if not shown:
        return None
    figure, axes = _axes(0.8 + 0.3 * len(shown))
    places = np.arange(len(shown))[::-1]
    colours = {"ABSENT": SILENT, "DIVERGENT": CONFLICT, "CONTRADICTORY": CONFLICT}
    values = [row["value"] for _, row in shown]
    axes.barh(places, values, color=[colours.get(label, ANSWERED) for label, _ in shown], height=0.6)
    for place, (_, row) in zip(places, shown, strict=True):
        if row["low"] is not None:
            axes.plot([row["low"], row["high"]], [place, place], color="black", linewidth=1)
    _names(axes, places, [label for label, _ in shown])
    axes.set_xlabel(f"share of {shown[0][1]['denominator']:,.0f} decided pairs")
    return figure


def dependence(rows: Sequence[Row]) -> "Figure | None":
    """Draw every question's source-dependence, the highest first, parted into silence and conflict."""
    shown = [row for row in rows if row["source_dependence_index"] is not None]
    if not shown:
        return None
    figure, axes = _axes(2.6)
    silence = np.array([row["source_dependence_silence"] for row in shown])
    conflict = np.array([row["source_dependence_conflict"] for row in shown])
    edges = np.arange(len(shown) + 1)
    axes.stairs(silence, edges, fill=True, color=SILENT, label="one of two sources is silent")
    axes.stairs(silence + conflict, edges, baseline=silence, fill=True, color=CONFLICT, label="the two conflict")
    axes.set(xlim=(0, len(shown)), ylim=(0, 1), xlabel="questions, ranked", ylabel="source dependence")
    _legend_above(axes)
    return figure


def themes(rows: Sequence[Row]) -> "Figure | None":
    """Draw the largest themes by instances, with the part that was rated high."""
    shown = rows[:MOST_MEMBERS]
    if not shown:
        return None
    figure, axes = _axes(0.8 + 0.26 * len(shown))
    places = np.arange(len(shown))[::-1]
    axes.barh(places, [row["instances"] for row in shown], color=SILENT, height=0.65, label="conflicting pairs")
    axes.barh(places, [row["high"] for row in shown], color=CONFLICT, height=0.65, label="rated high")
    _names(axes, places, [shortened(row["theme"], LONGEST_NAME) for row in shown])
    axes.set_xlabel("conflicting pairs")
    _legend_above(axes)
    return figure


def coverage(rows: Sequence[str], documents: int) -> "Figure | None":
    """Draw which document (column) answered which question (row): codes as in ``page.coverage``."""
    from matplotlib.colors import ListedColormap  # noqa: PLC0415 - heavy
    from matplotlib.patches import Patch  # noqa: PLC0415

    if not rows or not documents:
        return None
    states = {" ": ("white", "not asked"), "a": (ANSWERED, "answered"), "s": (SILENT, "silent")}
    states |= {"r": ("#5f7383", "silent by retrieval"), "f": (FAILED, "failed")}
    codes = {code: place for place, code in enumerate(states)}
    figure, axes = _axes(3.4)
    grid = np.array([[codes[code] for code in row] for row in rows])
    colours = ListedColormap([colour for colour, _ in states.values()])
    axes.imshow(grid, cmap=colours, vmin=0, vmax=len(states) - 1, aspect="auto", interpolation="nearest")
    axes.set(xlabel=f"{documents:,} documents, by institution", ylabel=f"{len(rows):,} questions")
    axes.set_xticks([])
    axes.set_yticks([])
    seen = {code for row in rows for code in row}
    patches = [Patch(color=colour, label=words) for code, (colour, words) in states.items() if code in seen - {" "}]
    _legend_above(axes, handles=patches)
    return figure


def institutions(names: Sequence[str], matrix: Sequence[Sequence[Row | None]]) -> "Figure | None":
    """Draw the share of visible pairs in conflict between institutions, in the order given."""
    if not names:
        return None
    values = np.array([[np.nan if cell is None else cell["rate"] for cell in row] for row in matrix], dtype=np.float64)
    figure, axes = _axes(min(6.5, 1.6 + 0.24 * len(names)))
    image = axes.imshow(values, cmap="Oranges", vmin=0, vmax=np.nanmax(values) if np.isfinite(values).any() else 1)
    _names(axes, np.arange(len(names)), [shortened(name, 28) for name in names])
    axes.set_xticks([])
    figure.colorbar(image, label="share in conflict")
    return figure


def decomposition(terms: Sequence[Row], rate: str) -> "Figure | None":
    """Draw the terms of a change in points with their intervals; rows of a contrast's ``terms``, the change first."""
    shown = [row for row in terms if row["rate"] == rate]
    if not shown:
        return None
    figure, axes = _axes(0.8 + 0.3 * len(shown))
    places = np.arange(len(shown))[::-1]
    colours = [SILENT if row["term"] == "change" else (CONFLICT if row["points"] > 0 else ANSWERED) for row in shown]
    axes.barh(places, [row["points"] for row in shown], color=colours, height=0.55, alpha=0.8)
    for place, row in zip(places, shown, strict=True):
        if row["low"] is not None:
            axes.plot([row["low"], row["high"]], [place, place], color="#777777", linewidth=1)
    axes.axvline(0, color="black", linewidth=0.8)
    _names(axes, places, [row["term"].replace("_", " ") for row in shown])
    axes.set_xlabel(f"{rate.replace('_', ' ')}, percentage points")
    return figure


def _legend_above(axes: "Axes", **given: Any) -> None:
    """Keep the legend off the bars, which may fill the whole drawing."""
    axes.legend(frameon=False, fontsize=8, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0), **given)


def _axes(height: float) -> "tuple[Figure, Axes]":
    from matplotlib.figure import Figure  # noqa: PLC0415 - heavy

    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8)
    axes.xaxis.label.set_fontsize(9)
    axes.yaxis.label.set_fontsize(9)
    return figure, axes


def _names(axes: "Axes", places: Any, names: Sequence[str]) -> None:
    """Set names of foreign text at the left: never read as mathematics, which a dollar sign would start."""
    axes.set_yticks(places)
    axes.set_yticklabels([plain(name) for name in names], parse_math=False)
