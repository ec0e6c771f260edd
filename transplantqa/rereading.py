"""Judgements that could not be read, read again from the text that was kept: a better parser needs no calls."""

import pyarrow.compute as pc

from transplantqa.judging.groups import Groups
from transplantqa.judging.protocols import Judge
from transplantqa.records import Outcome, judgement_from_row
from transplantqa.store import Waiting
from transplantqa.store.tables import JUDGEMENTS
from transplantqa.workshop import Stage, Workshop


def reread_judgements(shop: Workshop, stage: Stage, judge: Judge, groups: Groups | None) -> int:
    """Read this shard's unreadable replies with the present parser; append those that now can be read, as attempts.

    Args:
        shop: where it is done; nothing is unless the stage is asked for.
        stage: the judging stage.
        judge: knows how its replies are read.
        groups: the pairs judged together, for a judge that has groups.

    Returns:
        How many judgements were won.
    """
    if stage.name not in shop.stages:
        return 0
    mine = stage.share(shop.shard)
    unfinished = stage.ledger.pending_table(mine, [Outcome.PARSE_FAILED])
    rows = stage.ledger.current(unfinished)
    won = []
    for row in rows.filter(pc.equal(rows["outcome"], str(Outcome.PARSE_FAILED))).to_pylist():
        before = judgement_from_row(row)
        place = groups.place(tuple(row[name] for name in JUDGEMENTS.key)) if groups is not None else 1
        after = judge.reread(before, place)
        if after.outcome is not before.outcome:
            won.append({**after.row(), "inputs_sha256": row["inputs_sha256"], "attempt": row["attempt"] + 1})
    if won:
        with stage.ledger.writer(shop.shard, waiting=Waiting(shop.wait_seconds, shop.stop.check)) as writer:
            for row in won:
                writer.append(row)
    return len(won)
