"""Silent cells looked up by people: the sheet, what is read from it, and figures against values worked out by hand."""

from pathlib import Path

import pytest

from transplantqa.controls.drawing import Drawn
from transplantqa.controls.people import for_people, people_figures, read_sheet
from transplantqa.controls.ratios import Resampling
from transplantqa.controls.silence import Silence, SilentCell, Stratum
from transplantqa.errors import InputError
from transplantqa.records import Answer, Outcome

HOW = Resampling(200, 0, 0.95)


def cell(question: str, outcome: Outcome, probability: float) -> Drawn[SilentCell]:
    answer = Answer(question, "d", outcome, "t")
    return Drawn(SilentCell(question, "d", Stratum("retrieved", "g", "i"), answer, 1), probability)


FOUND = Silence(
    [
        cell("q1", Outcome.OK, 0.5),
        cell("q2", Outcome.ABSTAINED, 0.25),
        cell("q3", Outcome.OK, 0.25),
        cell("q4", Outcome.CONTEXT_OVERFLOW, 0.5),
    ],
    [],
    [],
    {"q1": (4, 2), "q2": (2, 4), "q3": (2, 4), "q4": (0, 2)},
)


def sheet(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(("item,question,addressed_yes_no,page,note", *lines)) + "\n", encoding="utf-8")
    return path


def items(count: int = 9) -> dict[str, str]:
    """Question to item of everything that people are asked."""
    return {one.item.question_id: item for item, one in for_people(FOUND, count, 0).items()}


def test_a_subset_for_people_counts_both_draws() -> None:
    (one,) = for_people(FOUND, 1, 0).values()
    drawn = next(each for each in FOUND.silent if each.item == one.item)
    assert one.probability == pytest.approx(drawn.probability / 4)


def test_an_item_is_the_same_cell_whatever_else_is_asked() -> None:
    assert for_people(FOUND, 2, 0).keys() <= for_people(FOUND, 4, 0).keys()


def test_figures_weigh_cells_by_the_draw_and_leave_out_what_nobody_looked_up() -> None:
    """q1 and q2 addressed, q3 not, of weights 2, 4, 4; the probe found q1 and q3; q4 failed and nobody looked."""
    named = items()
    said = {named["q1"]: True, named["q2"]: True, named["q3"]: False}
    found = people_figures(FOUND, for_people(FOUND, 9, 0), said, HOW)
    assert found["people_false_absence_rate"].value == pytest.approx(6 / 10)
    assert found["people_corrected_absence_rate"].value == pytest.approx((12 - 12 * 0.6) / 20)
    assert found["probe_right_by_people"].value == pytest.approx(2 / 10)
    assert found["people_false_absence_rate"].n == found["probe_right_by_people"].n == 3


def test_a_cell_whose_probe_failed_counts_for_the_silence_and_not_for_the_probe() -> None:
    found = people_figures(FOUND, for_people(FOUND, 9, 0), {items()["q4"]: True}, HOW)
    assert found["people_false_absence_rate"].value == 1.0
    assert found["probe_right_by_people"].value is None


def test_a_sheet_that_nobody_filled_in_says_nothing(tmp_path: Path) -> None:
    path = sheet(tmp_path / "s.csv", *(f"{item},?,,," for item in items().values()))
    asked = for_people(FOUND, 9, 0)
    assert people_figures(FOUND, asked, read_sheet(path, asked), HOW) == {}


def test_yes_and_no_are_read_and_blanks_stay_missing(tmp_path: Path) -> None:
    named = items()
    path = sheet(tmp_path / "s.csv", f"{named['q1']},?, Yes ,4,", f"{named['q2']},?,N,,", f"{named['q3']},?,,,looked")
    assert read_sheet(path, for_people(FOUND, 9, 0)) == {named["q1"]: True, named["q2"]: False}


def test_every_fault_of_a_sheet_is_told_with_its_line(tmp_path: Path) -> None:
    named = items()
    path = sheet(
        tmp_path / "s.csv",
        f"{named['q1']},?,maybe,,",
        "c000000000000,?,yes,,",
        f"{named['q2']},?,yes,,",
        f"{named['q2']},?,no,,",
    )
    with pytest.raises(InputError) as refused:
        read_sheet(path, for_people(FOUND, 9, 0))
    message = str(refused.value)
    assert 'line 2: "maybe" is neither yes nor no' in message
    assert 'line 3: item "c000000000000" is none of the cells drawn' in message
    assert f'line 5: item "{named["q2"]}" is called both yes and no' in message
