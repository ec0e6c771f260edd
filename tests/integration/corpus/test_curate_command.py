"""``transplantqa curate-questions`` from candidates to the question set a person accepted."""

import csv
import json
from pathlib import Path

import pytest

from transplantqa.cli import main
from transplantqa.corpus import QuestionFile

RAW = """id,text,groups,topics
a,"hi my name is Ann, when may i drive, and ""far""?",kidney|liver,
b,Thanks,,
c,May I swim in the sea?,,life
d,may i SWIM in the sea,kidney,
"""
REPLY = {"rephrased": "When may I drive, and how far?", "topic": "life", "subtopic": "driving"}


@pytest.fixture
def raw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "raw candidates, all.csv"
    path.write_text(RAW, encoding="utf-8")
    return path


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


def test_without_a_model_questions_are_kept_dropped_and_logged(raw: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["curate-questions", str(raw), "out=set", "model=none"]) == 0
    kept = QuestionFile(path="set/questions.csv").load()
    assert [(one.question_id, one.groups) for one in kept] == [("a", ("kidney", "liver")), ("c", ())]
    assert [(one["question_id"], one["step"], one["why"]) for one in lines(Path("set/log.jsonl"))] == [
        ("a", "kept", ""),
        ("b", "no question", "fewer than 3 words"),
        ("c", "kept", ""),
        ("d", "duplicate", "of c"),
    ]
    shown = capsys.readouterr().out
    assert "no question            1" in shown
    assert "flagged                1" in shown


def test_what_the_model_proposes_changes_nothing_until_a_person_accepts_it(
    raw: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["curate-questions", str(raw), "out=set", "model=scripted", *replies(REPLY)]) == 0
    assert "new wordings           1" in capsys.readouterr().out
    before = QuestionFile(path="set/questions.csv").load()
    assert before[0].text == 'hi my name is Ann, when may i drive, and "far"?'
    rows = list(csv.DictReader(Path("set/review.csv").read_text(encoding="utf-8").split("\n")))
    assert [row["accept"] for row in rows] == ["", ""]
    assert (rows[0]["proposed_text"], rows[0]["flags"]) == (REPLY["rephrased"], "name")
    text = Path("set/review.csv").read_text(encoding="utf-8").replace('""far""?",,', '""far""?",yes,')
    Path("set/review.csv").write_text(text, encoding="utf-8")
    assert main(["curate-questions", str(raw), "out=set", "model=none"]) == 2
    assert "a person has filled in decisions there" in capsys.readouterr().err
    assert main(["curate-questions", "accept=set/review.csv", "out=final"]) == 0
    shown = capsys.readouterr().out
    assert "accepted               1" in shown
    assert "undecided              1" in shown
    first, second = QuestionFile(path="final/questions.csv").load()
    assert (first.text, first.topics, first.subtopics) == (REPLY["rephrased"], ("life",), ("driving",))
    assert second.text == "May I swim in the sea?"
    rows = list(csv.DictReader(Path("final/questions.csv").read_text(encoding="utf-8").split("\n")))
    assert [row["flags"] for row in rows] == ["", ""]
    assert [one["step"] for one in lines(Path("final/accepted.jsonl"))] == ["accepted", "undecided"]


def replies(reply: object) -> list[str]:
    return [f"+model.replies.drive='{json.dumps(reply)}'"]


def test_replies_are_asked_for_once_and_a_bad_one_is_counted(raw: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = [
        "curate-questions",
        str(raw),
        "out=set",
        "model=scripted",
        "+model.replies.drive='Sure, with pleasure!'",
    ]
    assert main(command) == 0
    assert "no proposal            1" in capsys.readouterr().out
    kept = len(lines(Path("set/replies.jsonl")))
    with Path("set/replies.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"key": "half')
    assert main(command) == 0
    assert Path("set/replies.jsonl").read_text(encoding="utf-8").count("\n") == kept == 2


@pytest.mark.parametrize("arguments", [[], ["raw.csv", "accept=review.csv"]])
def test_one_file_is_named(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["curate-questions", *arguments]) == 2
    assert "Name one file" in capsys.readouterr().err


def test_candidates_none_of_which_is_kept_can_be_curated_again(raw: Path) -> None:
    raw.write_text("id,text\nb,Thanks\n", encoding="utf-8")
    for _ in range(2):
        assert main(["curate-questions", str(raw), "out=set", "model=none"]) == 0


def test_with_no_question_kept_no_review_is_promised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("raw.csv").write_text("id,text\nb,Thanks\n", encoding="utf-8")
    assert main(["curate-questions", "raw.csv", "out=set", "model=none"]) == 0
    assert "review.csv" not in capsys.readouterr().out


def test_a_half_line_left_by_a_kill_costs_its_own_reply_alone(raw: Path) -> None:
    command = ["curate-questions", str(raw), "out=set", "model=scripted", *replies(REPLY)]
    assert main(command) == 0
    path = Path("set/replies.jsonl")
    whole = path.read_text(encoding="utf-8")
    path.write_text(whole[:-20], encoding="utf-8")
    assert main(command) == 0
    keys = [json.loads(line)["key"] for line in path.read_text(encoding="utf-8").split("\n") if line.endswith("}")]
    assert sorted(keys) == sorted(json.loads(line)["key"] for line in whole.split("\n")[:-1])
