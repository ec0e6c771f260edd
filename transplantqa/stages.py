"""The stages of a run: each asks the ledger what is missing or stale, makes just that, and returns the current rows."""

import hashlib
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa

from transplantqa.corpus.ingested import SourceFile
from transplantqa.corpus.protocols import Corpus
from transplantqa.corpus.stage_rows import to_row
from transplantqa.errors import StoreError
from transplantqa.generation.protocols import Cell, Generator, ResolvedPassage
from transplantqa.judging.pairs import enumerate_pairs, to_judge
from transplantqa.judging.presentation import judging_order
from transplantqa.judging.protocols import Judge, Pair
from transplantqa.models.protocols import Identity
from transplantqa.records import Evidence, Outcome, Question, Section, answer_from_row, evidence_from_row
from transplantqa.report.console import stage_progress
from transplantqa.retrieval.protocols import Retriever, SourceDocument
from transplantqa.signals import StopRequest
from transplantqa.store import WHOLE, Ledger, Method, Shard, TableSpec, Unit, digest, text_sha256
from transplantqa.store.tables import ANSWERS, EVIDENCE, INGEST, JUDGEMENTS

STAGE_VERSION = {"ingest": 1, "retrieve": 1, "generate": 1, "compare": 1}
"""Raised when a stage's own code starts to make other rows from the same inputs and components."""

PREFIX_BUCKETS = 8
"""Questions of one document fall into this many prefix groups, so that shards can share a large document."""

INGEST_WAIT_SECONDS = 3600.0
"""Documents are read once for all shards; the others wait this long for the one that reads them. Ours."""

CellKey = tuple[str, str]
Rows = Iterator[Mapping[str, Any]]


@dataclass(frozen=True)
class StageSummary:
    """What a stage did: units planned for this process, reused from the ledger, made now; seconds of wall clock."""

    fingerprint: str
    planned: int
    reused: int
    made: int
    seconds: float


@dataclass(frozen=True)
class Stage:
    """A stage's ledger and its planned units, of all shards; ``mine`` are those of this process."""

    name: str
    ledger: Ledger
    units: Sequence[Unit]
    mine: Sequence[Unit]

    def rows(self) -> pa.Table:
        """Return the current rows of all shards, in the order of the units.

        Raises:
            StoreError: if a unit is missing, stale or there twice: naming some, and the remedy.
        """
        report = self.ledger.report(self.units)
        if not report.is_exact:
            raise StoreError(
                f"Stage {self.name} is not complete in {self.ledger.folder}:\n"
                + "\n".join(f"  {problem}" for problem in report.problems())
                + f"\nRun the same command with stages=[{self.name}] (every shard of it) first."
            )
        return self.ledger.current(self.units)


@dataclass(frozen=True)
class Workshop:
    """Where and how stages work: the ledger's folder, which stages and shard this process does, what may stop it."""

    root: Path
    stages: frozenset[str]
    shard: Shard
    retry: Collection[Outcome]
    stop: StopRequest
    summaries: dict[str, StageSummary] = field(default_factory=dict)

    def stage(
        self, name: str, table: TableSpec, identity: Identity, units: Sequence[Unit], group: Callable[[Unit], str]
    ) -> Stage:
        """Return a stage done by a component of this identity; ``group`` names a unit's prefix group."""
        ledger = Ledger(self.root, table, Method(name, {"stage_version": STAGE_VERSION[name], **identity}))
        mine = units if self.shard.count == 1 else [unit for unit in units if self.shard.owns(group(unit))]
        return Stage(name, ledger, units, mine)

    def work(self, stage: Stage, make: Callable[[Sequence[Unit]], Rows], wait_seconds: float = 0.0) -> None:
        """Make the rows of this process's units that have none, if the stage is asked for, until a signal stops it."""
        if stage.name not in self.stages:
            return
        started = time.monotonic()
        shard = self.shard if wait_seconds == 0.0 else WHOLE
        pending = stage.ledger.pending(stage.mine, self.retry)
        made = 0
        with stage_progress(stage.name, len(stage.mine), len(stage.mine) - len(pending)) as progress:
            if pending:
                with stage.ledger.writer(shard, wait_seconds=wait_seconds) as writer:
                    pending = stage.ledger.pending(stage.mine, self.retry) if wait_seconds else pending
                    inputs = {unit.key: unit.inputs_sha256 for unit in pending}
                    for row in self.stop.guard(make(pending)):
                        key = tuple(row[name] for name in stage.ledger.table.key)
                        writer.append({**row, "inputs_sha256": inputs[key]})
                        progress(tokens=row.get("prompt_tokens", 0) + row.get("completion_tokens", 0))
                        made += 1
        self.summaries[stage.name] = StageSummary(
            stage.ledger.method.fingerprint,
            len(stage.mine),
            len(stage.mine) - made,
            made,
            time.monotonic() - started,
        )


def ingest(shop: Workshop, corpus: Corpus, limit: int | None) -> list[dict[str, Any]]:
    """Read every source that is new or changed; return one row a document, in order of document id."""
    sources = {source.document_id: source for source in corpus.sources()[:limit]}
    units = [Unit((name,), _source_inputs(source)) for name, source in sorted(sources.items())]
    stage = shop.stage("ingest", INGEST, corpus.identity(), units, lambda _: "")
    stage = Stage(stage.name, stage.ledger, units, units)

    def make(pending: Sequence[Unit]) -> Rows:
        for unit in pending:
            yield to_row(corpus.ingest(sources[str(unit.key[0])]))

    try:
        shop.work(stage, make, wait_seconds=INGEST_WAIT_SECONDS if shop.shard.count > 1 else 0.0)
    finally:
        corpus.close()
    rows: list[dict[str, Any]] = stage.rows().to_pylist()
    return rows


