"""One run: builds the components of a system, leads documents through the stages, has what was found written."""

import math
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from transplantqa.accounting import Price
from transplantqa.analysis import Analysis
from transplantqa.config import EvaluateRetrievalConfig, IngestConfig, RunConfig, build, component_key
from transplantqa.config import Stage as StageName
from transplantqa.corpus.plan import plan
from transplantqa.corpus.protocols import Corpus, QuestionSource
from transplantqa.corpus.stage_rows import from_row
from transplantqa.errors import EXIT_FAILURES, EXIT_OK, InputError, ModelError
from transplantqa.findings import RunContents, write_run
from transplantqa.finished import Asked, Identified, find_finished, keep_receipt, ledger_state
from transplantqa.generation.protocols import Generator
from transplantqa.judging.facts import JudgingFacts
from transplantqa.judging.prescreens import RULE
from transplantqa.judging.protocols import Judge, Prescreen
from transplantqa.records import Outcome, Question
from transplantqa.report.page import write_page
from transplantqa.retrieval.protocols import Retriever, SourceDocument
from transplantqa.signals import StopRequest
from transplantqa.stages import Readings, compare, generate, ingest, retrieve
from transplantqa.store import WHOLE, Shard
from transplantqa.store.embedding_cache import CachedEmbedder
from transplantqa.store.run_folder import RunFolder
from transplantqa.tracking.protocols import Tracker
from transplantqa.workshop import Stage, Workshop


@dataclass(frozen=True)
class System:
    """The components of one run, made from its configuration."""

    corpus: Corpus
    questions: QuestionSource
    retriever: Retriever
    generator: Generator
    judge: Judge
    prescreen: Prescreen | None
    cost: Price | None
    judge_cost: Price | None
    analysis: Analysis
    tracking: Tracker

    @classmethod
    def assemble(cls, config: RunConfig) -> "System":
        """Make every component once; passages are embedded through the ledger, so that runs share the vectors."""
        built = shared_models(config)
        return cls(*(build(getattr(config, name), built) for name in cls.__dataclass_fields__))

    def check(self, stages: frozenset[str]) -> None:
        """Name every component of the stages asked for, so that a missing model is told before hours of work.

        Raises:
            ModelError: naming all engines, weights and endpoints that can't be found.
        """
        made_by: dict[str, Retriever | Generator | Judge] = {
            "retrieve": self.retriever,
            "generate": self.generator,
            "compare": self.judge,
        }
        problems = []
        for component in (made_by[stage] for stage in made_by if stage in stages):
            try:
                component.identity()
            except ModelError as error:
                problems.append(str(error))
        if problems:
            raise ModelError("\n".join(dict.fromkeys(problems)))

    @property
    def prices(self) -> dict[str, Price | None]:
        """The price of what each stage's calls use; the judge's is the generator's where it has none of its own."""
        return {"generate": self.cost, "compare": self.judge_cost or self.cost}

    def close(self) -> None:
        """Release the models' memory."""
        self.generator.close()
        self.judge.close()


def shared_models(config: RunConfig | EvaluateRetrievalConfig) -> dict[str, Any]:
    """Return the reranker and the embedder, built, by configuration; passages are embedded through the ledger."""
    built: dict[str, Any] = {}
    build(config.reranker, built)
    if config.embedder is not None:
        embedder = build(config.embedder, built)
        built[component_key(config.embedder)] = CachedEmbedder(embedder, Path(config.artifacts))
    return built


@dataclass(frozen=True)
class FinishedRun:
    """How a run ended: its folder (none for a part of the work), what to say of it, and who may track it."""

    exit_code: int
    folder: Path | None
    message: str | None = None
    tracker: Tracker | None = None


@dataclass(frozen=True)
class _Material:
    """What a run works on: the ingest stage, every document's row, and what can be read and asked."""

    ingested: Stage
    rows: list[dict[str, Any]]
    readings: Readings


def ingest_only(config: IngestConfig) -> list[dict[str, Any]]:
    """Read the documents and return their rows of the ingest table, by id."""
    with StopRequest() as stop:
        shop = Workshop(Path(config.artifacts), frozenset({"ingest"}), WHOLE, (), stop)
        rows: list[dict[str, Any]] = ingest(shop, build(config.corpus), config.limit.documents).rows().to_pylist()
        return rows


