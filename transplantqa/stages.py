"""The stages of a run: each plans its units from what came before, and makes those that the ledger doesn't have."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, groupby
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from transplantqa.corpus.ingested import SourceFile
from transplantqa.corpus.protocols import Corpus
from transplantqa.corpus.stage_rows import to_row
from transplantqa.generation.protocols import Cell, Generator, ResolvedPassage
from transplantqa.judging.groups import Groups
from transplantqa.judging.pairs import to_judge
from transplantqa.judging.prescreens import RULE
from transplantqa.judging.presentation import judging_order
from transplantqa.judging.protocols import Judge, OrdersColumns, Pair, Prescreen
from transplantqa.records import Answer, Evidence, Question, Section, answer_from_row, evidence_from_row
from transplantqa.rereading import reread_judgements
from transplantqa.retrieval.elsewhere import source_read
from transplantqa.retrieval.protocols import Retriever, SourceDocument
from transplantqa.store import Hashed, Unit, canonical_json, digest, joined_sha256, text_sha256, units_table
from transplantqa.store.tables import ANSWERS, EVIDENCE, INGEST, JUDGEMENTS
from transplantqa.workshop import Rows, Stage, Workshop, units_of

PREFIX_BUCKETS = 8
"""Questions of one document fall into this many prefix groups, so that shards can share a large document."""

EVIDENCE_COLUMNS = ["question_id", "document_id", "route", "passages", "top_score", "tokens", "outcome"]
"""What answering needs of evidence; the candidates it was chosen from are many times larger."""

CellKey = tuple[str, str]
_PAIR = ["question_id", "document_a", "document_b"]


@dataclass(frozen=True)
class Readings:
    """What there is to read and to ask: documents and questions by id."""

    sources: Mapping[str, SourceDocument]
    questions: Mapping[str, Question]

    @cached_property
    def sections(self) -> dict[str, Section]:
        """Sections by id."""
        return {section.section_id: section for source in self.sources.values() for section in source.sections}


def plan_documents(shop: Workshop, corpus: Corpus, limit: int | None) -> tuple[Stage, dict[str, SourceFile]]:
    """Plan one unit a source, in order of document id."""
    sources = {source.document_id: source for source in corpus.sources()[:limit]}
    units = [Unit((name,), _source_inputs(source)) for name, source in sorted(sources.items())]
    planned = units_table(units, INGEST)
    return shop.stage("ingest", INGEST, corpus.identity(), planned, lambda table: [""] * len(table)), sources


def ingest(shop: Workshop, corpus: Corpus, limit: int | None) -> Stage:
    """Read every source that is new or changed; the stage's rows are then one a document, in order of document id."""
    shop = shop.for_all_shards()
    stage, sources = plan_documents(shop, corpus, limit)

    def make(pending: Sequence[Unit]) -> Rows:
        for unit in pending:
            yield to_row(corpus.ingest(sources[str(unit.key[0])]))

    try:
        shop.work(stage, make)
    finally:
        corpus.close()
    return stage


def plan_evidence(shop: Workshop, retriever: Retriever, cells: Sequence[CellKey], readings: Readings) -> Stage:
    """Plan one unit a cell, (question id, document id)."""
    contents = {name: content_sha256(source) for name, source in readings.sources.items()}
    read = {name: source_read(retriever, name, readings.sources).document.document_id for name in contents}
    asked = {name: canonical_json(question.text) for name, question in readings.questions.items()}
    shown = {name: canonical_json(contents[source]) for name, source in read.items()}
    # The digest of both, its parts serialised once each: there may be a hundred thousand cells.
    units = [Unit(cell, text_sha256(f"[{asked[cell[0]]},{shown[cell[1]]}]")) for cell in cells]
    return shop.stage("retrieve", EVIDENCE, retriever.identity(), units_table(units, EVIDENCE), cell_groups)


def retrieve(shop: Workshop, retriever: Retriever, cells: Sequence[CellKey], readings: Readings) -> Stage:
    """Find evidence for the planned cells of this shard."""
    stage = plan_evidence(shop, retriever, cells, readings)

    def make(pending: Sequence[Unit]) -> Rows:
        for document, batch in groupby(pending, key=lambda unit: str(unit.key[1])):
            asked = [readings.questions[str(unit.key[0])] for unit in batch]
            source = source_read(retriever, document, readings.sources)
            for rows in retriever.retrieve(asked, source):
                names = pa.array([document] * len(rows), pa.string())
                yield rows.set_column(rows.schema.get_field_index("document_id"), "document_id", names)

    shop.work(stage, make)
    return stage


