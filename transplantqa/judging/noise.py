"""How steady a judge is: the same pair shown the other way round, and the same pair judged again."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from transplantqa.records import Outcome

JUDGING = ("question_id", "document_a", "document_b", "variant", "shown_first")


def steadiness(comparisons: pa.Table, judgements: pa.Table) -> dict[str, float]:
    """Return flat figures, each with its denominator ``_n``, of those that were measured.

    ``judge_order_consistency``: the share of pairs judged in both orders whose labels agree. ``judge_noise_floor``: the
    share of (pair, order) judged more than once whose labels are not all the same: differences between systems or
    judges below it are noise.

    Args:
        comparisons: rows of ``store.tables.COMPARISONS``.
        judgements: rows of ``store.tables.JUDGEMENTS``, replicates included.
    """
    figures: dict[str, float] = {}
    both = comparisons["consistent"].drop_null()
    if len(both):
        figures |= {"judge_order_consistency": float(pc.mean(both).as_py()), "judge_order_consistency_n": len(both)}
    repeated = _labels_per_judging(judgements)
    if len(repeated):
        figures |= {"judge_noise_floor": float(np.mean(repeated > 1)), "judge_noise_floor_n": len(repeated)}
    return figures


def _labels_per_judging(judgements: pa.Table) -> np.ndarray:
    """Return how many different labels each (pair, order) got, of those read at least twice."""
    read = judgements.filter(pc.equal(judgements["outcome"], str(Outcome.OK)))
    counted = read.group_by(list(JUDGING)).aggregate([("label", "count"), ("label", "count_distinct")])
    twice = counted.filter(pc.greater(counted["label_count"], 1))
    return np.asarray(twice["label_count_distinct"].to_numpy())
