"""CSV for people: a table that a spreadsheet opens as text."""

import csv
from pathlib import Path

from transplantqa.sheets import write_sheet


def test_no_cell_of_a_sheet_is_a_formula(tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    write_sheet(path, ("a", "b"), [("=1+1", "@x"), ("+49", None), ("plain, with comma", -5)])
    rows = list(csv.reader(path.read_text(encoding="utf-8-sig").splitlines()))
    assert rows[0] == ["a", "b"]
    assert all(not cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row)
    assert rows[3][0] == "plain, with comma"
