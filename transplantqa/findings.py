"""A run's tables measured, and everything written to its folder: what reports, MLflow and releases are made from."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from transplantqa.accounting import Price, usage_metrics, used
from transplantqa.analysis import (
    Analysis,
    AuditTables,
    Findings,
    GoldFacts,
    audit,
    gold_figures,
    not_an_instrument,
    support_figures,
    with_further_findings,
)
from transplantqa.corpus.gold import load_gold, quotes_in_sections
from transplantqa.corpus.stage_rows import from_row
from transplantqa.generation.support import support
from transplantqa.judging.comparisons import derive_comparisons
from transplantqa.judging.facts import JudgingFacts
from transplantqa.records import Evidence, Outcome, Question
from transplantqa.retrieval.alarms import evidence_alarms
from transplantqa.retrieval.protocols import SourceDocument
from transplantqa.stages import evidence_by_cell, resolve
from transplantqa.store import Run, digest, run_id_of, write_atomically
from transplantqa.store.atomic import json_bytes, move_into_place, refusals, temporary_beside
from transplantqa.store.run_folder import RunFolder
from transplantqa.store.runs import run_folder
from transplantqa.store.tables import CHUNKS, DOCUMENTS, QUESTIONS, SECTIONS, TableSpec
from transplantqa.workshop import Stage, StageSummary

RECORDED_PACKAGES = ("transplantqa", "llama-cpp-python", "onnxruntime", "bm25s", "pypdfium2", "pyarrow")
_STAGE_TABLES = {"retrieve": "evidence", "generate": "answers", "compare": "judgements"}


@dataclass(frozen=True)
class RunContents:
    """What the stages of a run left behind.

    Attributes:
        system: the system's name.
        config: the resolved configuration as plain values.
        documents: rows of the ingest table, unreadable documents included.
        questions: the questions asked.
        stages: ingest, retrieve, generate and compare, each complete.
        pairs: every pair with what the pre-screen decided.
        judging: how pairs came to be decided, besides by the judge's method.
        summaries: what each stage did.
        prices: what the calls of a stage cost.
    """

    system: str
    config: Mapping[str, Any]
    documents: Sequence[Mapping[str, Any]]
    questions: Sequence[Question]
    stages: Mapping[str, Stage]
    pairs: pa.Table
    judging: JudgingFacts
    summaries: Mapping[str, StageSummary]
    prices: Mapping[str, Price | None]


def write_run(root: Path, contents: RunContents, settings: Analysis, gold: Path | None) -> RunFolder:
    """Measure a run and write its folder under ``root``; a run of the same id is written anew.

    ``run.json`` comes last, so that a folder that has it is whole.

    Raises:
        InputError: the gold file has faults.
        StoreError: the disk refuses.
    """
    sources = {row["document_id"]: from_row(row) for row in contents.documents if row["verdict"] != "reject"}
    tables = _tables(contents)
    findings, figures, reasons = _measure(tables, contents, sources, settings, gold)
    run = _record(contents, tables, settings)
    folder = run_folder(root, run.run_id)
    with refusals("write", folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name, table in {**tables, **findings.run_tables()}.items():
            _write_table(folder / f"{name}.parquet", table)
    measured = {
        "metrics": {**findings.metrics, **_usage(tables, contents.prices)},
        "gold": dict(figures),
        "not_an_instrument": list(reasons),
        "notes": [*_warnings(contents), *evidence_alarms(tables["evidence"], _rankers(contents.stages["retrieve"]))],
    }
    write_atomically(folder / "metrics.json", json_bytes(measured))
    run.save(root)
    return RunFolder(folder)


def _warnings(contents: RunContents) -> list[str]:
    warning = contents.judging.warning()
    return [] if warning is None else [warning]


def _tables(contents: RunContents) -> dict[str, pa.Table]:
    answers, judgements = contents.stages["generate"].rows(), contents.stages["compare"].rows()
    sections = [section for row in contents.documents for section in row["sections"]]
    chunks = [chunk for row in contents.documents for chunk in row["chunks"]]
    return {
        "documents": _table(DOCUMENTS, contents.documents),
        "sections": _table(SECTIONS, sections),
        "chunks": _table(CHUNKS, chunks),
        "questions": _table(QUESTIONS, [question.row() for question in contents.questions]),
        "evidence": contents.stages["retrieve"].rows(),
        "answers": answers,
        "judgements": judgements,
        "comparisons": derive_comparisons(contents.pairs, judgements, disagreement=contents.judging.disagreement),
    }


def _usage(tables: Mapping[str, pa.Table], prices: Mapping[str, Price | None]) -> dict[str, float | int]:
    return usage_metrics({name: used(tables[_STAGE_TABLES[name]]) for name in prices}, prices)


def _table(spec: TableSpec, rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist([{name: row[name] for name in spec.schema.names} for row in rows], schema=spec.schema)


def _measure(
    tables: Mapping[str, pa.Table],
    contents: RunContents,
    sources: Mapping[str, SourceDocument],
    settings: Analysis,
    gold: Path | None,
) -> tuple[Findings, dict[str, float | int], tuple[str, ...]]:
    """Return the findings, the figures against gold, and the reasons not to take them for measurements."""
    audited = AuditTables(*(tables[name] for name in AuditTables.__dataclass_fields__))
    findings = with_further_findings(audited, audit(audited, settings), settings)
    sections = {section.section_id: section for source in sources.values() for section in source.sections}
    evidence = evidence_by_cell(tables["evidence"])
    supported = {}
    for row in tables["answers"].select(["question_id", "document_id", "outcome", "text"]).to_pylist():
        key = (row["question_id"], row["document_id"])
        if row["outcome"] == Outcome.OK:
            shown = [
                text for passage in resolve(evidence[key], sections) for text in (*passage.heading_path, passage.text)
            ]
            supported[key] = support(row["text"], shown).supported
    judged = (contents.pairs, tables["judgements"], tables["comparisons"])
    metrics = {**findings.metrics, **support_figures(supported)} | contents.judging.figures(tables["answers"], *judged)
    figures: dict[str, float | int] = {}
    extra: dict[str, pa.Table] = {}
    if gold is not None:
        facts = _gold_facts(gold, contents, sources, evidence)
        measured = gold_figures(audited, facts)
        figures, extra = dict(measured.metrics), dict(measured.tables)
    whole = Findings(metrics, {**findings.tables, **extra})
    return whole, figures, not_an_instrument({**metrics, **figures}, settings)


def _gold_facts(
    path: Path,
    contents: RunContents,
    sources: Mapping[str, SourceDocument],
    evidence: Mapping[tuple[str, str], Evidence],
) -> GoldFacts:
    gold = load_gold(path, contents.questions, [source.document for source in sources.values()])
    held: dict[tuple[str, str], Collection[str]] = {}
    for cell in gold.evidence:
        found = quotes_in_sections(cell.quotes, sources[cell.document_id].sections)
        held[cell.question_id, cell.document_id] = {section for names in found.values() for section in names}
    shown = {key: {passage.section_id for passage in found.passages} for key, found in evidence.items()}
    return GoldFacts(gold.evidence, gold.pairs, held, shown)


def _record(contents: RunContents, tables: Mapping[str, pa.Table], settings: Analysis) -> Run:
    fingerprints = {name: stage.ledger.method.fingerprint for name, stage in contents.stages.items()}
    plan_sha256 = digest([[*unit.key, unit.inputs_sha256] for unit in contents.stages["retrieve"].units])
    questions = [question.row() for question in contents.questions]
    documents = tables["documents"].to_pylist()
    identity = {
        "system": contents.system,
        "fingerprints": fingerprints,
        "plan": plan_sha256,
        "questions": digest(questions),
        "documents": digest(documents),
        "analysis": settings.identity(),
        "judging": contents.judging.identity(),
    }
    outcomes = {name: _counted(tables[table]) for name, table in _STAGE_TABLES.items()}
    return Run(
        run_id=run_id_of(identity),
        system=contents.system,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        config=contents.config,
        fingerprints=fingerprints,
        plan_sha256=plan_sha256,
        sweep_id=contents.config.get("sweep_id"),
        versions={name: version(name) for name in RECORDED_PACKAGES},
        outcomes={"ingest": _verdicts(documents), **outcomes},
        reused={name: summary.reused for name, summary in contents.summaries.items()},
        seconds={name: round(summary.seconds, 3) for name, summary in contents.summaries.items()},
        extra={"judging": contents.judging.record()},
    )


def _counted(table: pa.Table) -> dict[str, int]:
    counts = table["outcome"].value_counts().to_pylist()
    return dict(sorted((row["values"], row["counts"]) for row in counts))


def _verdicts(documents: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    verdicts = [row["verdict"] for row in documents]
    return {verdict: verdicts.count(verdict) for verdict in sorted(set(verdicts))}


def _rankers(stage: Stage) -> list[str]:
    """Return the names of the rankers that the retriever says it has."""
    return [str(ranker["ranker"]) for ranker in stage.ledger.method.identity.get("rankers", ())]


def _write_table(path: Path, table: pa.Table) -> None:
    """Write a table whole or not at all, also when another process writes the same run."""
    temporary = temporary_beside(path)
    try:
        pq.write_table(table, temporary, compression="zstd")
        move_into_place(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
