"""One run: builds the components of a system, leads documents through the stages, has what was found written."""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transplantqa.analysis import Analysis
from transplantqa.config import IngestConfig, RunConfig, build, component_key
from transplantqa.corpus.stage_rows import from_row
from transplantqa.corpus.plan import plan
from transplantqa.corpus.protocols import Corpus, QuestionSource
from transplantqa.errors import EXIT_FAILURES, EXIT_OK, InputError
from transplantqa.findings import RunContents, write_run
from transplantqa.generation.protocols import Generator
from transplantqa.judging.protocols import Judge
from transplantqa.records import Outcome, Question
from transplantqa.retrieval.protocols import Retriever, SourceDocument
from transplantqa.signals import StopRequest
from transplantqa.stages import Workshop, compare, generate, ingest, retrieve
from transplantqa.store import WHOLE, Shard
from transplantqa.store.embedding_cache import CachedEmbedder
from transplantqa.store.run_folder import RunFolder
from transplantqa.tracking.protocols import TrackedRun, Tracker


@dataclass(frozen=True)
class System:
    """The components of one run, made from its configuration."""

    corpus: Corpus
    questions: QuestionSource
    retriever: Retriever
    generator: Generator
    judge: Judge
    analysis: Analysis
    tracking: Tracker

    @classmethod
    def assemble(cls, config: RunConfig) -> "System":
        """Make every component once; passages are embedded through the ledger, so that runs share the vectors."""
        built: dict[str, Any] = {}
        build(config.reranker, built)
        if config.embedder is not None:
            embedder = build(config.embedder, built)
            built[component_key(config.embedder)] = CachedEmbedder(embedder, Path(config.artifacts))
        return cls(*(build(getattr(config, name), built) for name in cls.__dataclass_fields__))

    def check(self, stages: frozenset[str]) -> None:
        """Name every component of the stages asked for, so that a missing model is told before hours of work.

        Raises:
            ModelError: if weights or an endpoint can't be found.
        """
        if "retrieve" in stages:
            self.retriever.identity()
        if "generate" in stages:
            self.generator.identity()
        if "compare" in stages:
            self.judge.identity()

    def close(self) -> None:
        """Release the models' memory."""
        self.generator.close()
        self.judge.close()


@dataclass(frozen=True)
class FinishedRun:
    """How a run ended: its folder (none for a shard or part of the stages) and what is to be said of it."""

    exit_code: int
    folder: Path | None
    message: str | None = None
    tracked: TrackedRun | None = None


@dataclass(frozen=True)
class _Asked:
    """What is asked of whom: questions by id, readable documents by id, every document's row."""

    questions: Mapping[str, Question]
    sources: Mapping[str, SourceDocument]
    rows: list[dict[str, Any]]


def ingest_only(config: IngestConfig) -> list[dict[str, Any]]:
    """Read the documents and return their rows of the ingest table, by id."""
    with StopRequest() as stop:
        shop = Workshop(Path(config.artifacts), frozenset({"ingest"}), WHOLE, (), stop)
        return ingest(shop, build(config.corpus), config.limit.documents)


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
    with StopRequest() as stop, closing(system):
        retry = tuple(Outcome(outcome) for outcome in config.retry)
        shop = Workshop(Path(config.artifacts), frozenset(config.stages), shard, retry, stop)
        asked = _asked(shop, system, config)
        if not shop.stages - {"ingest"}:
            return FinishedRun(EXIT_OK, None, "The documents are read.")
        cells = plan(
            tuple(asked.questions.values()),
            [source.document for source in asked.sources.values()],
            system.corpus.groups(),
        )
        retrieved = retrieve(shop, system.retriever, cells, asked.questions, asked.sources)
        if not shop.stages - {"ingest", "retrieve"}:
            return FinishedRun(EXIT_OK, None, "Evidence is found.")
        answered = generate(shop, system.generator, retrieved, asked.questions, asked.sources)
        if not shop.stages & {"compare", "analyse"}:
            return FinishedRun(EXIT_OK, None, "Answers are generated.")
        if config.generator.get("model") != config.judge.get("model"):
            system.generator.close()  # room for the judge's model
        answers = answered.rows()
        pairs, judged = compare(shop, system.judge, answers, asked.questions)
        if "analyse" not in shop.stages or shard.count > 1:
            return FinishedRun(EXIT_OK, None, "Pairs are judged. Run the same command without shard to analyse.")
    contents = RunContents(
        system=name,
        config=plain,
        documents=asked.rows,
        questions=tuple(asked.questions.values()),
        stages={stage.name: stage for stage in (retrieved, answered, judged)},
        pairs=pairs,
        summaries=shop.summaries,
    )
    folder = write_run(Path(config.artifacts), contents, system.analysis, system.questions.gold)
    tracked = system.tracking.track(folder)
    return FinishedRun(*_verdict(folder, config), tracked=tracked)


def _asked(shop: Workshop, system: System, config: RunConfig) -> _Asked:
    """Load the questions first: a fault in them should not wait for the documents to be read."""
    questions = system.questions.load()[: config.limit.questions]
    if not questions:
        raise InputError("No questions to ask.\nGive a file with at least one: questions=file questions.path=FILE")
    rows = ingest(shop, system.corpus, config.limit.documents)
    sources = {row["document_id"]: from_row(row) for row in rows if row["verdict"] != "reject"}
    if not sources:
        reasons = "\n".join(f"  {row['source_file']}: {'; '.join(row['reasons'])}" for row in rows)
        raise InputError(f"None of the {len(rows)} documents can be read:\n{reasons}\nMend or replace the files.")
    return _Asked({question.question_id: question for question in questions}, sources, rows)


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
