"""Answers and pairs made by hand."""

from collections.abc import Callable, Iterable
from typing import Any

import pyarrow as pa
import pytest

from transplantqa.judging import Pair
from transplantqa.records import Answer, Outcome, Question


@pytest.fixture
def make_pair() -> Callable[..., Pair]:
    def make(a: str, b: str, *, question: str = "What now?", question_id: str = "q1", **options: Any) -> Pair:
        answers = (Answer(question_id, "d1", Outcome.OK, a), Answer(question_id, "d2", Outcome.OK, b))
        return Pair(Question(question_id, question), *answers, **options)

    return make


@pytest.fixture
def answers_table() -> Callable[[Iterable[tuple[str, str, str, str]]], pa.Table]:
    def make(rows: Iterable[tuple[str, str, str, str]]) -> pa.Table:
        names = ("question_id", "document_id", "outcome", "text")
        listed = [dict(zip(names, row, strict=True)) | {"variant": "default"} for row in rows]
        return pa.Table.from_pylist(listed, schema=pa.schema([(name, pa.string()) for name in (*names, "variant")]))

    return make
