"""How far a run is: per stage and shard what is planned, done, failed, missing; nothing is made, no model is loaded."""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from rich import box
from rich.table import Table

from transplantqa.config import RunConfig
from transplantqa.judging.prescreens import RULE
from transplantqa.pipeline import System, load_questions, planned_cells, readable
from transplantqa.records import FAILED_OUTCOMES
from transplantqa.signals import StopRequest
from transplantqa.stages import (
    EVIDENCE_COLUMNS,
    Readings,
    plan_answers,
    plan_documents,
    plan_evidence,
    plan_judgements,
)
from transplantqa.store import WHOLE, Shard
from transplantqa.workshop import Stage, Workshop

_ANSWER_COLUMNS = ["question_id", "document_id", "variant", "outcome", "text"]
_STAGES = ("ingest", "retrieve", "generate", "compare")
_NOTHING: Mapping[int, int] = {}


@dataclass(frozen=True)
class ShardStatus:
    """One stage's share of one shard.

    Attributes:
        stage: the stage.
        shard: which share, none where the stage isn't shared out.
        planned: units planned so far.
        done: of these, units with a row, failures included.
        failed: outcome to number of failures.
        missing: units without a row.
        stale: units whose rows were made from other inputs.
        waiting: units that can't be planned before the stage above has made theirs; null where none can be counted.
        writer: who is writing it now, in words.
    """

    stage: str
    shard: Shard | None
    planned: int
    done: int
    failed: Mapping[str, int]
    missing: int
    stale: int
    waiting: int | None = 0
    writer: str | None = None


def survey(config: RunConfig) -> list[ShardStatus]:
    """Return the status of every stage and shard of a run.

    Raises:
        TransplantQAError: the corpus, the questions or the ledger can't be read.
    """
    system = System.assemble(config)
    with StopRequest() as stop, closing(system):
        shop = Workshop(Path(config.artifacts), frozenset(), WHOLE, (), stop)
        return list(_survey(shop, system, config))


def _survey(shop: Workshop, system: System, config: RunConfig) -> Iterator[ShardStatus]:
    count = config.shard.count
    ingested, _ = plan_documents(shop, system.corpus, config.limit.documents)
    rows = ingested.found().to_pylist()
    yield from _shares(ingested, 1)
    readings = Readings(readable(rows), load_questions(system, config))
    if not readings.sources:
        return
    retrieved = plan_evidence(shop, system.retriever, planned_cells(system, readings), readings)
    yield from _shares(retrieved, count)
    evidence = retrieved.found(EVIDENCE_COLUMNS)
    answered, _ = plan_answers(shop, system.generator, evidence, readings)
    waiting = Counter(retrieved.shards(count).tolist())
    waiting.subtract(answered.shards(count).tolist())
    yield from _shares(answered, count, waiting)
    answers = answered.found(_ANSWER_COLUMNS)
    _, judged = plan_judgements(shop, system.judge, answers, readings.questions, system.prescreen or RULE)
    yield from _shares(judged, count, None if len(answers) < len(retrieved.planned) else {})


def _shares(stage: Stage, count: int, waiting: Mapping[int, int] | None = _NOTHING) -> Iterator[ShardStatus]:
    report = stage.ledger.report(stage.planned)
    planned, missing, stale = (
        Counter(stage.shards(count, units).tolist()) for units in (stage.planned, report.missing, report.stale)
    )
    failed = _failures(stage, count)
    writers = stage.ledger.writers()
    for index in range(count):
        shard = Shard(index, count)
        yield ShardStatus(
            stage=stage.name,
            shard=shard if count > 1 else None,
            planned=planned[index],
            done=planned[index] - missing[index] - stale[index],
            failed=dict(sorted(failed.get(index, Counter()).items())),
            missing=missing[index],
            stale=stale[index],
            waiting=None if waiting is None else waiting.get(index, 0),
            writer=writers.get(shard.label),
        )


def _failures(stage: Stage, count: int) -> dict[int, Counter[str]]:
    rows = stage.found([*stage.ledger.table.key, "outcome"])
    rows = rows.filter(pc.is_in(rows["outcome"], pa.array([str(outcome) for outcome in sorted(FAILED_OUTCOMES)])))
    found: dict[int, Counter[str]] = {}
    for index, outcome in zip(stage.shards(count, rows).tolist(), rows["outcome"].to_pylist(), strict=True):
        found.setdefault(index, Counter())[outcome] += 1
    return found


def status_table(found: list[ShardStatus]) -> Table:
    """Return the table that ``transplantqa status`` prints."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("stage")
    for column in ("shard", "planned", "done", "failed", "missing", "stale", "waiting"):
        table.add_column(column, justify="right")
    for share in found:
        failed = ", ".join(f"{number:,} {outcome}" for outcome, number in share.failed.items())
        table.add_row(
            share.stage,
            "-" if share.shard is None else f"{share.shard.index} of {share.shard.count}",
            f"{share.planned:,}",
            f"{share.done:,}",
            failed or "0",
            f"{share.missing:,}",
            f"{share.stale:,}",
            "?" if share.waiting is None else f"{share.waiting:,}",
        )
    return table


def writers(found: list[ShardStatus]) -> list[str]:
    """Return a line for each share that is being written now, saying by whom."""
    return [
        f"{share.stage}{f', shard {share.shard.index} of {share.shard.count},' if share.shard else ''} "
        f"is being written by {share.writer}"
        for share in found
        if share.writer
    ]


def closing_line(found: list[ShardStatus]) -> str:
    """Return what the table comes to."""
    left = sum(share.missing + share.stale + (share.waiting or 0) for share in found)
    if not left and len({share.stage for share in found}) == len(_STAGES) and all(s.waiting == 0 for s in found):
        return "All units are done: `transplantqa run` with the same arguments analyses them."
    unfinished = [share for share in found if share.missing or share.stale]
    todo = unfinished[0].stage if unfinished else "retrieve"
    shards = [share.shard for share in unfinished if share.stage == todo and share.shard is not None]
    of = f" shard.count={shards[0].count} shard.index=" if shards else ""
    return (
        f"{left:,} units are left, and those that can only be planned when the stage above is done (waiting, ?).\n"
        f"Next: transplantqa run <the same arguments> stages=[{todo}]{of}{'|'.join(str(s.index) for s in shards)}"
    )
