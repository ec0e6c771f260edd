"""A small finished run, written from records as a real one is."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import settings

from transplantqa import records as r
from transplantqa.store import tables
from transplantqa.store.run_folder import RunFolder

settings.register_profile("any machine", deadline=None)  # how long an example takes says more of the load than of it
settings.load_profile("any machine")

SEPARATOR = "\u2028"
STAGE = {"attempt": 1, "inputs_sha256": "0" * 64}


def _document(name: str, institution: str, **changes: object) -> r.Document:
    facts: dict[str, Any] = {
        "document_id": name,
        "institution": institution,
        "group": "kidney",
        "phase": None,
        "title": f"Handbook {name}",
        "year": None,
        "source_file": f"{name}.pdf",
        "sha256": "a" * 64,
        "pages": 4,
        "characters": 900,
        "tokens": 200,
        "licence": None,
        "redistributable": True,
        "verdict": "accept",
    }
    return r.Document(**{**facts, **changes})


def _section(document: str, text: str) -> r.Section:
    return r.Section(f"{document}/s1", document, 0, 1, "Going home", ("Care", "Going home"), 2, 3, text, 12)


def _evidence(question: str, document: str, **changes: object) -> r.Evidence:
    passage = r.Passage(f"{document}/s1", 0, 12, "b" * 64, 2, 3, 12, 1)
    ranks = (r.RankerScore("bm25", 1, 3.5), r.RankerScore("dense", 2, 0.5))
    kept = r.Candidate(f"{document}/s1/c1", ranks, 0.0325, None, kept=True, why="best fused rank")
    dropped = r.Candidate(f"{document}/s1/c2", ranks[1:], 0.0161, 0.2, kept=False, why="over the budget")
    facts: dict[str, Any] = {
        "route": "retrieved",
        "passages": (passage,),
        "candidates": (kept, dropped),
        "top_score": 0.75,
        "tokens": 12,
        "outcome": r.Outcome.OK,
    }
    return r.Evidence(question, document, **{**facts, **changes})


def default_rows() -> dict[str, list[dict[str, Any]]]:
    """Three documents (one unreadable, one whose text may not be passed on), two questions, every kind of row."""
    ok, silent = r.Outcome.OK, r.Outcome.ABSTAINED
    a, b = "kidney_a", "kidney_b"
    documents = [
        _document(a, "Center A", year=2024),
        _document(b, "Center B", redistributable=False, licence="all rights reserved"),
        _document("kidney_z", "Center Z", verdict="reject", reasons=("no text on any page",)),
    ]
    sections = [_section(a, f"Walk daily.{SEPARATOR}Lift nothing."), _section(b, "SECRET TEXT of Center B")]
    questions = [
        r.Question("q1", "When may I lift a suitcase?", ("kidney",), ("Lifestyle",)),
        r.Question("q2", f"May I drive?{SEPARATOR}Soon?"),
    ]
    empty = {"passages": (), "candidates": (), "top_score": None, "tokens": 0, "outcome": r.Outcome.EMPTY_RETRIEVAL}
    evidence = [_evidence("q1", a, **empty), _evidence("q1", b), _evidence("q2", a), _evidence("q2", b)]
    answers = [
        r.Answer("q1", a, r.Outcome.EMPTY_RETRIEVAL, "NOT ADDRESSED"),
        r.Answer("q1", b, ok, "After six weeks.", (r.Citation("Going home", 2, valid=True),), "It says six."),
        r.Answer("q2", a, ok, f"Yes.{SEPARATOR}[bold]Soon[/bold]\x1b[31m", (r.Citation("Car", None, valid=False),)),
        r.Answer("q2", b, ok, "Never."),
    ]
    comparisons = [
        _comparison("q1", a, b, label="ABSENT", silent_side="a", decided_by="prescreen"),
        _comparison(
            "q2",
            a,
            b,
            label="CONTRADICTORY",
            decided_by="judge",
            reasoning="One says yes [/], one no.",
            divergence_topic="driving",
            significance="high",
        ),
    ]
    assert silent not in {row.outcome for row in answers}
    stage: dict[str, Sequence[r.Record]] = {"evidence": evidence, "answers": answers}
    plain: dict[str, Sequence[r.Record]] = {"documents": documents, "sections": sections, "questions": questions}
    rows = {name: [row.row() for row in found] for name, found in plain.items()}
    rows |= {name: [{**row.row(), **STAGE} for row in found] for name, found in stage.items()}
    return {**rows, "comparisons": comparisons}


def _comparison(question: str, left: str, right: str, **facts: object) -> dict[str, Any]:
    names = tables.COMPARISONS.schema.names
    given = {"question_id": question, "document_a": left, "document_b": right, "outcome": "ok", **facts}
    return {name: given.get(name) for name in names}


DEFAULT_METRICS = {
    "absence_rate": 0.25,
    "absence_rate_n": 4,
    "absence_rate_lo": 0.0,
    "absence_rate_hi": 0.5,
    "divergence_rate": 1.0,
    "divergence_rate_n": 1,
    "label/CONTRADICTORY": 0.5,
    "label/CONTRADICTORY_n": 2,
    "recall@5": 0.5,
    "tokens_prompt": 1200,
    "unreadable_documents": 1,
}


@dataclass
class RunWriter:
    """Writes finished runs below a folder; any part can be replaced."""

    folder: Path
    rows: dict[str, list[dict[str, Any]]] = field(default_factory=default_rows)

    def __call__(
        self,
        system: str = "baseline",
        *,
        run_id: str | None = None,
        sweep_id: str | None = None,
        config: Mapping[str, Any] | None = None,
        metrics: Mapping[str, float] | None = None,
        rows: Mapping[str, list[dict[str, Any]]] | None = None,
    ) -> RunFolder:
        run_id = run_id or f"run-{system}"
        path = self.folder / run_id
        path.mkdir(parents=True, exist_ok=True)
        for name, found in {**self.rows, **(rows or {})}.items():
            schema = getattr(tables, name.upper()).schema
            pq.write_table(pa.Table.from_pylist(found, schema=schema), path / f"{name}.parquet")
        record = {
            "run_id": run_id,
            "system": system,
            "sweep_id": sweep_id,
            "config": config or {"seed": 1, "model": {"temperature": 0.0, "max_tokens": 64}},
            "fingerprints": {"generate": "f" * 64},
            "versions": {"transplantqa": "0.1.0"},
            "outcomes": {"generate": {"ok": 3, "empty_retrieval": 1}},
            "reused": {"generate": 3},
            "seconds": {"generate": 2.5},
        }
        findings = {
            "metrics": dict(DEFAULT_METRICS if metrics is None else metrics),
            "gold": {"absence_accuracy": 0.75, "absence_accuracy_n": 4},
            "not_an_instrument": ["absence accuracy 0.75 of 4 is below 0.80"],
            "notes": ["intervals are exploratory: 2 questions"],
        }
        (path / "run.json").write_text(json.dumps(record), encoding="utf-8")
        (path / "metrics.json").write_text(json.dumps(findings), encoding="utf-8")
        return RunFolder(path)


@pytest.fixture
def write_run(tmp_path: Path) -> RunWriter:
    """A writer of small finished runs in a temporary folder."""
    return RunWriter(tmp_path / "runs")
