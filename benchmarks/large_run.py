"""A finished run of the paper's size with made-up answers, to measure what is made of a run."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from transplantqa.analysis import Analysis, Findings, audit
from transplantqa.analysis.simulate import Plan, plant
from transplantqa.analysis.tables import AuditTables
from transplantqa.store.run_folder import RunFolder
from transplantqa.store.tables import EVIDENCE, SECTIONS

SECTIONS_A_DOCUMENT = 60
WORDS = (
    "after",
    "surgery",
    "take",
    "the",
    "medicine",
    "with",
    "food",
    "call",
    "your",
    "team",
    "before",
    "driving",
    "weeks",
)
ANSWER_WORDS, SECTION_WORDS, REASON_WORDS = 90, 200, 60


def write_large_run(folder: Path, questions: int) -> tuple[RunFolder, int]:
    """Write a run of ``questions`` asked of 44 documents of 22 institutions; return it and its number of answers."""
    plan = Plan(questions=questions, institutions=22, documents_per_institution=2, topics=20)
    tables = _with_texts(plant(plan).tables)
    findings = audit(tables, Analysis(bootstrap_replicates=100, permutations=100))
    folder.mkdir(parents=True, exist_ok=True)
    sections = _sections(tables.documents["document_id"].to_pylist())
    whole = {
        "documents": tables.documents,
        "questions": tables.questions,
        "answers": tables.answers,
        "comparisons": tables.comparisons,
        "sections": sections,
        "evidence": _evidence(tables.answers),
        **findings.run_tables(),
    }
    for name, table in whole.items():
        pq.write_table(table, folder / f"{name}.parquet", compression="zstd")
    _write_records(folder, findings)
    return RunFolder(folder), tables.answers.num_rows


def _write_records(folder: Path, findings: Findings) -> None:
    record = {"run_id": folder.name, "system": "large", "config": {}, "fingerprints": {}, "seconds": {}}
    measured = {"metrics": dict(findings.metrics), "gold": {}, "not_an_instrument": [], "notes": []}
    (folder / "run.json").write_text(json.dumps(record), encoding="utf-8")
    (folder / "metrics.json").write_text(json.dumps(measured), encoding="utf-8")


def _texts(words: int, variants: int, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, words)) for _ in range(variants)]


def _spread(texts: list[str], rows: int) -> pa.Array:
    return pa.array(texts).take(pa.array(np.arange(rows) % len(texts)))


def _set(table: pa.Table, **columns: pa.Array) -> pa.Table:
    for name, values in columns.items():
        place = table.schema.get_field_index(name)
        table = table.set_column(place, table.schema.field(place), values.cast(table.schema.field(place).type))
    return table


def _with_texts(tables: AuditTables) -> AuditTables:
    rows = tables.answers.num_rows
    compared = tables.comparisons.num_rows
    judged = np.asarray(tables.comparisons["decided_by"].to_pylist()) == "judge"
    chosen = pa.array(np.arange(compared) % 500, mask=~judged)
    reasons = pa.array(_texts(REASON_WORDS, 500, 2)).take(chosen)
    return AuditTables(
        documents=_set(tables.documents, redistributable=pa.array([True] * tables.documents.num_rows)),
        questions=_set(tables.questions, text=_spread(_texts(12, 997, 3), tables.questions.num_rows)),
        answers=_set(tables.answers, text=_spread(_texts(ANSWER_WORDS, 997, 1), rows)),
        comparisons=_set(tables.comparisons, reasoning=reasons),
    )


def _sections(documents: list[str]) -> pa.Table:
    texts = _texts(SECTION_WORDS, 97, 4)
    rows = [
        {
            "section_id": f"{document}/s{order}",
            "document_id": document,
            "order": order,
            "level": 1,
            "heading": f"Section {order}",
            "heading_path": [f"Section {order}"],
            "page_start": order,
            "page_end": order,
            "text": texts[(order + place) % len(texts)],
            "tokens": SECTION_WORDS,
        }
        for place, document in enumerate(documents)
        for order in range(SECTIONS_A_DOCUMENT)
    ]
    return pa.Table.from_pylist(rows, schema=SECTIONS.schema)


def _evidence(answers: pa.Table) -> pa.Table:
    """Return two passages an answered or silent cell."""
    rows = []
    keys = zip(answers["question_id"].to_pylist(), answers["document_id"].to_pylist(), strict=True)
    for place, (question, document) in enumerate(keys):
        passages = [
            {
                "section_id": f"{document}/s{(place + rank) % SECTIONS_A_DOCUMENT}",
                "char_start": 0,
                "char_end": 800,
                "text_sha256": "0" * 64,
                "page_start": 1,
                "page_end": 2,
                "tokens": 150,
                "rank": rank,
            }
            for rank in (1, 2)
        ]
        row = {"question_id": question, "document_id": document, "route": "retrieved", "passages": passages}
        row |= {"candidates": [], "top_score": 0.5, "tokens": 300, "outcome": "ok", "error": None}
        rows.append({**row, "attempt": 1, "inputs_sha256": "0" * 64})
    return pa.Table.from_pylist(rows, schema=EVIDENCE.schema)