def run_system(config: RunConfig, plain: Mapping[str, Any], name: str) -> FinishedRun:
    """Audit one system: every stage asked for, then the measures and the run's files.

    Args:
        config: the checked configuration.
        plain: the same as plain values, to be kept with the run.
        name: the system's name.

    Raises:
        TransplantQAError: what the user can mend; finished work stays in the ledger.
    """
    system = System.assemble(config)
    system.check(frozenset(config.stages))
    shard = Shard(config.shard.index, config.shard.count)
    whole = _asked_whole(system, config, plain, name)
    if whole is not None and (finished := find_finished(whole)) is not None:
        system.close()
        return FinishedRun(*_verdict(finished, config), tracker=system.tracking)
    with StopRequest() as stop, closing(system):
        retry = tuple(Outcome(outcome) for outcome in config.retry)
        patience = math.inf if config.sweep_id is not None else 0.0
        shop = Workshop(Path(config.artifacts), frozenset(config.stages), shard, retry, stop, patience)
        material = _material(shop, system, config)
        if not shop.stages - {"ingest"}:
            return FinishedRun(EXIT_OK, None, "The documents are read.")
        retrieved = retrieve(shop, system.retriever, planned_cells(system, material.readings), material.readings)
        if not shop.stages - {"ingest", "retrieve"}:
            return FinishedRun(EXIT_OK, None, "Evidence is found.")
        answered = generate(shop, system.generator, retrieved, material.readings)
        if not shop.stages & {"compare", "analyse"}:
            return FinishedRun(EXIT_OK, None, "Answers are generated.")
        if config.generator.get("model") != config.judge.get("model"):
            system.generator.close()  # room for the judge's model
        answers = answered.rows()
        pairs, judged = compare(shop, system.judge, answers, material.readings.questions, system.prescreen or RULE)
        if "analyse" not in shop.stages or shard.count > 1:
            return FinishedRun(EXIT_OK, None, "Pairs are judged. Run the same command without shard to analyse.")
    contents = RunContents(
        system=name,
        config=plain,
        documents=material.rows,
        questions=tuple(material.readings.questions.values()),
        stages={stage.name: stage for stage in (material.ingested, retrieved, answered, judged)},
        pairs=pairs,
        judging=judging_facts(system, config),
        summaries=shop.summaries,
        prices=system.prices,
    )
    state = ledger_state(contents.stages)
    folder = write_run(Path(config.artifacts), contents, system.analysis, system.questions.gold)
    write_page(folder)
    if whole is not None:
        keep_receipt(whole, folder, state, contents.stages)
    return FinishedRun(*_verdict(folder, config), tracker=system.tracking)


def _asked_whole(system: System, config: RunConfig, plain: Mapping[str, Any], name: str) -> Asked | None:
    """Return all that is asked, or null where only a part of a run is asked for, or something is to be tried again."""
    if config.shard.count > 1 or config.retry or set(config.stages) != set(get_args(StageName)):
        return None
    methods: dict[str, Identified] = {
        "retriever": system.retriever,
        "generator": system.generator,
        "judge": system.judge,
        "prescreen": system.prescreen or RULE,
    }
    return Asked(name, plain, system.corpus, system.questions, methods, Path(config.artifacts))


def judging_facts(system: System, config: RunConfig) -> JudgingFacts:
    """Return how the pairs of a system come to be decided, besides by the judge's method."""
    models = (config.generator.get("model"), config.judge.get("model"))
    return JudgingFacts(system.prescreen or RULE, system.judge.disagreement, *models)


def planned_cells(system: System, readings: Readings) -> list[tuple[str, str]]:
    """Return the (question id, document id) cells of a system."""
    documents = [source.document for source in readings.sources.values()]
    return plan(tuple(readings.questions.values()), documents, system.corpus.groups())


def load_questions(system: System, config: RunConfig) -> dict[str, Question]:
    """Return the questions to ask, by id.

    Raises:
        InputError: if there are none, or they can't be read.
    """
    questions = system.questions.load()[: config.limit.questions]
    if not questions:
        raise InputError("No questions to ask.\nGive a file with at least one: questions=file questions.path=FILE")
    return {question.question_id: question for question in questions}


def readable(rows: Sequence[Mapping[str, Any]]) -> dict[str, SourceDocument]:
    """Return the documents that can be read, by id, from rows of the ingest table."""
    return {row["document_id"]: from_row(row) for row in rows if row["verdict"] != "reject"}


def _material(shop: Workshop, system: System, config: RunConfig) -> _Material:
    """Load the questions first: a fault in them should not wait for the documents to be read."""
    questions = load_questions(system, config)
    ingested = ingest(shop, system.corpus, config.limit.documents)
    rows: list[dict[str, Any]] = ingested.rows().to_pylist()
    sources = readable(rows)
    if not sources:
        reasons = "\n".join(f"  {row['source_file']}: {'; '.join(row['reasons'])}" for row in rows)
        raise InputError(f"None of the {len(rows)} documents can be read:\n{reasons}\nMend or replace the files.")
    return _Material(ingested, rows, Readings(sources, questions))


def _verdict(folder: RunFolder, config: RunConfig) -> tuple[int, Path, str | None]:
    rate = folder.measures.metrics.get("failure_rate", 0.0)
    if rate <= config.max_failure_rate:
        return EXIT_OK, folder.path, None
    message = (
        f"{rate:.1%} of the units failed, more than max_failure_rate={config.max_failure_rate:g} allows.\n"
        "The failures and their reasons are above and in the run's tables. Try them again with retry=[...], "
        "or raise the limit."
    )
    return EXIT_FAILURES, folder.path, message
