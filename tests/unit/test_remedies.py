"""A stage that is not complete: its message names units, shards and the command that mends each."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from transplantqa.errors import StoreError
from transplantqa.store import Ledger, Method, Shard, Unit, shard_of, units_table
from transplantqa.store.locks import WriterLock
from transplantqa.store.tables import EMBED
from transplantqa.workshop import Stage

NAMES = tuple(f"text{number}" for number in range(12))
StageOf = Callable[..., Stage]


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path, EMBED, Method("embed", {"version": 1}))


@pytest.fixture
def stage_of(ledger: Ledger) -> StageOf:
    def stage(version: str = "1") -> Stage:
        units = [Unit((name,), f"{name} v{version}" if name in NAMES[:2] else name) for name in NAMES]
        return Stage("embed", ledger, units_table(units, EMBED), lambda table: table["text_sha256"].to_pylist())

    return stage


def fill(stage: Stage, shard: Shard) -> None:
    with stage.ledger.writer(shard) as writer:
        for row in stage.share(shard).to_pylist():
            writer.append({**row, "vector": [0.5], "outcome": "ok"})


def told(stage: Stage) -> str:
    with pytest.raises(StoreError) as error:
        stage.rows()
    return str(error.value)


def test_missing_units_are_named_with_their_shards_and_the_command_of_each(stage_of: StageOf) -> None:
    stage = stage_of()
    fill(stage, Shard(1, 3))
    shares = [sum(shard_of(name, 3) == index for name in NAMES) for index in range(3)]
    message = told(stage)
    assert f"{shares[0] + shares[2]} of 12 units missing, such as text" in message
    for index in (0, 2):
        command = f"transplantqa run <the same arguments> stages=[embed] shard.index={index} shard.count=3"
        assert f"{command}    # {shares[index]} missing, 0 stale" in message
    assert "shard.index=1" not in message


def test_stale_units_are_told_from_missing_ones(stage_of: StageOf) -> None:
    fill(stage_of(), Shard(0, 1))
    message = told(stage_of(version="2"))
    assert "2 of 12 units stale, such as text0; text1" in message
    assert "stages=[embed]    # 0 missing, 2 stale" in message


def test_units_there_twice_are_named_with_the_repair_that_mends_them(stage_of: StageOf, ledger: Ledger) -> None:
    for _ in range(2):
        fill(stage_of(), Shard(0, 1))
    assert f"transplantqa repair {ledger.folder}" in told(stage_of())
    ledger.repair()
    assert len(stage_of().rows()) == len(NAMES)


def test_a_shard_that_is_being_written_is_waited_for(stage_of: StageOf, ledger: Ledger) -> None:
    fill(stage_of(), Shard(1, 3))
    lock = WriterLock(ledger.folder / "lock-000-of-003.json")
    lock.acquire()
    holder: dict[str, Any] = json.loads(lock.path.read_text())
    message = told(stage_of())
    assert (
        f"shard 0 of 3 ({sum(shard_of(name, 3) == 0 for name in NAMES)} missing, 0 stale) is being written" in message
    )
    assert f"process {holder['pid']}" in message
    assert "shard.index=0" not in message


def test_a_damaged_part_is_named_as_the_cause(stage_of: StageOf, ledger: Ledger) -> None:
    fill(stage_of(), Shard(0, 1))
    (part,) = ledger.folder.glob("part-*")
    part.write_bytes(part.read_bytes()[:-20])
    message = told(stage_of())
    assert f"set aside as damaged, to be made again: {part.name}.damaged" in message
    assert "12 of 12 units missing" in message


def test_many_shards_are_cut_and_where_the_rest_stands_is_said(ledger: Ledger) -> None:
    names = [f"text{number}" for number in range(200)]
    table = pa.table({"text_sha256": names, "inputs_sha256": names})
    stage = Stage("embed", ledger, table, lambda units: units["text_sha256"].to_pylist())
    fill(stage, Shard(0, 20))
    message = told(stage)
    assert message.count("stages=[embed]") == 8
    assert "and 11 other shards; transplantqa status ... shard.count=20" in message
