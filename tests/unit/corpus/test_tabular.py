"""Small tables that people write: each fault is told with its place, and none is repaired silently."""

import json
from pathlib import Path

import pytest

from transplantqa.corpus.questions import QuestionFile
from transplantqa.corpus.tabular import read_table
from transplantqa.errors import InputError


def faults_of(path: Path, content: str | bytes) -> str:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError) as caught:
        QuestionFile(path=str(path)).load() if path.suffix != ".yaml" else read_table(path, "documents")
    return str(caught.value)


@pytest.mark.parametrize("group", ["\ud800", "a\x00b"])
def test_items_of_a_list_must_be_text_too(tmp_path: Path, group: str) -> None:
    row = json.dumps({"id": "q", "text": "May I?", "groups": [group]})
    assert 'q.jsonl, line 1: "groups" has characters that are no text' in faults_of(tmp_path / "q.jsonl", row)


def test_columns_that_differ_by_case_alone_are_one_column_twice(tmp_path: Path) -> None:
    found = faults_of(tmp_path / "q.csv", "id,text,Text\n1,May I?,Who?\n")
    assert 'q.csv, line 1: the header names column "text" more than once' in found


def test_a_line_that_says_null_is_told(tmp_path: Path) -> None:
    found = faults_of(tmp_path / "q.jsonl", '{"id": "a", "text": "May I?"}\nnull\n')
    assert "q.jsonl, line 2: an object with named values is expected" in found


def test_a_file_that_says_null_is_told(tmp_path: Path) -> None:
    assert "a JSON list of questions is expected" in faults_of(tmp_path / "q.json", "null")


def test_a_yaml_key_given_twice_is_told_with_its_line(tmp_path: Path) -> None:
    found = faults_of(tmp_path / "m.yaml", "- path: a.pdf\n  institution: A\n  path: b.pdf\n")
    assert '"path" is given twice in one entry (line 3)' in found


def test_a_yaml_alias_to_itself_ends(tmp_path: Path) -> None:
    assert faults_of(tmp_path / "m.yaml", "- &a [*a]\n")


def test_a_cut_utf_16_file_is_not_taken_for_latin_1(tmp_path: Path) -> None:
    found = faults_of(tmp_path / "q.csv", "id,text\n1,May I?\n".encode("utf-16")[:-1])
    assert "not UTF-16 text" in found
    assert "Latin-1" not in found
