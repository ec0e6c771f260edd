from io import StringIO
from typing import Any

from rich.console import Console

from transplantqa.report.documents import documents_read


def row(document_id: str, *reasons: str) -> dict[str, Any]:
    return {
        "document_id": document_id,
        "institution": "North",
        "group": "a",
        "phase": None,
        "pages": 3,
        "sections": [1, 2],
        "chunks": [1],
        "characters": 4321,
        "verdict": "review" if reasons else "accept",
        "reasons": list(reasons),
    }


def printed(*rows: dict[str, Any], width: int = 100) -> str:
    output = StringIO()
    Console(file=output, width=width).print(documents_read(rows))
    return output.getvalue()


def test_a_reason_is_read_whole_in_a_narrow_terminal() -> None:
    reason = "page 3: no text, the page is a picture"
    assert f"  {reason}" in printed(row("north_guide", reason), width=60)


def test_a_document_without_reasons_has_its_line_in_the_table_alone() -> None:
    assert printed(row("north_guide")).count("north_guide") == 1


def test_what_looks_like_markup_stays_text() -> None:
    assert "[bold]x" in printed(row("north_guide", "[bold]x"))


def test_a_reason_of_every_document_is_told_once() -> None:
    shown = printed(row("a", "no group given", "page 2: garbled"), row("b", "no group given"))
    assert shown.count("no group given") == 1
    assert shown.index("every document") < shown.index("page 2: garbled")


def test_a_column_without_any_value_is_left_out() -> None:
    assert "phase" not in printed(row("a"))
