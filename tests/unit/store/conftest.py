"""A small plan of answers and the rows that answer it, made deterministically from each unit."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from transplantqa.store import Ledger, Method, Unit, digest
from transplantqa.store.tables import ANSWERS

MakeRow = Callable[..., dict[str, Any]]
MakePlan = Callable[..., list[Unit]]


def answer_row(unit: Unit, outcome: str = "ok", **values: object) -> dict[str, Any]:
    question_id, document_id, variant = unit.key
    return {
        "question_id": question_id,
        "document_id": document_id,
        "variant": variant,
        "outcome": outcome,
        "text": f"Answer to {question_id} from {document_id}.",
        "citations": ({"heading": "Fever", "page": 3, "valid": True},),
        "raw": "",
        "prompt_tokens": 10,
        "cached_tokens": 0,
        "completion_tokens": 5,
        "seconds": 0.5,
        "inputs_sha256": unit.inputs_sha256,
        **values,
    }


def answer_plan(questions: int, documents: int = 2, edition: int = 1) -> list[Unit]:
    return [
        Unit((f"q{question:02d}", f"d{document}", "default"), digest([question, document, edition]))
        for question in range(questions)
        for document in range(documents)
    ]


@pytest.fixture(scope="session")
def row() -> MakeRow:
    return answer_row


@pytest.fixture(scope="session")
def plan() -> MakePlan:
    return answer_plan


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "artifacts", ANSWERS, Method("answers", {"version": 1}))


@pytest.fixture(scope="session")
def fill() -> Callable[..., None]:
    def append_all(ledger: Ledger, units: list[Unit], outcomes: Mapping[str, str] | None = None) -> None:
        with ledger.writer() as writer:
            for unit in units:
                writer.append(answer_row(unit, (outcomes or {}).get(str(unit.key[0]), "ok")))

    return append_all
