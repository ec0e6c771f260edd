"""Rows appended in columns are kept like rows appended one by one."""

from pathlib import Path

import pyarrow as pa
import pytest

from transplantqa.records import Outcome
from transplantqa.store import Ledger, Method, Unit
from transplantqa.store.tables import EMBED


def batch(*rows: tuple[str, str]) -> pa.RecordBatch:
    """Return rows of the embed table, (text hash, outcome)."""
    names = pa.array([name for name, _ in rows])
    vectors = pa.array([[1.0, 2.0]] * len(rows), pa.list_(pa.float32()))
    columns = [names, vectors, pa.array([outcome for _, outcome in rows]), names]
    return pa.RecordBatch.from_arrays(columns, names=["text_sha256", "vector", "outcome", "inputs_sha256"])


def ledger(root: Path) -> Ledger:
    return Ledger(root, EMBED, Method("embed", {}))


def units(*names: str) -> list[Unit]:
    return [Unit((name,), name) for name in names]


def test_batches_and_rows_are_found_in_the_order_of_the_plan(tmp_path: Path) -> None:
    row = {"text_sha256": "b", "vector": [3.0], "outcome": "ok", "inputs_sha256": "b"}
    with ledger(tmp_path).writer() as writer:
        writer.append_batch(batch(("a", "ok"), ("c", "ok")))
        writer.append(row)
        writer.append_batch(batch(("d", "ok")))
    found = ledger(tmp_path).current(units("d", "b", "a", "c"))
    assert found["text_sha256"].to_pylist() == ["d", "b", "a", "c"]
    assert found["vector"].to_pylist() == [[1.0, 2.0], [3.0], [1.0, 2.0], [1.0, 2.0]]
    assert found["attempt"].to_pylist() == [1] * 4


def test_a_batch_larger_than_a_flush_is_on_disk_after_it(tmp_path: Path) -> None:
    names = [f"{number:04d}" for number in range(1000)]
    with ledger(tmp_path).writer(flush_rows=64) as writer:
        for start in range(0, 1000, 250):
            writer.append_batch(batch(*((name, "ok") for name in names[start : start + 250])))
        writer.flush()
        assert ledger(tmp_path).report(units(*names)).is_exact


def test_a_failed_unit_of_a_batch_is_tried_again_with_the_next_attempt(tmp_path: Path) -> None:
    kept = ledger(tmp_path)
    failed = str(Outcome.ENGINE_ERROR)
    with kept.writer() as writer:
        writer.append_batch(batch(("a", "ok"), ("b", failed)))
    assert kept.pending(units("a", "b")) == units("b")
    with kept.writer() as writer:
        writer.append_batch(batch(("b", failed)))
        writer.append_batch(batch(("b", "ok")))
    found = kept.current(units("a", "b"), ["outcome", "attempt"]).to_pylist()
    assert found == [{"outcome": "ok", "attempt": 1}, {"outcome": "ok", "attempt": 3}]


@pytest.mark.parametrize(
    "wrong",
    [
        batch(("a", "no outcome")),
        batch(("a", "ok")).drop_columns(["vector"]),
        batch(("a", "ok")).append_column("more", pa.array([1])),
        batch(("a", "ok")).set_column(1, "vector", pa.array([None], pa.list_(pa.float32()))),
        batch(("a", "ok")).set_column(1, "vector", pa.array(["text"])),
    ],
)
def test_a_batch_that_the_table_does_not_describe_is_refused(tmp_path: Path, wrong: pa.RecordBatch) -> None:
    with pytest.raises(ValueError, match="table embed"), ledger(tmp_path).writer() as writer:
        writer.append_batch(wrong)
    assert ledger(tmp_path).pending(units("a")) == units("a")
