"""A finished run opened again: its components, its texts, and the ledger, so that some of it can be asked anew."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pyarrow as pa

from transplantqa.config import Problems, RunConfig, build, validate
from transplantqa.generation.protocols import Cell, Generator
from transplantqa.judging.presentation import judging_order
from transplantqa.judging.protocols import Judge, Pair
from transplantqa.pipeline import shared_models
from transplantqa.records import (
    Answer,
    Chunk,
    Document,
    Evidence,
    Judgement,
    Question,
    Section,
    answer_from_row,
    judgement_from_row,
)
from transplantqa.retrieval.protocols import Retriever, SourceDocument
from transplantqa.stages import EVIDENCE_COLUMNS, CellKey, Readings, cell_groups, evidence_by_cell, resolve, retrieve
from transplantqa.store import Unit, digest, text_sha256, units_table
from transplantqa.store.run_folder import RunFolder
from transplantqa.store.tables import ANSWERS, JUDGEMENTS
from transplantqa.workshop import Rows, Workshop

Asked = tuple[Question, Evidence]


@dataclass(frozen=True)
class Reopened:
    """A finished run and the components that made it.

    Attributes:
        run: its folder.
        config: its configuration, checked again.
        retriever: its retriever.
        generator: its generator.
        judge: its judge.
    """

    run: RunFolder
    config: RunConfig
    retriever: Retriever
    generator: Generator
    judge: Judge

    @cached_property
    def readings(self) -> Readings:
        """The readable documents and the questions, from the run's own tables: the files need not be there."""
        sections, chunks = self.run.rows("sections"), self.run.rows("chunks")
        sources = {}
        for row in self.run.rows("documents"):
            if row["verdict"] != "reject":
                name = row["document_id"]
                own_sections = (_section(one) for one in sections if one["document_id"] == name)
                own_chunks = (_record(Chunk, one) for one in chunks if one["document_id"] == name)
                document = _record(Document, {**row, "reasons": tuple(row["reasons"])})
                sources[name] = SourceDocument(document, tuple(own_sections), tuple(own_chunks))
        questions = {row["question_id"]: _question(row) for row in self.run.rows("questions")}
        return Readings(sources, questions)

    @cached_property
    def answers(self) -> dict[CellKey, Answer]:
        """The run's answers by cell, of readable documents."""
        rows = self.run.rows("answers")
        return {(row["question_id"], row["document_id"]): answer_from_row(row) for row in rows}

    @cached_property
    def evidence(self) -> dict[CellKey, Evidence]:
        """The run's evidence by cell, without candidates."""
        return evidence_by_cell(self.run.table("evidence", EVIDENCE_COLUMNS))

    def close(self) -> None:
        """Release the models' memory."""
        self.generator.close()
        self.judge.close()


def reopen(run: RunFolder, artifacts: str, changed: Mapping[str, Any] | None = None) -> Reopened:
    """Open a run's components from the configuration that it recorded.

    Args:
        run: its folder.
        artifacts: where the ledger is now.
        changed: parts of the configuration that are to be others.

    Raises:
        ConfigError: this version can't build the configuration.
    """
    problems = Problems()
    plain = {**run.config, **(changed or {}), "artifacts": artifacts}
    config = validate("run", plain, problems)
    problems.raise_if_any()
    assert isinstance(config, RunConfig)  # noqa: S101 - what validate returns without problems
    built = shared_models(config)
    parts = (build(getattr(config, name), built) for name in ("retriever", "generator", "judge"))
    return Reopened(run, config, *parts)


def retrieve_again(
    shop: Workshop, retriever: Retriever, cells: Sequence[CellKey], readings: Readings
) -> dict[CellKey, Evidence]:
    """Find evidence for cells through the ledger."""
    ordered = sorted(cells, key=lambda cell: (cell[1], cell[0]))
    return evidence_by_cell(retrieve(shop, retriever, ordered, readings).rows(EVIDENCE_COLUMNS))


def answer_again(
    shop: Workshop, generator: Generator, asked: Iterable[Asked], sections: Mapping[str, Section], variant: str
) -> dict[CellKey, Answer]:
    """Answer questions from evidence, through the ledger, as a variant of their cells.

    Args:
        shop: where it is done.
        generator: what answers.
        asked: questions with their evidence, one a cell.
        sections: sections by id.
        variant: tells these answers from others of the same cells.
    """
    by_cell = {(question.question_id, evidence.document_id): (question, evidence) for question, evidence in asked}
    ordered = sorted(by_cell, key=lambda cell: (cell[1], cell[0]))
    units = [Unit((*cell, variant), _inputs(*by_cell[cell])) for cell in ordered]
    stage = shop.stage("generate", ANSWERS, generator.identity(), units_table(units, ANSWERS), cell_groups)

    def make(pending: Sequence[Unit]) -> Rows:
        wanted = []
        for unit in pending:
            question, evidence = by_cell[str(unit.key[0]), str(unit.key[1])]
            wanted.append(Cell(question, evidence, resolve(evidence, sections)))
        for answer in generator.answer(wanted):
            yield replace(answer, variant=variant).row()

    shop.work(stage, make)
    answers = (answer_from_row(row) for row in stage.rows().to_pylist())
    return {(answer.question_id, answer.document_id): answer for answer in answers}


def judge_again(shop: Workshop, judge: Judge, pairs: Iterable[tuple[Question, Answer, Answer]]) -> list[Judgement]:
    """Judge pairs of answers, through the ledger, in the judge's first order and each by itself.

    Args:
        shop: where it is done.
        judge: what judges.
        pairs: a question and two answers to it; the first one's variant is the judgement's.
    """
    planned: dict[tuple[Any, ...], Pair] = {}
    units = []
    for number, (question, a, b) in enumerate(pairs, start=1):
        side = judge.orders(question.question_id, a.document_id, b.document_id)[0]
        key = (question.question_id, a.document_id, b.document_id, a.variant, side, 0)
        planned[key] = Pair(question, a, b, side, 0, number)
        units.append(Unit(key, digest([question.text, text_sha256(a.text), text_sha256(b.text)])))
    stage = shop.stage("compare", JUDGEMENTS, judge.identity(), units_table(units, JUDGEMENTS), _by_question)

    def make(pending: Sequence[Unit]) -> Rows:
        todo = judging_order(planned[unit.key] for unit in pending)
        yield from (judgement.row() for judgement in judge.judge(todo))

    shop.work(stage, make)
    return [judgement_from_row(row) for row in stage.rows().to_pylist()]


def _by_question(units: pa.Table) -> list[str]:
    names: list[str] = units["question_id"].to_pylist()
    return names


def _inputs(question: Question, evidence: Evidence) -> str:
    shown = [[passage.section_id, passage.char_start, passage.text_sha256] for passage in evidence.passages]
    return digest([question.text, str(evidence.outcome), shown])


def _section(row: Mapping[str, Any]) -> Section:
    found: Section = _record(Section, {**row, "heading_path": tuple(row["heading_path"])})
    return found


def _question(row: Mapping[str, Any]) -> Question:
    lists = {name: tuple(row[name]) for name in ("groups", "topics", "subtopics")}
    found: Question = _record(Question, {**row, **lists})
    return found


def _record(kind: Any, row: Mapping[str, Any]) -> Any:
    return kind(**{name: row[name] for name in kind.__dataclass_fields__})