def plan_answers(
    shop: Workshop, generator: Generator, evidence: pa.Table, readings: Readings
) -> tuple[Stage, dict[CellKey, Evidence]]:
    """Plan one unit a cell that has evidence; return the stage and the evidence by cell.

    Args:
        shop: where it is done.
        generator: what will answer.
        evidence: rows with ``EVIDENCE_COLUMNS``.
        readings: documents and questions.
    """
    found = evidence_by_cell(evidence)
    units = [
        Unit((*key, "default"), _cell_inputs(readings.questions[key[0]], item, readings.sections))
        for key, item in found.items()
    ]
    return shop.stage("generate", ANSWERS, generator.identity(), units_table(units, ANSWERS), cell_groups), found


def generate(shop: Workshop, generator: Generator, retrieved: Stage, readings: Readings) -> Stage:
    """Answer the planned cells of this shard from the evidence found for them."""
    whole = shop.shard.count == 1 or "generate" not in shop.stages
    evidence = (
        retrieved.rows(EVIDENCE_COLUMNS)
        if whole
        else retrieved.ledger.current(retrieved.share(shop.shard), EVIDENCE_COLUMNS)
    )
    stage, found = plan_answers(shop, generator, evidence, readings)

    def make(pending: Sequence[Unit]) -> Rows:
        wanted = []
        for unit in pending:
            question, document = str(unit.key[0]), str(unit.key[1])
            item = found[question, document]
            wanted.append(Cell(readings.questions[question], item, resolve(item, readings.sections)))
        yield from (answer.row() for answer in generator.answer(wanted))

    shop.work(stage, make)
    return stage


def plan_judgements(
    shop: Workshop,
    judge: Judge,
    answers: pa.Table,
    questions: Mapping[str, Question],
    prescreen: Prescreen = RULE,
) -> tuple[pa.Table, Stage]:
    """Pre-screen the pairs of these answers, plan the judging of those left; return all pairs and the stage."""
    pairs = prescreen.pairs(answers)
    planned = _planned_pairs(judge, to_judge(pairs).select(_PAIR), answers, questions)
    if judge.group_size > 1:
        planned = Groups(planned, judge.group_size).with_inputs()
    return pairs, shop.stage("compare", JUDGEMENTS, judge.identity(), planned, _pair_groups)


def compare(
    shop: Workshop,
    judge: Judge,
    answers: pa.Table,
    questions: Mapping[str, Question],
    prescreen: Prescreen = RULE,
) -> tuple[pa.Table, Stage]:
    """Judge the pairs of answers that the pre-screen leaves; return all pairs, screened, and the judging stage.

    Replies that an earlier parser could not read are read again first, without calls.
    """
    pairs, stage = plan_judgements(shop, judge, answers, questions, prescreen)
    groups = Groups(stage.planned, judge.group_size) if judge.group_size > 1 else None
    reread_judgements(shop, stage, judge, groups)

    def make(pending: Sequence[Unit]) -> Rows:
        texts = _answers_by_cell(answers)
        wanted = {unit.key for unit in pending}
        if groups is None:
            todo = [_pair(unit.key, texts, questions) for unit in pending]
        else:
            company = groups.company(wanted)
            keys = [unit.key for unit in units_of(stage.planned.take(pa.array(company)))]
            numbered = zip(keys, groups.numbers[company].tolist(), strict=True)
            todo = [_pair(key, texts, questions, group) for key, group in numbered]
        for judgement in judge.judge(judging_order(todo)):
            row = judgement.row()
            if tuple(row[name] for name in JUDGEMENTS.key) in wanted:
                yield row

    shop.work(stage, make)
    return pairs, stage


def _pair(
    key: tuple[str | int, ...], texts: Mapping[CellKey, Answer], questions: Mapping[str, Question], group: int = 0
) -> Pair:
    question, a, b, _, side, replicate = map(str, key)
    shown_first: Any = side
    return Pair(questions[question], texts[question, a], texts[question, b], shown_first, int(replicate), group)


