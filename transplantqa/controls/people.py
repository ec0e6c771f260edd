"""Silent cells that people look up in their documents: the sheet they fill in, and what it says of the silence."""

from collections.abc import Mapping
from pathlib import Path

from transplantqa.controls.drawing import Drawn, thinned
from transplantqa.controls.ratios import Part, Ratio, Resampling, ratio
from transplantqa.controls.silence import Finding, Silence, SilentCell, corrected_absence, false_absence
from transplantqa.corpus.tabular import find_columns, read_table, text_value
from transplantqa.retrieval.protocols import SourceDocument
from transplantqa.sheets import write_sheet
from transplantqa.stages import Readings
from transplantqa.store import digest

SHEET_COLUMNS = ("item", "question", "document", "file", "addressed_yes_no", "page", "note")
SHEET_ROWS = "cells looked up"
_READ = {"item": ("item",), "addressed": ("addressed_yes_no", "addressed")}
_SAID = {"yes": True, "y": True, "no": False, "n": False}
_ID_CHARACTERS = 12

LookedUp = Mapping[str, Drawn[SilentCell]]
"""Item of the sheet to a silent cell, with the probability that it got there."""


def for_people(found: Silence, count: int, seed: int) -> dict[str, Drawn[SilentCell]]:
    """Choose silent cells for people by chance, in an order that says nothing of what the probe found.

    An item's id follows from its cell, so that a sheet can be read whatever else was drawn beside it.
    """
    cells = {f"c{digest([one.item.question_id, one.item.document_id])[:_ID_CHARACTERS]}": one for one in found.silent}
    names, probability = thinned(list(cells), count, seed, "people")
    return {name: Drawn(cells[name].item, cells[name].probability * probability) for name in names}


def write_for_people(path: Path, asked: LookedUp, readings: Readings) -> None:
    """Write the sheet: a row a cell, with nothing of what the probe found.

    Raises:
        StoreError: the disk refuses.
    """
    write_sheet(path, SHEET_COLUMNS, [_row(item, one.item, readings) for item, one in asked.items()])


def read_sheet(path: Path, asked: LookedUp) -> dict[str, bool]:
    """Return whether people found a question addressed, by item; a cell that nobody looked up is missing.

    Raises:
        InputError: the file can't be read, or what it says can't be taken as it stands; every fault.
    """
    rows, problems = read_table(path, SHEET_ROWS)
    columns = find_columns(rows, _READ, set(_READ), problems)
    said: dict[str, bool] = {}
    for row in rows:
        item, written = (text_value(row, columns[name], problems) for name in _READ)
        if not written:
            continue
        addressed = _SAID.get(written.casefold())
        if addressed is None:
            problems.add(row.line, f'"{written}" is neither yes nor no.', "Write yes, no, or nothing.")
        elif item not in asked:
            problems.add(
                row.line,
                f'item "{item}" is none of the cells drawn.',
                "Probe with the settings of the sheet (seed, silent_cells, people); else move the sheet away.",
            )
        elif said.setdefault(item, addressed) != addressed:
            problems.add(row.line, f'item "{item}" is called both yes and no.', "Keep one of them.")
    problems.raise_any()
    return said


def people_figures(found: Silence, asked: LookedUp, said: Mapping[str, bool], how: Resampling) -> dict[str, Ratio]:
    """Return what people's answers say, design-weighted: of the silence, and of the probe itself."""
    if not said:
        return {}
    looked_up = {item: asked[item] for item in sorted(said)}
    findings = [Finding(one.item.question_id, one.weight, said[item]) for item, one in looked_up.items()]
    parts = (
        Part(one.item.question_id, one.weight * (one.item.found == said[item]), one.weight)
        for item, one in looked_up.items()
        if one.item.decided
    )
    return {
        "people_false_absence_rate": false_absence(findings, how),
        "people_corrected_absence_rate": corrected_absence(findings, found.cells, how),
        "probe_right_by_people": ratio(parts, how),
    }


def _row(item: str, cell: SilentCell, readings: Readings) -> tuple[str | None, ...]:
    source: SourceDocument = readings.sources[cell.document_id]
    question = readings.questions[cell.question_id].text
    return (item, question, source.document.title, source.document.source_file, None, None, None)
