"""Annotators' files: spreadsheets in many shapes, unknown spellings counted, missing labels missing."""

import json
from pathlib import Path

import pytest

from transplantqa.errors import InputError
from transplantqa.records import Label
from transplantqa.validation.annotations import Annotations, read_annotations

ITEMS = {"i1": "", "i2": "", "i3": ""}


def read(*files: Path, **spellings: Label) -> Annotations:
    return read_annotations(files, ITEMS, "s1", spellings)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("r1.csv", b"item,label\ni1,DIVERGENT\ni2,\n"),
        ("r1.csv", b"\xef\xbb\xbfItem;Label;Comment\r\ni1; divergent ;why\r\ni2;;\r\n"),
        ("r1.tsv", b"sample\titem\tquestion\tlabel\ns1\ti1\tx\tDivergent\ns1\ti2\ty\t\n"),
        ("r1.csv", "item\tlabel\ni1\tDIVERGENT\ni2\t\n".encode("utf-16")),
        ("r1.csv", b"item,label\r\n\r\ni1,DIVERGENT\r\ni2,\r\n,\r\n"),
        ("r1.jsonl", b'{"item": "i1", "label": "DIVERGENT"}\n{"item": "i2", "label": null}\n'),
        (
            "x.json",
            (
                b'[{"item": "i1", "annotator": "r1", "label": "DIVERGENT"},'
                b'{"item": "i2", "annotator": "r1", "label": null}]'
            ),
        ),
    ],
)
def test_a_file_is_read_in_whatever_shape_a_spreadsheet_left_it(tmp_path: Path, name: str, content: bytes) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    said = read(file).said
    assert list(said) == ["r1"]
    assert said["r1"]["i1"].label is Label.DIVERGENT
    assert said["r1"]["i2"].label is None
    assert "i3" not in said["r1"]


def test_unknown_spellings_are_counted_and_stay_missing(tmp_path: Path) -> None:
    file = tmp_path / "r1.csv"
    file.write_text("item,label\ni1,same\ni2,same\ni3,Konsistent\n")
    found = read(file)
    assert dict(found.unknown) == {"same": 2, "Konsistent": 1}
    assert {one.label for one in found.said["r1"].values()} == {None}


def test_a_spelling_that_is_explained_is_understood_in_any_case(tmp_path: Path) -> None:
    file = tmp_path / "r1.csv"
    file.write_text("item,label\ni1,Same\ni2,same\n")
    found = read(file, SAME=Label.CONSISTENT)
    assert not found.unknown
    assert {one.label for one in found.said["r1"].values()} == {Label.CONSISTENT}


def test_significance_counts_only_where_the_label_is_a_conflict(tmp_path: Path) -> None:
    file = tmp_path / "r1.csv"
    file.write_text("item,label,severity\ni1,DIVERGENT,High\ni2,CONSISTENT,low\ni3,CONTRADICTORY,awful\n")
    found = read(file)
    assert [found.said["r1"][item].significance for item in ITEMS] == ["high", None, None]
    assert found.unplaced == 1
    assert dict(found.unknown_significances) == {"awful": 1}


def test_files_of_one_annotator_add_up_and_a_blank_takes_nothing_away(tmp_path: Path) -> None:
    for name, rows in {"a.csv": "r1,i1,DIVERGENT\nr1,i2,\n", "b.csv": "r1,i1,\nr1,i2,ABSENT\n"}.items():
        (tmp_path / name).write_text("annotator,item,label\n" + rows)
    said = read(tmp_path / "a.csv", tmp_path / "b.csv").said["r1"]
    assert (said["i1"].label, said["i2"].label) == (Label.DIVERGENT, Label.ABSENT)


def test_every_fault_of_every_file_is_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "r1.csv").write_text("item,label\ni9,ABSENT\ni1,ABSENT\ni1,ABSENT\n")
    (tmp_path / "r2.csv").write_text("item,label\ni1;ABSENT,x,y\n")
    (tmp_path / "r3.csv").write_text("sample,item,label\ns2,i1,ABSENT\n")
    with pytest.raises(InputError) as caught:
        read(*(tmp_path / name for name in ("r1.csv", "r2.csv", "r3.csv", "r4.csv")))
    told = str(caught.value)
    for part in (
        'r1.csv, line 2: the sample has no item "i9"',
        'r1.csv, line 4: item "i1" of r1 was already on line 3',
        "r2.csv, line 2: 3 fields, 2 expected",
        'labels of sample "s2", not of s1',
        "r4.csv: there is no such file",
    ):
        assert part in told


def test_two_files_of_one_annotator_fill_in_each_other_and_may_not_rate_differently(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("annotator,item,label\nr1,i1,DIVERGENT\n")
    (tmp_path / "b.csv").write_text("annotator,item,label,significance\nr1,i1,DIVERGENT,low\n")
    (tmp_path / "c.csv").write_text("annotator,item,label,significance\nr1,i1,DIVERGENT,high\n")
    said = read(tmp_path / "a.csv", tmp_path / "b.csv").said["r1"]["i1"]
    assert (said.label, said.significance) == ("DIVERGENT", "low")
    with pytest.raises(InputError, match='r1 called item "i1" low in another file and high here'):
        read(tmp_path / "b.csv", tmp_path / "c.csv")


def test_two_files_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    for name, label in {"a.csv": "DIVERGENT", "b.csv": "ABSENT"}.items():
        (tmp_path / name).write_text(f"annotator,item,label\nr1,i1,{label}\n")
    with pytest.raises(InputError, match='r1 called item "i1" DIVERGENT in another file and ABSENT here'):
        read(tmp_path / "a.csv", tmp_path / "b.csv")


def test_two_files_of_one_name_are_not_taken_for_one_annotator(tmp_path: Path) -> None:
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "annotate.csv").write_text("item,label\ni1,ABSENT\n")
    with pytest.raises(InputError, match="whose labels are whose"):
        read(tmp_path / "x" / "annotate.csv", tmp_path / "y" / "annotate.csv")


@pytest.mark.parametrize("code", ["judge", "people", "r1~r2"])
def test_a_code_that_the_figures_use_is_refused(tmp_path: Path, code: str) -> None:
    file = tmp_path / f"{code}.csv"
    file.write_text("item,label\ni1,ABSENT\n")
    with pytest.raises(InputError, match="Give the annotator another code"):
        read(file)


def test_a_note_is_kept_and_nothing_is_run_or_read_from_it(tmp_path: Path) -> None:
    file = tmp_path / "r1.json"
    file.write_text(json.dumps([{"item": "i1", "label": "ABSENT", "note": "=1+1 <b>"}]))
    assert read(file).said["r1"]["i1"].note == "=1+1 <b>"
