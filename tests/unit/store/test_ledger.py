"""The ledger's promises: what is reused, redone, kept and reported."""

import errno
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from transplantqa.errors import StoreError
from transplantqa.records import Outcome
from transplantqa.store import WHOLE, Ledger, Method, Shard, Unit, joined_sha256, text_sha256, units_table, writer
from transplantqa.store.tables import ANSWERS, EMBED, TableSpec

MakeRow = Callable[..., dict[str, Any]]
MakePlan = Callable[..., list[Unit]]
Fill = Callable[..., None]


def names(ledger: Ledger) -> list[str]:
    return sorted(path.name.split("-")[0].split(".")[0] for path in ledger.folder.iterdir())


def the_part(ledger: Ledger) -> Path:
    (path,) = ledger.folder.glob("part-*.parquet")
    return path


def the_journal(ledger: Ledger) -> Path:
    (path,) = ledger.folder.glob("journal-*.arrows")
    return path


def write(
    ledger: Ledger,
    rows: list[dict[str, Any]],
    before_last: Callable[[], object] = lambda: None,
    error: BaseException | None = None,
    shard: Shard = WHOLE,
) -> None:
    """Append rows, flushing after every second one and before the last, and end with an error if there is one."""
    with ledger.writer(shard) as writing:
        for number, row in enumerate(rows, start=1):
            if number == len(rows):
                before_last()
            writing.append(row)
            if number % 2 == 0 or number == len(rows) - 1:
                writing.flush()
        if error is not None:
            raise error


def interrupt(ledger: Ledger, rows: list[dict[str, Any]], shard: Shard = WHOLE) -> None:
    with pytest.raises(KeyboardInterrupt):
        write(ledger, rows, error=KeyboardInterrupt(), shard=shard)


def fill_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_descriptor: int, _data: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)


# What is reused


def test_everything_is_pending_in_an_empty_ledger(ledger: Ledger, plan: MakePlan) -> None:
    assert ledger.pending(plan(3)) == plan(3)


def test_asking_makes_no_folder(ledger: Ledger, plan: MakePlan) -> None:
    ledger.pending(plan(3))
    ledger.current(plan(3))
    assert not ledger.folder.exists()


def test_a_finished_stage_has_nothing_pending(ledger: Ledger, plan: MakePlan, fill: Fill) -> None:
    fill(ledger, plan(3))
    assert ledger.pending(plan(3)) == []


def test_pending_units_come_in_the_order_of_the_plan_and_once(ledger: Ledger, plan: MakePlan, fill: Fill) -> None:
    fill(ledger, plan(2))
    wanted = plan(4)[::-1]
    assert ledger.pending(wanted + wanted) == wanted[:4]


def test_an_added_question_redoes_only_what_touches_it(ledger: Ledger, plan: MakePlan, fill: Fill) -> None:
    fill(ledger, plan(3))
    assert ledger.pending(plan(4)) == plan(4)[-2:]


def test_changed_inputs_are_done_again(ledger: Ledger, plan: MakePlan, fill: Fill) -> None:
    fill(ledger, plan(2))
    assert ledger.pending(plan(2, edition=2)) == plan(2, edition=2)


def test_inputs_changed_back_are_found_again(ledger: Ledger, plan: MakePlan, fill: Fill) -> None:
    fill(ledger, plan(2, edition=1))
    fill(ledger, plan(2, edition=2))
    assert ledger.pending(plan(2, edition=1)) == []


def test_two_methods_in_one_folder_share_nothing(ledger: Ledger, plan: MakePlan, fill: Fill, tmp_path: Path) -> None:
    fill(ledger, plan(2))
    other = Ledger(tmp_path / "artifacts", ANSWERS, Method("answers", {"version": 2}))
    assert other.pending(plan(2)) == plan(2)


def test_two_units_of_the_same_inputs_are_two_units(ledger: Ledger, fill: Fill) -> None:
    fill(ledger, [Unit(("q1", "d1", "default"), "same")])
    other = Unit(("q1", "d2", "default"), "same")
    assert ledger.pending([other]) == [other]


def test_a_plan_as_a_table_keeps_its_other_columns(ledger: Ledger, plan: MakePlan, fill: Fill) -> None:
    fill(ledger, plan(3)[:4])
    units = units_table(plan(3), ANSWERS).append_column("prefix_group", pa.array(list("abcdef")))
    assert ledger.pending_table(units)["prefix_group"].to_pylist() == ["e", "f"]


