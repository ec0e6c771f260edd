"""Which rows of a table name its columns."""

from pathlib import Path

import pytest

from transplantqa.corpus.html_files import read_html
from transplantqa.corpus.lines import Line
from transplantqa.corpus.tables import header_rows
from transplantqa.corpus.text_files import read_markdown

WORDS = ["Pill | Reason", "Prednisone | keeps the body from rejecting the organ", "Bactrim | wards off infections"]


def rows(*texts: str, bold: int = 0, marked: int = 0) -> list[Line]:
    return [Line(1, text, kind="row", bold=n < bold, header=n < marked) for n, text in enumerate(texts)]


@pytest.mark.parametrize(
    ("lines", "count"),
    [
        (rows("Day | Dose", "1 | 20 mg", "2 | 15 mg"), 1),
        (rows("Dose | Dose | Dose", "Day | Morning | Evening", "1 | 5 | 5", "2 | 4 | 4"), 2),
        (rows("1 | 20 mg", "2 | 15 mg", "3 | 10 mg"), 0),
        (rows("Week 1 | Week 2", "rest | walk", "sleep | swim", bold=1), 1),
        (rows("Week 1 | Week 2", "rest | walk", "sleep | swim", marked=1), 1),
        (rows(*WORDS), 1),
        (rows("Call | us", "Write | us"), 0),
        (rows("a long cell that tells what to do on the first day at home | b", "c | d", "e | f and more"), 0),
    ],
    ids=["numbers", "two rows", "no header", "bold", "marked", "words", "two rows of words", "sentences"],
)
def test_rows_that_name_columns_are_told_from_others(lines: list[Line], count: int) -> None:
    assert header_rows(lines) == count


def header(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    (part,) = (read_html if path.suffix == ".html" else read_markdown)(path).parts
    ((start, end, _),) = part.tables
    return part.text[start:end]


def test_a_header_marked_in_html_is_one(tmp_path: Path) -> None:
    table = "<tr><th>Week 1</th><th>2</th></tr><tr><th>rest</th><td>3</td></tr><tr><td>x</td><td></td></tr>"
    assert header(tmp_path / "a.html", f"<table>{table}</table>") == "Week 1 | 2"


def test_a_header_over_a_rule_in_markdown_is_one(tmp_path: Path) -> None:
    assert header(tmp_path / "a.md", "| Week 1 | 2 |\n|---|---|\n| rest | 3 |\n| walk | 4 |\n") == "Week 1 | 2"