def retrieve(
    shop: Workshop,
    retriever: Retriever,
    cells: Sequence[CellKey],
    questions: Mapping[str, Question],
    sources: Mapping[str, SourceDocument],
) -> Stage:
    """Find evidence for the planned cells, (question id, document id), of this shard."""
    contents = {name: content_sha256(source) for name, source in sources.items()}
    units = [Unit(cell, digest([questions[cell[0]].text, contents[cell[1]]])) for cell in cells]
    stage = shop.stage("retrieve", EVIDENCE, retriever.identity(), units, _cell_group)

    def make(pending: Sequence[Unit]) -> Rows:
        for document, batch in groupby(pending, key=lambda unit: str(unit.key[1])):
            asked = [questions[str(unit.key[0])] for unit in batch]
            yield from (evidence.row() for evidence in retriever.retrieve(asked, sources[document]))

    shop.work(stage, make)
    return stage


def generate(
    shop: Workshop,
    generator: Generator,
    retrieved: Stage,
    questions: Mapping[str, Question],
    sources: Mapping[str, SourceDocument],
) -> Stage:
    """Answer the planned cells of this shard from the evidence found for them."""
    whole = shop.shard.count == 1 or "generate" not in shop.stages
    evidence = retrieved.rows() if whole else retrieved.ledger.current(retrieved.mine)
    sections = {section.section_id: section for source in sources.values() for section in source.sections}
    cells = {}
    for row in evidence.to_pylist():
        found = evidence_from_row(row)
        cells[found.question_id, found.document_id] = Cell(
            questions[found.question_id], found, resolve(found, sections)
        )
    units = [Unit((*key, "default"), _cell_inputs(cell)) for key, cell in cells.items()]
    stage = shop.stage("generate", ANSWERS, generator.identity(), units, _cell_group)

    def make(pending: Sequence[Unit]) -> Rows:
        wanted = [cells[str(unit.key[0]), str(unit.key[1])] for unit in pending]
        yield from (answer.row() for answer in generator.answer(wanted))

    shop.work(stage, make)
    return stage


def compare(
    shop: Workshop, judge: Judge, answers: pa.Table, questions: Mapping[str, Question]
) -> tuple[pa.Table, Stage]:
    """Judge the pairs of answers that the pre-screen leaves; return all pairs, screened, and the judging stage."""
    pairs = enumerate_pairs(answers)
    texts = {(row["question_id"], row["document_id"]): row for row in answers.to_pylist()}
    hashes = {key: text_sha256(row["text"]) for key, row in texts.items()}
    asked = {name: text_sha256(question.text) for name, question in questions.items()}
    units = []
    for row in to_judge(pairs).select(["question_id", "document_a", "document_b"]).to_pylist():
        question, a, b = row["question_id"], row["document_a"], row["document_b"]
        inputs = _joined_sha256(asked[question], hashes[question, a], hashes[question, b])
        units += [Unit((question, a, b, "default", side, 0), inputs) for side in judge.orders(question, a, b)]
    stage = shop.stage("compare", JUDGEMENTS, judge.identity(), units, _pair_group)

    def make(pending: Sequence[Unit]) -> Rows:
        todo = []
        for unit in pending:
            question, a, b, _, side, replicate = unit.key
            first, second = answer_from_row(texts[question, a]), answer_from_row(texts[question, b])
            todo.append(Pair(questions[str(question)], first, second, side, int(replicate)))  # type: ignore[arg-type]
        yield from (judgement.row() for judgement in judge.judge(judging_order(todo)))

    shop.work(stage, make)
    return pairs, stage


def content_sha256(source: SourceDocument) -> str:
    """Hash what retrieval can see of a document: its sections' headings, pages and text, and its chunks' bounds."""
    return digest(
        {
            "sections": [[*_place(section), text_sha256(section.text)] for section in source.sections],
            "chunks": [[chunk.chunk_id, chunk.char_start, chunk.char_end] for chunk in source.chunks],
        }
    )


def _place(section: Section) -> list[Any]:
    return [section.section_id, list(section.heading_path), section.page_start, section.page_end]


def resolve(evidence: Evidence, sections: Mapping[str, Section]) -> tuple[ResolvedPassage, ...]:
    """Look up the text of an evidence's passages, in order."""
    passages = []
    for passage in evidence.passages:
        section = sections[passage.section_id]
        text = section.text[passage.char_start : passage.char_end]
        passages.append(
            ResolvedPassage(passage.section_id, section.heading_path, passage.page_start, passage.page_end, text)
        )
    return tuple(passages)


def _source_inputs(source: SourceFile) -> str:
    facts = {name: getattr(source, name) for name in source.__dataclass_fields__ if name != "path"}
    return digest({**facts, "notes": list(source.notes)})


def _cell_inputs(cell: Cell) -> str:
    shown = [
        [list(passage.heading_path), passage.page_start, passage.page_end, text_sha256(passage.text)]
        for passage in cell.passages
    ]
    return digest([cell.question.text, str(cell.evidence.outcome), shown])


def _cell_group(unit: Unit) -> str:
    question, document = str(unit.key[0]), str(unit.key[1])
    return f"{document}\n{int(text_sha256(question)[:8], 16) % PREFIX_BUCKETS}"


def _pair_group(unit: Unit) -> str:
    question, a, b, _, first, _ = unit.key
    return f"{question}\n{a if first == 'a' else b}"


def _joined_sha256(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