def test_the_method_is_written_for_people(ledger: Ledger, plan: MakePlan, fill: Fill) -> None:
    fill(ledger, plan(1))
    assert (ledger.folder / "method.json").read_text() == (
        '{\n  "identity": {\n    "version": 1\n  },\n  "stage": "answers"\n}\n'
    )


# What is tried again


def test_an_engine_error_is_tried_three_times(ledger: Ledger, plan: MakePlan, fill: Fill) -> None:
    for _ in range(3):
        fill(ledger, ledger.pending(plan(1)), {"q00": "engine_error"})
    assert ledger.pending(plan(1)) == []
    assert ledger.current(plan(1))["attempt"].to_pylist() == [3, 3]


def test_another_failure_is_tried_again_only_on_request(ledger: Ledger, plan: MakePlan, fill: Fill) -> None:
    fill(ledger, plan(2), {"q00": "parse_failed"})
    assert ledger.pending(plan(2)) == []
    assert ledger.pending(plan(2), retry=[Outcome.PARSE_FAILED]) == plan(2)[:2]


def test_the_highest_attempt_wins(ledger: Ledger, plan: MakePlan, fill: Fill) -> None:
    fill(ledger, plan(1), {"q00": "parse_failed"})
    fill(ledger, ledger.pending(plan(1), retry=[Outcome.PARSE_FAILED]))
    found = ledger.current(plan(1))
    assert found["outcome"].to_pylist() == ["ok", "ok"]
    assert found["attempt"].to_pylist() == [2, 2]


def test_an_attempt_that_failed_within_the_same_session_is_counted(
    ledger: Ledger, plan: MakePlan, row: MakeRow
) -> None:
    (unit, *_) = plan(1)
    with ledger.writer() as writing:
        writing.append(row(unit, "engine_error"))
        writing.append(row(unit, "ok"))
    assert ledger.current([unit]).select(["outcome", "attempt"]).to_pylist() == [{"outcome": "ok", "attempt": 2}]


# What is read


def test_rows_come_in_the_order_of_the_units_without_the_missing(ledger: Ledger, plan: MakePlan, fill: Fill) -> None:
    fill(ledger, plan(3)[:2])
    fill(ledger, plan(3)[4:])
    found = ledger.current(plan(3)[::-1], columns=["question_id", "document_id"])
    assert [tuple(cell.values()) for cell in found.to_pylist()] == [
        ("q02", "d1"),
        ("q02", "d0"),
        ("q00", "d1"),
        ("q00", "d0"),
    ]


def test_rows_read_have_the_schema_of_their_table(ledger: Ledger, plan: MakePlan, fill: Fill) -> None:
    fill(ledger, plan(1))
    assert ledger.current(plan(1)).schema.equals(ANSWERS.schema)


def test_no_rows_still_have_the_schema_of_their_table(ledger: Ledger, plan: MakePlan) -> None:
    assert ledger.current(plan(1)).schema.equals(ANSWERS.schema)


def test_separators_that_look_like_line_ends_survive(ledger: Ledger, plan: MakePlan, row: MakeRow) -> None:
    text = "one\u2028two\u2029three\u0085four\x0bfive\x1c\r\nsix\x00"
    with ledger.writer() as writing:
        writing.append(row(plan(1)[0], text=text))
    assert ledger.current(plan(1))["text"].to_pylist() == [text]


def test_a_character_that_utf8_cannot_hold_is_replaced_and_reported(
    ledger: Ledger, plan: MakePlan, row: MakeRow, caplog: pytest.LogCaptureFixture
) -> None:
    with ledger.writer() as writing:
        writing.append(row(plan(1)[0], text="a\ud800b", citations=[{"heading": "\udfff", "page": None, "valid": True}]))
    found = ledger.current(plan(1)).to_pylist()[0]
    assert (found["text"], found["citations"][0]["heading"]) == ("a\ufffdb", "\ufffd")
    assert "U+FFFD" in caplog.text


def test_a_vector_is_kept(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path, EMBED, Method("embed", {}))
    with ledger.writer() as writing:
        vector = np.array([0.5, -1.0], dtype=np.float32)
        writing.append({"text_sha256": "a", "vector": vector, "outcome": "ok", "inputs_sha256": "a"})
    assert ledger.current([Unit(("a",), "a")])["vector"].to_pylist() == [[0.5, -1.0]]


