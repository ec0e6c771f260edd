"""What a composed system has before it: asks the ledger and the components' own plans; makes and loads nothing."""

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from transplantqa.accounting import Usage, used
from transplantqa.config import RunConfig, build
from transplantqa.corpus.ingested import SourceFile
from transplantqa.corpus.plan import plan
from transplantqa.errors import ModelError
from transplantqa.judging.prescreens import RULE
from transplantqa.models.protocols import Request
from transplantqa.models.wordpiece import WordPieceTokenizer
from transplantqa.pipeline import System, load_questions, readable
from transplantqa.planning import prompts
from transplantqa.planning.evidence import expected_evidence
from transplantqa.planning.expectations import Expectations
from transplantqa.planning.meter import Meter
from transplantqa.planning.outlook import Calls, Outlook, Plan
from transplantqa.records import Document, Outcome
from transplantqa.signals import StopRequest
from transplantqa.stages import (
    EVIDENCE_COLUMNS,
    CellKey,
    Readings,
    plan_answers,
    plan_documents,
    plan_evidence,
    plan_judgements,
)
from transplantqa.store import WHOLE
from transplantqa.workshop import Stage, Workshop

ANSWER_COLUMNS = ["question_id", "document_id", "variant", "outcome", "text"]
USAGE_COLUMNS = ["prompt_tokens", "cached_tokens", "completion_tokens", "seconds"]

BYTES_A_UNIT = {"ingest": 250_000, "retrieve": 1_200, "generate": 500, "compare": 450}
"""On disk, sealed, where no unit was made yet: of the bundled sample, rounded up."""


def make_plan(config: RunConfig) -> Plan:
    """Return what running a system would do.

    Raises:
        TransplantQAError: the corpus, the questions or the ledger can't be read.
    """
    system = System.assemble(config)
    with StopRequest() as stop, closing(system), ExitStack() as models:
        retry = tuple(Outcome(outcome) for outcome in config.retry)
        shop = Workshop(Path(config.artifacts), frozenset(), WHOLE, retry, stop)
        return _Survey(shop, system, config, models).plan()


