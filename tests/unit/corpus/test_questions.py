"""Question files of the shapes people bring: read right, or one message with file, line and remedy."""

from collections.abc import Callable
from pathlib import Path

import pytest

from transplantqa.corpus import QuestionFile
from transplantqa.errors import InputError
from transplantqa.records import Question

Load = Callable[..., tuple[Question, ...]]


def ids(questions: tuple[Question, ...]) -> list[str]:
    return [question.question_id for question in questions]


def test_every_column_is_read(load: Load) -> None:
    questions = load(
        "id,text,groups,topics,subtopics,source\nq1,May I swim?,kidney|liver,Lifestyle,Exercise | Water,forum\n"
    )
    assert questions == (
        Question("q1", "May I swim?", ("kidney", "liver"), ("Lifestyle",), ("Exercise", "Water"), "forum"),
    )


def test_the_longer_column_names_are_known(load: Load) -> None:
    questions = load("Question_ID,Question,Group,Topic,Subtopic\nq1,May I swim?,kidney,Lifestyle,Water\n")
    assert questions[0] == Question("q1", "May I swim?", ("kidney",), ("Lifestyle",), ("Water",))


def test_a_question_without_group_is_general(load: Load) -> None:
    assert load("id,text,group\nq1,May I swim?,\n")[0].groups == ()


