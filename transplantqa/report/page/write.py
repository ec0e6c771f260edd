"""The page rendered and written: one file, nothing fetched, every foreign text escaped."""

import base64
import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transplantqa.report.page.collect import page_content
from transplantqa.report.page.coverage import STATES
from transplantqa.report.page.detail import Bounds
from transplantqa.report.plots import FIGURES_FOLDER, write_figures
from transplantqa.report.plots.files import inline
from transplantqa.report.relations import FAILED_MARK, RELATION_MARKS
from transplantqa.report.spreadsheets import SPREADSHEETS_FOLDER, write_spreadsheets
from transplantqa.report.text import duration, figure_text, number, plain
from transplantqa.store.atomic import write_atomically
from transplantqa.store.run_folder import RunFolder

if TYPE_CHECKING:
    from jinja2 import Environment

REPORT_FILE = "report.html"
TEMPLATES = Path(__file__).parent / "templates"
_UNSAFE_IN_SCRIPT: dict[str, str | int | None] = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}


def write_page(run: RunFolder, bounds: Bounds | None = None) -> Path:
    """Write ``report.html`` into a run's folder, over an earlier one, and return its path.

    The figures go beside it as SVG and PNG, the tables of findings as CSV.

    Raises:
        InputError: if the run isn't finished.
        StoreError: the disk refuses.
    """
    path = run.path / REPORT_FILE
    content = page_content(run, bounds or Bounds())
    figures = write_figures(content, run.path / FIGURES_FOLDER)
    write_atomically(path, page(content, figures).encode("utf-8", "replace"))
    write_spreadsheets(run, run.path / SPREADSHEETS_FOLDER)
    return path


def page(content: Mapping[str, Any], figures: Mapping[str, str]) -> str:
    """Return the HTML of a page's content, with the figures that it has a place for: SVG by name."""
    grid, details = content["coverage"], content["detail"]
    script = (TEMPLATES / "script.js").read_text(encoding="utf-8")
    data = {
        "documents": content["documents"],
        "rows": grid.rows,
        "questions": grid.questions,
        "states": STATES,
        "marks": {mark: label.lower() for label, mark in RELATION_MARKS.items()} | {FAILED_MARK: "not decided"},
        "detail": details.questions,
    }
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            **content,
            figures={name: inline(svg) for name, svg in figures.items()},
            states=STATES,
            style=(TEMPLATES / "style.css").read_text(encoding="utf-8"),
            script=script,
            script_hash=_source_hash(script),
            data=script_json(data),
        )
    )


def script_json(value: Any) -> str:
    """Return JSON that can stand inside a script element: no character of it can end the element or open another."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(str.maketrans(_UNSAFE_IN_SCRIPT))


def _source_hash(script: str) -> str:
    """Return what the page's content security policy names its only script by."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415
    from markupsafe import Markup  # noqa: PLC0415

    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"figure": figure_text, "number": number, "plain": plain, "duration": duration}
    made.filters["ours"] = Markup  # our own style, script and JSON; nothing else passes through it
    return made