@dataclass
class _Survey:
    """One survey, stage by stage; each needs what the one before found."""

    shop: Workshop
    system: System
    config: RunConfig
    models: ExitStack
    notes: list[str] = field(default_factory=list)

    def plan(self) -> Plan:
        ingested, sources = plan_documents(self.shop, self.system.corpus, self.config.limit.documents)
        documents = self.outlook("ingest", len(sources), ingested)
        rows = ingested.found().to_pylist()
        self.readings = Readings(readable(rows), load_questions(self.system, self.config))
        read = {name: source.document for name, source in self.readings.sources.items()}
        unread = sorted(set(sources) - {row["document_id"] for row in rows})
        self.documents = read | {name: _unread(sources[name]) for name in unread}
        if unread:
            self.note(f"{len(unread)} documents are not read yet: `transplantqa ingest` first makes the plan exact")
        asked = tuple(self.readings.questions.values())
        self.cells = plan(asked, self.documents.values(), self.system.corpus.groups())
        retrieved, evidence = self.retrieval()
        generated, answers = self.generation(evidence)
        stages = (documents, retrieved, generated, self.comparison(answers))
        free = shutil.disk_usage(_existing(self.shop.root)).free
        return Plan(stages, str(self.shop.root), free, tuple(dict.fromkeys(self.notes)))

    def note(self, text: str) -> None:
        self.notes.append(text)

    def retrieval(self) -> tuple[Outlook, pa.Table | None]:
        """Return the outlook, and the evidence there is of the planned cells."""
        cells = [cell for cell in self.cells if cell[1] in self.readings.sources]
        stage = self.tried(lambda: plan_evidence(self.shop, self.system.retriever, cells, self.readings))
        found = None if stage is None else stage.found(EVIDENCE_COLUMNS)
        return self.outlook("retrieve", len(self.cells), stage, is_exact=len(cells) == len(self.cells)), found

    def generation(self, evidence: pa.Table | None) -> tuple[Outlook, pa.Table | None]:
        """Return the outlook, and the answers there are to the planned cells."""
        planned = None
        if evidence is not None:
            planned = self.tried(lambda: plan_answers(self.shop, self.system.generator, evidence, self.readings)[0])
        whole = evidence is not None and len(evidence) == len(self.cells)
        outlook = self.outlook("generate", len(self.cells), planned, is_exact=whole)
        answers = None if planned is None else planned.found([*ANSWER_COLUMNS, *USAGE_COLUMNS])
        generator = self.system.generator
        if isinstance(generator, prompts.AsksOfCells):
            request = prompts.empty_cell_request(generator)
            fixed = self.generator_meter.messages(request.messages)
            sizes = prompts.together(list(self.cell_prompts(evidence, planned, fixed)))
            outlook = self.called(outlook, sizes, request, answers)
        return outlook, answers

    def cell_prompts(self, evidence: pa.Table | None, planned: Stage | None, fixed: int) -> Iterable[prompts.Sizes]:
        """Yield the prompts of cells to do: those that have evidence, and those that don't."""
        meter, tokens = self.generator_meter, self.question_tokens(self.generator_meter)
        known: set[CellKey] = set()
        if evidence is not None:
            known = set(_ordered_cells(evidence))
            pending = known
            if planned is not None:
                pending = set(_ordered_cells(planned.ledger.pending_table(planned.planned, self.shop.retry)))
            keep = pa.array([key in pending for key in _ordered_cells(evidence)], pa.bool_())
            yield prompts.of_evidence(evidence.filter(keep), fixed, tokens, meter)
        left = [cell for cell in self.cells if cell not in known]
        asked = []
        for name, group in groupby(left, key=lambda cell: cell[1]):
            document = self.readings.sources.get(name)
            expected = expected_evidence(
                self.config.retriever, self.chunk_tokens, None if document is None else document.document
            )
            if expected is None:
                self.note("the prompts of documents that aren't read can't be told: this retriever shows them whole")
                continue
            asked.append((expected, [tokens[cell[0]] for cell in group]))
        if asked:
            self.note("prompts of cells without evidence are the longest that the retriever's limits allow")
        yield prompts.of_documents(asked, fixed, meter, self.chunk_tokens)

    def comparison(self, answers: pa.Table | None) -> Outlook:
        """Return the judge's outlook: counted where every cell has its answer, else expected."""
        if answers is not None and len(answers) == len(self.cells):
            return self.counted_comparison(answers)
        share = self.answered_share(answers)
        asked = _counts(self.cells)
        pairs = sum(count * (count - 1) / 2 for count in asked.values()) * share**2
        times = len(self.system.judge.orders("q", "a", "b")) * self.system.judge.replicates
        self.note(
            f"judgements are expected from {share:.0%} of the cells being answered "
            f"({'so far' if answers is not None and len(answers) else 'expectations.answered_share'})"
        )
        outlook = self.outlook("compare", round(pairs * times), None, is_exact=False)
        judge = self.system.judge
        if not isinstance(judge, prompts.AsksOfPairs):
            return outlook
        request = prompts.empty_pair_request(judge)
        meter = self.judge_meter
        answer = min(self.expectations.reply_tokens["generate"], self.config.generator.get("max_answer_tokens", 10**9))
        if answers is not None and len(answers):
            answer = _mean(pc.utf8_length(_answered(answers)["text"])) * meter.per_character or answer
        questions = self.question_tokens(meter)
        judging = prompts.Judging(meter.messages(request.messages), judge.group_size)
        sizes = prompts.of_expected_pairs(pairs * times, judging, _mean(pa.array(questions.values())), answer)
        return self.called(outlook, sizes, request, None)

    def counted_comparison(self, answers: pa.Table) -> Outlook:
        judge = self.system.judge
        prescreen = self.system.prescreen or RULE
        texts = answers.select(ANSWER_COLUMNS)
        stage = self.tried(lambda: plan_judgements(self.shop, judge, texts, self.readings.questions, prescreen)[1])
        outlook = self.outlook("compare", 0 if stage is None else len(stage.planned), stage, is_exact=stage is not None)
        if stage is None or not isinstance(judge, prompts.AsksOfPairs):
            return outlook
        request = prompts.empty_pair_request(judge)
        meter = self.judge_meter
        sizes = prompts.of_pairs(
            stage.ledger.pending_table(stage.planned, self.shop.retry),
            answers,
            prompts.Judging(meter.messages(request.messages), judge.group_size),
            self.question_tokens(meter),
            meter,
        )
        return self.called(outlook, sizes, request, stage.found(USAGE_COLUMNS))

    def called(self, outlook: Outlook, sizes: prompts.Sizes, request: Request, done: pa.Table | None) -> Outlook:
        """Add a stage's calls, the time they take as measured or expected, and their price."""
        component = self.config.generator if outlook.stage == "generate" else self.config.judge
        measured = None if done is None else _measured(done)
        reply = min(self.expectations.reply_tokens[outlook.stage], request.max_tokens)
        calls = Calls(
            *sizes,
            reply_tokens=reply if measured is None else measured.completion_tokens,
            reply_room=request.max_tokens,
            context_tokens=int(component["model"]["context_tokens"]),
        )
        if measured is not None:
            seconds: float | None = measured.seconds * (calls.total - calls.unfit)
            self.note(f"{outlook.stage}: time and length of replies as in the calls already made")
        else:
            seconds = self.expectations.seconds(calls.usage())
        if calls.total and seconds is None:
            self.note("no time is told before calls were made; or set expectations.*_tokens_per_second")
        return replace(outlook, calls=calls, seconds=seconds, price=self.system.prices[outlook.stage])

    def outlook(self, name: str, planned: int, stage: Stage | None, *, is_exact: bool = True) -> Outlook:
        """Return what the ledger says of a stage."""
        cached = size = 0.0
        if stage is not None:
            cached = len(stage.planned) - len(stage.ledger.pending_table(stage.planned, self.shop.retry))
            if cached and stage.ledger.folder.is_dir():
                size = sum(path.stat().st_size for path in stage.ledger.folder.iterdir()) / cached
        left = planned - int(cached)
        return Outlook(name, planned, int(cached), is_exact, bytes_to_write=left * (size or BYTES_A_UNIT[name]))

    def tried(self, make: Callable[[], Stage]) -> Stage | None:
        """Return a stage, or none where its component can't name itself here: then nothing counts as cached."""
        try:
            return make()
        except ModelError as error:
            self.note(f"what is done already can't be looked up: {str(error).partition(chr(10))[0]}")
            return None

    def answered_share(self, answers: pa.Table | None) -> float:
        if answers is None or not len(answers):
            return self.expectations.answered_share
        return len(_answered(answers)) / len(answers)

    def question_tokens(self, meter: Meter) -> dict[str, float]:
        """Return the tokens of each question, by id."""
        asked = self.readings.questions
        return {name: len(question.text) * meter.per_character for name, question in asked.items()}

    @property
    def chunk_tokens(self) -> int:
        return int(self.config.corpus.get("chunk_tokens", 512))

    @cached_property
    def expectations(self) -> Expectations:
        found: Expectations = build(self.config.expectations)
        return found

    @cached_property
    def generator_meter(self) -> Meter:
        return self.meter(self.config.generator)

    @cached_property
    def judge_meter(self) -> Meter:
        same = self.config.judge.get("model") == self.config.generator.get("model")
        return self.generator_meter if same else self.meter(self.config.judge)

    def meter(self, component: Mapping[str, Any]) -> Meter:
        model = self.models.enter_context(closing(build(component["model"])))
        sample = (section.text for section in self.readings.sections.values())
        texts = [*sample] or [question.text for question in self.readings.questions.values()]
        meter = Meter(model, WordPieceTokenizer(), texts)
        if meter.note:
            self.note(meter.note)
        return meter