def test_a_byte_order_mark_is_no_part_of_the_header(load: Load) -> None:
    assert ids(load(b"\xef\xbb\xbfid,text\nq1,May I swim?\n")) == ["q1"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_read(load: Load, encoding: str) -> None:
    assert load("id,text\nq1,Größe?\n".encode(encoding))[0].text == "Größe?"


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_any_line_end_is_read(load: Load, newline: str) -> None:
    assert ids(load(newline.join(["id,text", "q1,May I swim?", "q2,May I fly?", ""]))) == ["q1", "q2"]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_delimiter_is_the_headers(load: Load, delimiter: str) -> None:
    assert ids(load(f"id{delimiter}text\nq1{delimiter}May I swim?\n")) == ["q1"]


def test_ids_and_groups_stay_text(load: Load) -> None:
    questions = load("id,text,group\nNA,One?,None\nnull,Two?,NA\n007,Three?,1.0\n")
    assert [(q.question_id, q.groups) for q in questions] == [("NA", ("None",)), ("null", ("NA",)), ("007", ("1.0",))]


def test_ids_unsafe_as_paths_are_legal(load: Load) -> None:
    assert ids(load('id,text\n../../q1,One?\nq/2,Two?\n"q:3*?",Three?\n')) == ["../../q1", "q/2", "q:3*?"]


def test_a_quoted_line_break_is_kept(load: Load) -> None:
    assert load('id,text\nq1,"What if\nI have a fever?"\n')[0].text == "What if\nI have a fever?"


def test_json_lines_are_split_at_line_feeds_only(load: Load) -> None:
    content = '{"id": "q1", "text": "May I\u2028fly?"}\n\n{"id": "q2", "text": "May I run\u0085today?"}\n'
    assert ids(load(content, "q.jsonl")) == ["q1", "q2"]


def test_a_json_list_is_read(load: Load) -> None:
    assert load('[{"id": "q1", "text": "May I?", "groups": ["a", "b"]}]', "q.json")[0].groups == ("a", "b")


def test_a_whole_number_as_id_is_its_digits(load: Load) -> None:
    assert ids(load('{"id": 7, "text": "May I?"}\n', "q.jsonl")) == ["7"]


def test_a_wanted_column_name_is_used(load: Load) -> None:
    assert load("id,text,query\nq1,wrong,May I?\n", columns={"text": "query"})[0].text == "May I?"


def test_a_wanted_column_that_is_not_there_is_an_error(load: Load) -> None:
    with pytest.raises(InputError, match='no column "organ"'):
        load("id,text\nq1,May I?\n", columns={"groups": "organ"})


def test_only_selected_questions_are_taken_in_that_order(load: Load) -> None:
    assert ids(load("id,text\na,One?\nb,Two?\nc,Three?\n", select=["c", "a"])) == ["c", "a"]


def test_the_limit_counts_from_the_first(load: Load) -> None:
    assert ids(load("id,text\na,One?\nb,Two?\nc,Three?\n", limit=2)) == ["a", "b"]


def test_duplicates_first_keeps_the_first(load: Load) -> None:
    questions = load("id,text\nq1,One?\nq1,Two?\n", duplicates="first")
    assert [question.text for question in questions] == ["One?"]


FAULTS = {
    "a repeated id names both lines": (
        "q.csv",
        "id,text\nq1,One?\nq2,Two?\nq1,Three?\n",
        'q.csv, line 4: id "q1" was already used on line 2.',
    ),
    "an empty text names the question": ("q.csv", 'id,text\nq1,"  "\n', 'q.csv, line 2: question "q1" has no text.'),
    "an empty id": ("q.csv", "id,text\n,May I?\n", "q.csv, line 2: the id is empty."),
    "an empty file": ("q.csv", "", "q.csv: no questions: the file is empty."),
    "a header alone": ("q.csv", "id,text\n", "q.csv: no questions: there is nothing under the header."),
    "a field too many": (
        "q.csv",
        "id,text\nq1,Can I drink, or eat?\n",
        "q.csv, line 2: 3 fields, 2 expected (id, text).",
    ),
    "a field too few": ("q.csv", "id,text\nq1\n", "q.csv, line 2: 1 fields, 2 expected (id, text)."),
    "lines are counted through quoted line breaks": (
        "q.csv",
        'id,text\nq1,"a\nb"\nq2\n',
        "q.csv, line 4: 1 fields, 2 expected (id, text).",
    ),
    "an unclosed quote": ("q.csv", 'id,text\nq1,One?\nq2,"Two?\n', "q.csv, line 3: a quoted value isn't closed"),
    "a missing column": (
        "q.csv",
        "id,txt\nq1,One?\n",
        'q.csv: no column "text"; there are "id", "txt". Did you mean "text" by "txt"?',
    ),
    "a misspelt optional column": (
        "q.csv",
        "id,text,topcs\nq1,One?,x\n",
        'q.csv: column "topcs" isn\'t known.\nDid you mean "topics"?',
    ),
    "two columns for one field": (
        "q.csv",
        "id,text,topic,topics\nq1,One?,x,y\n",
        'columns "topics" and "topic" both give',
    ),
    "a column named twice": (
        "q.csv",
        "id,text,text\nq1,a,b\n",
        'q.csv, line 1: the header names column "text" more than once.',
    ),
    "Latin-1": ("q.csv", "id,text\nq1,Größe?\n".encode("latin-1"), "q.csv, line 2: not UTF-8 text (byte 0xf6)"),
    "a control character": ("q.csv", "id,text\nq1,a\x07b\n", 'q.csv, line 2: "text" has characters that are no text'),
    "a huge field": (
        "q.csv",
        "id,text\nq1," + "x" * 153_000 + "\n",
        'question "q1" is 153,000 characters long, more than 4,000.',
    ),
    "half a line": (
        "q.jsonl",
        '{"id": "q1", "text": "One?"}\n{"id":"q2","text":"Tw',
        "q.jsonl, line 2: not valid JSON",
    ),
    "a list in a line": ("q.jsonl", "[1]\n", "q.jsonl, line 1: an object with named values is expected, not list."),
    "a name given twice": (
        "q.jsonl",
        '{"id": "a", "id": "b", "text": "c"}\n',
        'q.jsonl, line 1: not valid JSON: "id" is given twice',
    ),
    "a number as text": ("q.jsonl", '{"id": "a", "text": 1.5}\n', 'q.jsonl, line 1: "text" must be text, not 1.5.'),
    "half a character": (
        "q.jsonl",
        '{"id": "a", "text": "\\ud800"}\n',
        'q.jsonl, line 1: "text" has characters that are no text',
    ),
    "an object for a list": ("q.json", '{"id": "a"}', "q.json: a JSON list of questions is expected."),
    "a wrong entry of a list": ("q.json", "[1]", "q.json, entry 1: an object with named values is expected, not int."),
    "an unknown kind of file": ("q.xlsx", "x", "q.xlsx: files of type .xlsx aren't read."),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_told_with_file_and_line(load: Load, fault: str) -> None:
    name, content, message = FAULTS[fault]
    with pytest.raises(InputError) as caught:
        load(content, name)
    assert message in str(caught.value)


def test_every_fault_is_told_at_once_in_the_order_of_the_file(load: Load) -> None:
    with pytest.raises(InputError) as caught:
        load("id,text\nq1,\nq2,Two?\nq2,Three?\n,Four?\n")
    firsts = [problem.partition(":")[0] for problem in str(caught.value).split("\n\n")]
    assert firsts == ["questions.csv, line 2", "questions.csv, line 4", "questions.csv, line 5"]


def test_a_selected_id_that_is_not_there_gets_the_nearest_spelling(load: Load) -> None:
    with pytest.raises(InputError, match=r'has no question "drive_2"\. Did you mean "drive_1"\?'):
        load("id,text\ndrive_1,May I drive?\n", select=["drive_2"])


def test_a_missing_file_gets_the_nearest_name(tmp_path: Path) -> None:
    (tmp_path / "questions.csv").write_text("id,text\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"Did you mean questions\.csv\?"):
        QuestionFile(path=str(tmp_path / "question.csv")).load()


def test_an_unknown_field_to_map_is_refused(load: Load) -> None:
    with pytest.raises(InputError, match="there is no field txt"):
        load("id,text\nq1,One?\n", columns={"txt": "text"})


def test_the_limit_on_field_size_of_the_csv_module_is_left_as_it_was(load: Load) -> None:
    import csv

    before = csv.field_size_limit()
    load("id,text\nq1,One?\n")
    assert csv.field_size_limit() == before


def test_columns_that_a_spreadsheet_leaves_empty_beside_the_table_are_passed_over(load: Load) -> None:
    assert [q.text for q in load("id,text,,\nq1,May I drive?,,\nq2,May I swim?\n")] == ["May I drive?", "May I swim?"]


def test_a_value_beside_the_table_is_told(load: Load) -> None:
    with pytest.raises(InputError, match="line 2: 3 fields, 2 expected"):
        load("id,text,\nq1,May I drive, today?\n")


def test_the_delimiter_that_a_spreadsheet_names_is_used_and_lines_still_count(load: Load) -> None:
    assert load("sep=;\nid;text\nq1;May I, or not?\n")[0].text == "May I, or not?"
    with pytest.raises(InputError, match="line 3: the id is empty"):
        load("sep=;\nid;text\n;May I?\n")


def test_ids_that_look_the_same_are_the_same(load: Load) -> None:
    with pytest.raises(InputError, match="was already used on line 2"):
        load("id,text\n\u00e9,May I drive?\ne\u0301,May I swim?\n")


def test_the_end_mark_of_old_systems_is_no_line(load: Load) -> None:
    assert len(load("id,text\nq1,May I drive?\n\x1a")) == 1


@pytest.mark.parametrize("text", ["May I \x00 drive?", "May I \x07 drive?"])
def test_characters_that_are_no_text_are_told_with_a_remedy(load: Load, text: str) -> None:
    with pytest.raises(InputError, match=r"line 2: \"text\" has characters that are no text.*\nTake them out"):
        load(f"id,text\nq1,{text}\n")