def evidence_by_cell(evidence: pa.Table) -> dict[CellKey, Evidence]:
    """Return evidence by cell, without its candidates, from a table with ``EVIDENCE_COLUMNS``."""
    rows = evidence.select(EVIDENCE_COLUMNS).to_pylist()
    return {
        (row["question_id"], row["document_id"]): evidence_from_row({**row, "candidates": [], "error": None})
        for row in rows
    }


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


def _cell_inputs(question: Question, evidence: Evidence, sections: Mapping[str, Section]) -> str:
    """Hash what a generator is shown. A passage's text is known by its hash, so that no text need be looked up."""
    shown = [
        [
            list(sections[passage.section_id].heading_path),
            passage.page_start,
            passage.page_end,
            passage.text_sha256,
        ]
        for passage in evidence.passages
    ]
    return digest([question.text, str(evidence.outcome), shown])


def _planned_pairs(judge: Judge, pairs: pa.Table, answers: pa.Table, questions: Mapping[str, Question]) -> pa.Table:
    """Return the units of pairs to be judged, a judging order each, column by column: there may be millions."""
    inputs = joined_sha256(_pair_inputs(pairs, answers, questions))
    rows, sides = judge.order_columns(pairs) if isinstance(judge, OrdersColumns) else _orders_one_by_one(judge, pairs)
    replicates = np.tile(np.arange(judge.replicates, dtype=np.int32), len(rows))
    if judge.replicates > 1:
        sides = sides.take(pa.array(np.repeat(np.arange(len(rows)), judge.replicates)))
        rows = np.repeat(rows, judge.replicates)
    columns = [pairs[name].cast(pa.string()).take(pa.array(rows)) for name in _PAIR]
    columns += [_repeated("default", len(rows)), sides]
    columns += [pa.array(replicates), inputs.take(pa.array(rows))]
    return pa.table(columns, names=[*JUDGEMENTS.key, "inputs_sha256"])


def _orders_one_by_one(judge: Judge, pairs: pa.Table) -> tuple[np.ndarray, pa.Array]:
    orders = [judge.orders(*pair) for pair in zip(*(pairs[name].to_pylist() for name in _PAIR), strict=True)]
    rows = np.repeat(np.arange(len(pairs)), [len(sides) for sides in orders])
    return rows, pa.array(chain.from_iterable(orders), pa.string())


def _pair_inputs(pairs: pa.Table, answers: pa.Table, questions: Mapping[str, Question]) -> list[Hashed]:
    """Return the texts of each pair, hashed: its question and both answers, by the pairs' dictionary codes."""
    question, a, b = (pairs[name].combine_chunks() for name in _PAIR)
    row_of = np.zeros((len(question.dictionary), len(a.dictionary)), np.int64)
    asked, read = (
        pc.index_in(answers[name].combine_chunks(), value_set=names)
        for name, names in (("question_id", question.dictionary), ("document_id", a.dictionary))
    )
    known = np.flatnonzero(pc.and_(pc.is_valid(asked), pc.is_valid(read)))  # in some pair
    row_of[asked.take(pa.array(known)).to_numpy(), read.take(pa.array(known)).to_numpy()] = np.arange(len(known))
    texts = [text_sha256(text) for text in answers["text"].take(pa.array(known)).to_pylist()]
    asked_texts = [text_sha256(questions[name].text) for name in question.dictionary.to_pylist()]
    codes = question.indices.to_numpy()
    return [(asked_texts, codes), *((texts, row_of[codes, side.indices.to_numpy()]) for side in (a, b))]


def _repeated(word: str, count: int) -> pa.Array:
    return pa.nulls(count, pa.string()).fill_null(word)


def _answers_by_cell(answers: pa.Table) -> dict[CellKey, Answer]:
    return {(row["question_id"], row["document_id"]): answer_from_row(row) for row in answers.to_pylist()}


def cell_groups(units: pa.Table) -> list[str]:
    """Return the prefix group of each cell: its document, and which eighth of the questions its question falls into."""
    buckets = {name: int(text_sha256(name)[:8], 16) % PREFIX_BUCKETS for name in set(units["question_id"].to_pylist())}
    pairs = zip(units["question_id"].to_pylist(), units["document_id"].to_pylist(), strict=True)
    return [f"{document}\n{buckets[question]}" for question, document in pairs]


def _pair_groups(units: pa.Table) -> pa.ChunkedArray:
    first = pc.if_else(pc.equal(units["shown_first"], "a"), units["document_a"], units["document_b"])
    return pc.binary_join_element_wise(units["question_id"], first, "\n")
