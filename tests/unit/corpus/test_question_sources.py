"""Questions from every kind of file, and from a dataset whose columns are called otherwise."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from transplantqa.corpus import HubQuestions, QuestionFile
from transplantqa.errors import InputError
from transplantqa.records import Question

ROWS: list[dict[str, Any]] = [
    {"id": "007", "text": "May I drive?", "groups": ["kidney", "heart"], "topics": []},
    {"id": "b", "text": "Kann ich \u00fcben?\u2028Bald?", "groups": [], "topics": ["Lifestyle"]},
]
EXPECTED = (
    Question("007", "May I drive?", ("kidney", "heart")),
    Question("b", "Kann ich \u00fcben?\u2028Bald?", (), ("Lifestyle",)),
)


def _written(folder: Path, kind: str) -> Path:
    path = folder / f"questions.{kind}"
    if kind == "parquet":
        pq.write_table(pa.Table.from_pylist(ROWS), path)
    elif kind == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    else:
        lines = [f'{row["id"]},"{row["text"]}",{"|".join(row["groups"])},{"|".join(row["topics"])}' for row in ROWS]
        path.write_text("\n".join(["id,text,groups,topics", *lines]), encoding="utf-8")
    return path


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_the_same_questions_come_from_every_kind_of_file(tmp_path: Path, kind: str) -> None:
    assert QuestionFile(path=str(_written(tmp_path, kind))).load() == EXPECTED


def test_a_file_that_is_no_parquet_is_said(tmp_path: Path) -> None:
    path = tmp_path / "questions.parquet"
    path.write_bytes(b"PAR1 cut")
    with pytest.raises(InputError, match="can't be read as Parquet"):
        QuestionFile(path=str(path)).load()


def test_a_parquet_row_with_a_fault_is_named_by_its_place(tmp_path: Path) -> None:
    path = tmp_path / "questions.parquet"
    pq.write_table(pa.Table.from_pylist([*ROWS, {"id": "c", "text": None}]), path)
    with pytest.raises(InputError, match='row 3: question "c" has no text'):
        QuestionFile(path=str(path)).load()


def test_questions_without_ids_are_named_by_their_text(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_text("question,organ\nMay I drive?,Kidney;Heart\n", encoding="utf-8")
    source = QuestionFile(path=str(path), ids="text", columns={"groups": "organ"}, separator=";")
    # printf 'May I drive?' | sha256sum
    assert source.load() == (Question("q_018178f1c2bd", "May I drive?", ("Kidney", "Heart")),)


def test_groups_of_a_dataset_get_the_documents_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "data.csv"
    path.write_text("id,text,groups\na,May I?,Kidney\nb,Who?,General\nc,Why?,Kidney|General\n", encoding="utf-8")
    monkeypatch.setattr(HubQuestions, "_fetch", lambda _: path)
    source = HubQuestions(repo="owner/name", group_names={"Kidney": "kidney", "General": None})
    assert [question.groups for question in source.load()] == [("kidney",), (), ()]


def test_columns_that_do_not_match_are_said_with_the_mapping_to_give(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "data.csv"
    path.write_text("uid,query\n1,May I?\n", encoding="utf-8")
    monkeypatch.setattr(HubQuestions, "_fetch", lambda _: path)
    with pytest.raises(InputError) as caught:
        HubQuestions(repo="owner/name").load()
    for words in (
        "owner/name at main",
        'there are "uid", "query"',
        "questions.columns={text: COLUMN",
        "questions.ids=text",
    ):
        assert words in str(caught.value)