def _unread(source: SourceFile) -> Document:
    """Return what is known of a document before it is read."""
    facts = ("document_id", "institution", "group", "phase", "year", "source_file", "sha256", "licence")
    return Document(
        **{name: getattr(source, name) for name in facts},
        title=source.title or source.document_id,
        pages=0,
        characters=0,
        tokens=0,
        redistributable=source.redistributable,
        verdict="accept",
    )


def _measured(rows: pa.Table) -> Usage | None:
    """Return the mean of the calls that were made; null where none was."""
    made = rows.filter(pc.greater(rows["completion_tokens"], 0))
    if not len(made):
        return None
    total, calls = used(made), len(made)
    return Usage(
        total.prompt_tokens / calls, total.cached_tokens / calls, total.completion_tokens / calls, total.seconds / calls
    )


def _answered(answers: pa.Table) -> pa.Table:
    return answers.filter(pc.equal(answers["outcome"], str(Outcome.OK)))


def _ordered_cells(table: pa.Table) -> Iterable[CellKey]:
    return zip(table["question_id"].to_pylist(), table["document_id"].to_pylist(), strict=True)


def _counts(cells: Sequence[CellKey]) -> dict[str, int]:
    found: dict[str, int] = {}
    for question, _ in cells:
        found[question] = found.get(question, 0) + 1
    return found


def _mean(values: Any) -> float:
    return float(pc.mean(values).as_py() or 0.0)


def _existing(folder: Path) -> Path:
    """Return the folder or the nearest one above it that exists."""
    return next(place for place in (folder.resolve(), *folder.resolve().parents) if place.is_dir())
