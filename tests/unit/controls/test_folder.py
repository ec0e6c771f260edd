import csv
from collections.abc import Callable

from transplantqa.controls.folder import control_sentences, controls_folder, write_control
from transplantqa.controls.sheets import write_sheet
from transplantqa.store.run_folder import RunFolder


def test_no_cell_of_a_sheet_is_a_formula(write_run: Callable[..., RunFolder]) -> None:
    run = write_run()
    path = controls_folder(run) / "sheet.csv"
    write_sheet(path, ("a", "b"), [("=1+1", "@x"), ("+49", None), ("plain, with comma", -5)])
    rows = list(csv.reader(path.read_text(encoding="utf-8-sig").splitlines()))
    assert rows[0] == ["a", "b"]
    assert all(not cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row)
    assert rows[3][0] == "plain, with comma"


def test_what_controls_found_is_said_with_the_run(write_run: Callable[..., RunFolder]) -> None:
    run = write_run()
    assert control_sentences(run) == []
    write_control(run, "b", {"sentences": ["Second."]})
    write_control(run, "a", {"sentences": ["First."]})
    (controls_folder(run) / "c.json").write_text("{", encoding="utf-8")
    assert control_sentences(run)[:2] == ["First.", "Second."]
    assert "can't be read" in control_sentences(run)[2]
