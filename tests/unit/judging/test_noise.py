from typing import Any

import pyarrow as pa

from transplantqa.judging.noise import steadiness
from transplantqa.records import Judgement, Label, Outcome
from transplantqa.store.tables import COMPARISONS, JUDGEMENTS


def judged(pair: str, replicate: int, label: Label | None, side: Any = "a") -> dict[str, Any]:
    outcome = Outcome.PARSE_FAILED if label is None else Outcome.OK
    row = Judgement(pair, "d1", "d2", outcome, side, label, replicate=replicate).row()
    return {**row, "attempt": 1, "inputs_sha256": "0"}


def figures(*rows: dict[str, Any], consistent: tuple[bool | None, ...] = ()) -> dict[str, float]:
    names = dict.fromkeys(COMPARISONS.schema.names)
    key = {"question_id": "q", "document_a": "a", "document_b": "b", "outcome": "ok"}
    compared = [{**names, **key, "consistent": value} for value in consistent]
    return steadiness(
        pa.Table.from_pylist(compared, schema=COMPARISONS.schema),
        pa.Table.from_pylist(list(rows), schema=JUDGEMENTS.schema),
    )


def test_the_noise_floor_is_the_share_of_repeated_judgings_whose_labels_differ() -> None:
    found = figures(
        judged("q1", 0, Label.DIVERGENT),
        judged("q1", 1, Label.CONSISTENT),
        judged("q2", 0, Label.CONSISTENT),
        judged("q2", 1, Label.CONSISTENT),
        judged("q3", 0, Label.CONSISTENT),
        judged("q3", 1, None),
        judged("q4", 0, Label.CONSISTENT),
        judged("q4", 0, Label.DIVERGENT, side="b"),
    )
    assert found == {"judge_noise_floor": 0.5, "judge_noise_floor_n": 2}


def test_order_consistency_is_over_the_pairs_judged_both_ways() -> None:
    found = figures(consistent=(True, True, False, True, None))
    assert found == {"judge_order_consistency": 0.75, "judge_order_consistency_n": 4}


def test_what_was_not_measured_is_not_there() -> None:
    assert figures(judged("q1", 0, Label.DIVERGENT), consistent=(None,)) == {}