def test_rows_of_many_files_are_gathered_in_slices(
    ledger: Ledger, plan: MakePlan, fill: Fill, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("transplantqa.store.stored._SLICE_ROWS", 3)
    for start in range(0, 20, 4):
        fill(ledger, plan(10)[start : start + 4])
    mixed = sorted(plan(10), key=lambda unit: unit.inputs_sha256)
    assert ledger.current(mixed)["inputs_sha256"].to_pylist() == [unit.inputs_sha256 for unit in mixed]


def test_a_column_added_since_is_null_in_older_rows(ledger: Ledger, plan: MakePlan, fill: Fill) -> None:
    fill(ledger, plan(1))
    ledger.table = TableSpec("answers", ANSWERS.key, ANSWERS.schema.append(pa.field("language", pa.string())))
    assert ledger.current(plan(1))["language"].to_pylist() == [None, None]


def test_a_required_column_that_older_rows_lack_is_named(ledger: Ledger, plan: MakePlan, fill: Fill) -> None:
    fill(ledger, plan(1))
    required = pa.field("language", pa.string(), nullable=False)
    ledger.table = TableSpec("answers", ANSWERS.key, ANSWERS.schema.append(required))
    with pytest.raises(StoreError, match="has no column language"):
        ledger.current(plan(1))


# What is refused


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"txt": "x"}, "no column txt"),
        ({"text": None}, "requires a value for text"),
        ({"outcome": "fine"}, "'fine' is not"),
    ],
)
def test_a_row_that_the_table_does_not_describe_is_refused(
    ledger: Ledger, plan: MakePlan, row: MakeRow, values: dict[str, object], problem: str
) -> None:
    with pytest.raises(ValueError, match=problem), ledger.writer() as writing:
        writing.append({**row(plan(1)[0]), **values})


def test_a_value_of_the_wrong_type_costs_no_other_row(ledger: Ledger, plan: MakePlan, row: MakeRow) -> None:
    units = plan(2)
    rows = [row(units[0], prompt_tokens="many"), row(units[1]), row(units[2])]
    with pytest.raises((pa.ArrowException, TypeError)):
        write(ledger, rows)
    assert ledger.pending(units) == [units[0], *units[2:]]


def test_a_second_writer_of_a_shard_is_refused(ledger: Ledger) -> None:
    with ledger.writer(), pytest.raises(StoreError, match="One writer a shard"), ledger.writer():
        pass


def test_another_number_of_shards_at_the_same_time_is_refused(ledger: Ledger) -> None:
    with (
        ledger.writer(Shard(0, 2)),
        ledger.writer(Shard(1, 2)),
        pytest.raises(StoreError, match="another number of shards"),
        ledger.writer(Shard(0, 3)),
    ):
        pass


def test_a_writer_whose_lock_was_taken_over_stops(ledger: Ledger, plan: MakePlan, row: MakeRow) -> None:
    lock = ledger.folder / "lock-000-of-001.json"
    with pytest.raises(StoreError, match="was taken over"):
        write(ledger, [row(unit) for unit in plan(1)], before_last=lambda: lock.write_text("{}"))


def test_a_folder_that_cannot_be_made_is_named_with_a_remedy(plan: MakePlan, tmp_path: Path) -> None:
    (tmp_path / "artifacts").write_text("a file")
    blocked = Ledger(tmp_path / "artifacts", ANSWERS, Method("answers", {}))
    with pytest.raises(StoreError, match="is a file, not a folder"), blocked.writer():
        pass


# What survives


def test_a_block_that_ends_well_leaves_one_part(ledger: Ledger, plan: MakePlan, fill: Fill) -> None:
    fill(ledger, plan(2))
    assert names(ledger) == ["method", "part"]


def test_an_interrupted_block_keeps_its_rows_in_the_journal(ledger: Ledger, plan: MakePlan, row: MakeRow) -> None:
    interrupt(ledger, [row(unit) for unit in plan(2)])
    assert names(ledger) == ["journal", "method"]
    assert ledger.pending(plan(2)) == []


def test_rows_are_flushed_when_an_exception_passes(ledger: Ledger, plan: MakePlan, row: MakeRow) -> None:
    with pytest.raises(RuntimeError):
        write(ledger, [row(plan(1)[0])], error=RuntimeError())
    assert ledger.pending(plan(1)) == plan(1)[1:]


def test_rows_are_flushed_after_some_seconds(ledger: Ledger, plan: MakePlan, row: MakeRow) -> None:
    with ledger.writer(flush_rows=1000, flush_seconds=0.01) as writing:
        writing.append(row(plan(1)[0]))
        while not list(ledger.folder.glob("journal-*")):
            pass
    assert ledger.pending(plan(1)) == plan(1)[1:]


def test_rows_of_a_live_writer_are_seen_by_readers(ledger: Ledger, plan: MakePlan, row: MakeRow) -> None:
    with ledger.writer() as writing:
        writing.append(row(plan(1)[0]))
        writing.flush()
        assert ledger.pending(plan(1)) == plan(1)[1:]


def test_the_next_writer_seals_what_was_left(ledger: Ledger, plan: MakePlan, row: MakeRow, fill: Fill) -> None:
    interrupt(ledger, [row(unit) for unit in plan(2)])
    fill(ledger, [])
    assert names(ledger) == ["method", "part"]


def test_merging_seals_what_other_shards_left(ledger: Ledger, plan: MakePlan, row: MakeRow) -> None:
    interrupt(ledger, [row(plan(1)[0])], Shard(1, 2))
    ledger.merge(plan(1))
    assert names(ledger) == ["method", "part"]


def test_a_journal_is_sealed_when_it_is_full(
    ledger: Ledger, plan: MakePlan, row: MakeRow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "SEAL_ROWS", 4)
    with ledger.writer() as writing:
        for unit in plan(5):
            writing.append(row(unit))
            writing.flush()
    assert names(ledger) == ["method", "part", "part", "part"]
    assert ledger.merge(plan(5)).is_exact


def test_a_crash_between_sealing_and_removing_the_journal_duplicates_nothing(
    ledger: Ledger, plan: MakePlan, row: MakeRow, fill: Fill
) -> None:
    interrupt(ledger, [row(unit) for unit in plan(2)])
    journal, content = the_journal(ledger), the_journal(ledger).read_bytes()
    ledger.seal()
    journal.write_bytes(content)
    assert ledger.report(plan(2)).is_exact
    assert ledger.merge(plan(2)).is_exact
    assert names(ledger) == ["method", "part"]


def test_a_damaged_part_beside_its_journal_is_made_again(ledger: Ledger, plan: MakePlan, row: MakeRow) -> None:
    interrupt(ledger, [row(unit) for unit in plan(2)])
    journal, content = the_journal(ledger), the_journal(ledger).read_bytes()
    ledger.seal()
    journal.write_bytes(content)
    the_part(ledger).write_bytes(the_part(ledger).read_bytes()[:-9])
    ledger.seal()
    assert ledger.merge(plan(2)).is_exact


def test_a_torn_batch_is_set_aside_reported_and_redone(
    ledger: Ledger, plan: MakePlan, row: MakeRow, fill: Fill, caplog: pytest.LogCaptureFixture
) -> None:
    interrupt(ledger, [row(unit) for unit in plan(2)])
    the_journal(ledger).write_bytes(the_journal(ledger).read_bytes()[:-7])
    lost = ledger.pending(plan(2))
    fill(ledger, lost)
    assert lost == plan(2)[3:]
    assert names(ledger) == ["journal", "method", "part", "part"]
    assert "its 3 sound rows are kept" in caplog.text
    assert ledger.merge(plan(2)).is_exact


def test_a_damaged_part_is_set_aside_reported_and_redone(
    ledger: Ledger, plan: MakePlan, fill: Fill, caplog: pytest.LogCaptureFixture
) -> None:
    fill(ledger, plan(2))
    content = bytearray(the_part(ledger).read_bytes())
    content[10] ^= 4
    the_part(ledger).write_bytes(content)
    assert ledger.pending(plan(2)) == plan(2)
    fill(ledger, plan(2))
    assert ledger.merge(plan(2)).is_exact
    assert len(list(ledger.folder.glob("*.damaged"))) == 1
    assert "its rows are redone" in caplog.text


def test_damage_to_a_column_not_read_is_found_by_merging(ledger: Ledger, plan: MakePlan, fill: Fill) -> None:
    fill(ledger, plan(2))
    part = the_part(ledger)
    content = bytearray(part.read_bytes())
    content[content.index(b"\x28\xb5\x2f\xfd") + 5] ^= 1  # the first zstd frame
    part.write_bytes(content)
    report = ledger.merge(plan(2))
    assert report.damaged == (part,)
    assert len(report.missing) == 4


def test_a_full_disk_keeps_what_was_flushed_and_names_the_remedy(
    ledger: Ledger, plan: MakePlan, row: MakeRow, monkeypatch: pytest.MonkeyPatch
) -> None:
    units = plan(2)
    with pytest.raises(StoreError, match=r"disk is full\. Free some space"):
        write(ledger, [row(unit) for unit in units], before_last=lambda: fill_the_disk(monkeypatch))
    monkeypatch.undo()
    assert ledger.pending(units) == units[3:]


def test_rows_that_could_not_be_kept_are_counted_beside_another_error(
    ledger: Ledger, plan: MakePlan, row: MakeRow, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    last = row(plan(1)[0])
    with pytest.raises(KeyboardInterrupt):
        write(ledger, [last], lambda: fill_the_disk(monkeypatch), KeyboardInterrupt())
    assert "1 rows could not be kept" in caplog.text


# What merging proves


def test_a_complete_plan_is_exact(ledger: Ledger, plan: MakePlan, fill: Fill) -> None:
    fill(ledger, plan(2), {"q01": "abstained"})
    report = ledger.merge(plan(2))
    assert (report.planned, report.present, report.is_exact) == (4, 4, True)
    assert report.outcomes == {"abstained": 2, "ok": 2}
    assert report.problems() == []


def test_missing_and_stale_units_are_named_apart(ledger: Ledger, plan: MakePlan, fill: Fill) -> None:
    fill(ledger, plan(1, edition=1))
    report = ledger.merge(plan(2, edition=2))
    assert report.stale["question_id"].to_pylist() == ["q00", "q00"]
    assert report.missing["question_id"].to_pylist() == ["q01", "q01"]
    assert report.problems(examples=1) == [
        "2 of 4 units missing, such as q01/d0/default",
        "2 of 4 units stale, such as q00/d0/default",
    ]


def test_a_unit_done_twice_is_named(ledger: Ledger, plan: MakePlan, fill: Fill) -> None:
    fill(ledger, plan(1))
    fill(ledger, plan(1)[:1])
    report = ledger.merge(plan(1))
    assert report.duplicate.to_pylist() == [{"question_id": "q00", "document_id": "d0", "variant": "default"}]
    assert not report.is_exact


def test_a_repeated_attempt_is_no_duplicate(ledger: Ledger, plan: MakePlan, fill: Fill) -> None:
    fill(ledger, plan(1), {"q00": "engine_error"})
    fill(ledger, ledger.pending(plan(1)))
    assert ledger.merge(plan(1)).is_exact


def test_failures_are_counted_by_outcome(ledger: Ledger, plan: MakePlan, fill: Fill) -> None:
    fill(ledger, plan(3), {"q00": "parse_failed", "q01": "abstained"})
    assert ledger.report(plan(3)).failed == {"parse_failed": 2}


def test_what_other_plans_made_is_no_problem(ledger: Ledger, plan: MakePlan, fill: Fill) -> None:
    fill(ledger, plan(3))
    assert ledger.merge(plan(2)).is_exact


def test_a_live_writer_keeps_its_journal_while_others_merge(
    ledger: Ledger, plan: MakePlan, row: MakeRow, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    with ledger.writer() as writing:
        writing.append(row(plan(1)[0]))
        writing.flush()
        assert ledger.merge(plan(1)).present == 1
        assert the_journal(ledger).exists()
    assert "is being written by process" in caplog.text


def test_a_row_of_three_texts_is_known_by_the_beginning_of_the_hash_of_each() -> None:
    hashes = [text_sha256(text) for text in ("1", "ü\u2028", "")]
    found = joined_sha256([(hashes, np.array([0, 1])), (hashes, np.array([2, 2])), (hashes[:1], np.array([0, 0]))])
    assert found.to_pylist() == [hashes[row][:22] + hashes[2][:21] + hashes[0][:21] for row in (0, 1)]


def test_no_rows_have_no_hashes() -> None:
    assert joined_sha256([([], np.array([], int))]).to_pylist() == []
