"""Figures written beside a run, as SVG and PNG, and the same SVG made fit to stand inside a page."""

import io
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transplantqa.report.plots import draw
from transplantqa.store.atomic import refusals, write_atomically

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURES_FOLDER = "figures"
DOTS_PER_INCH = 200
_STYLE = {
    "svg.fonttype": "none",  # text stays text: to be searched, and in the page's own font
    "svg.hashsalt": "transplantqa",  # ids that are the same each time
    "font.family": "sans-serif",
}
_BLACK = re.compile(r"#000000|\bblack\b")
_PROLOGUE = re.compile(r"^.*?(?=<svg)|<metadata>.*?</metadata>", re.DOTALL)
_NAMESPACES = re.compile(r' xmlns(?::\w+)?="[^"]*"')
_GROUP_IDS = re.compile(r'(<g) id="[^"]*"')
_SIZE = re.compile(
    r'(<svg[^>]*?) width="[^"]*"([^>]*?) height="[^"]*"|(<svg[^>]*?) height="[^"]*"([^>]*?) width="[^"]*"'
)


def drawn(content: Mapping[str, Any]) -> "dict[str, Figure]":
    """Return figures by name from a page's content; those with nothing to show are left out."""
    grid = content["coverage"]
    found = {
        "labels": draw.labels(content["label_rows"]),
        **{
            f"divergence_{title.lower().replace(' ', '_')}": draw.strata(rows, title.lower())
            for title, rows, _ in content["strata"]
        },
        "source_dependence": draw.dependence(content["dependence_rows"]),
        "themes": draw.themes(content["themes"]["rows"]),
        "coverage": draw.coverage(grid.rows, len(grid.documents)),
        "institutions": draw.institutions(content["institutions"]["names"], content["institutions"]["matrix"]),
    }
    for contrast in content["contrasts"]:
        found[f"decomposition_{contrast['id']}"] = draw.decomposition(contrast["term_rows"], "any_divergence_rate")
    return {name: figure for name, figure in found.items() if figure is not None}


def write_figures(content: Mapping[str, Any], folder: Path) -> dict[str, str]:
    """Draw a page's figures, write each as SVG and PNG into ``folder``, and return the SVGs by name.

    Raises:
        StoreError: the disk refuses.
    """
    with _drawing():
        figures = drawn(content)
        if figures:
            with refusals("write", folder):
                folder.mkdir(parents=True, exist_ok=True)
        made = {}
        for name, figure in figures.items():
            made[name] = _saved(figure, "svg").decode("utf-8")
            figure.set_layout_engine("none")  # laid out once
            write_atomically(folder / f"{name}.svg", made[name].encode("utf-8"))
            write_atomically(folder / f"{name}.png", _saved(figure, "png"))
        return made


def inline(svg: str) -> str:
    """Return an SVG for a page: its width is the page's, what is black there takes the page's own ink."""
    bare = _NAMESPACES.sub("", _PROLOGUE.sub("", svg)).replace("xlink:href", "href")
    return _BLACK.sub("currentColor", _GROUP_IDS.sub(r"\1", _SIZE.sub(r"\1\2\3\4", bare, count=1)))


def _saved(figure: "Figure", kind: str) -> bytes:
    buffer = io.BytesIO()
    metadata: dict[str, Any] = {"Date": None} if kind == "svg" else {"Software": None}
    figure.savefig(buffer, format=kind, dpi=DOTS_PER_INCH, transparent=kind == "svg", metadata=metadata)
    return buffer.getvalue()


@contextmanager
def _drawing() -> Iterator[None]:
    """Draw in our style; scripts that the packaged font lacks are boxes in the PNG and text in the SVG, unremarked."""
    import matplotlib as mpl  # noqa: PLC0415 - heavy

    with mpl.rc_context(_STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield
