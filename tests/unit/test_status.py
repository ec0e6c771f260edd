"""``transplantqa status``: how far a run is, without doing any of it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from transplantqa.cli import main
from transplantqa.config import RunConfig, conf_dir
from transplantqa.errors import EXIT_OK, ConfigError
from transplantqa.status import ShardStatus, closing_line, survey, writers
from transplantqa.store import Shard

SLICE = ("experiment=tiny", "debug=scripted", "embedder=minilm", "retriever=bm25", "tracking=none")
Survey = Callable[..., dict[tuple[str, int], ShardStatus]]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def surveyed() -> Survey:
    def look(*overrides: str) -> dict[tuple[str, int], ShardStatus]:
        with initialize_config_dir(str(conf_dir()), version_base="1.3"):
            plain = OmegaConf.to_container(compose("run", overrides=[*SLICE, *overrides]), resolve=True)
        found = survey(RunConfig.model_validate(plain))
        return {(share.stage, 0 if share.shard is None else share.shard.index): share for share in found}

    return look


def test_before_anything_is_done_all_documents_are_missing(surveyed: Survey, folder: Path) -> None:
    found = surveyed()
    assert found["ingest", 0].missing == 3
    assert not (folder / "artifacts").exists()


def test_a_shard_that_is_done_and_those_that_are_not_are_told_apart(surveyed: Survey) -> None:
    main(["run", *SLICE, "shard.index=0", "shard.count=3", "stages=[ingest,retrieve,generate]"])
    found = surveyed("shard.count=3")
    assert found["generate", 0].done == found["retrieve", 0].planned > 0
    assert found["generate", 1].waiting == found["retrieve", 1].missing > 0
    assert found["compare", 0].waiting is None


def test_failures_are_done_and_counted_by_outcome(surveyed: Survey) -> None:
    overflowing = ("retriever=full_document", "model.context_tokens=40")
    main(["run", *SLICE, *overflowing])
    answers = surveyed(*overflowing)["generate", 0]
    assert answers.done == answers.planned > 0
    assert answers.failed == {"context_overflow": answers.planned}


def test_another_prompt_leaves_the_evidence_done_and_the_answers_missing(surveyed: Survey) -> None:
    main(["run", *SLICE])
    found = surveyed("model.abstention_share=0.9")
    assert found["retrieve", 0].done == found["generate", 0].missing > 0


def test_the_command_prints_each_stage_and_ends_well(capsys: pytest.CaptureFixture[str]) -> None:
    main(["run", *SLICE])
    capsys.readouterr()
    assert main(["status", *SLICE]) == EXIT_OK
    shown = capsys.readouterr().out
    assert all(stage in shown for stage in ("ingest", "retrieve", "generate", "compare"))
    assert "All units are done" in shown


def test_what_to_do_next_names_the_first_unfinished_stage_and_its_shards() -> None:
    def share(stage: str, index: int, missing: int) -> ShardStatus:
        return ShardStatus(stage, Shard(index, 3), planned=5, done=5 - missing, failed={}, missing=missing, stale=0)

    found = [
        share(stage, index, missing) for stage in ("retrieve", "generate") for index, missing in enumerate((0, 2, 1))
    ]
    line = closing_line(found)
    assert line.startswith("6 units are left")
    assert line.endswith("stages=[retrieve] shard.count=3 shard.index=1|2")


def test_who_writes_what_now_is_said_of_each_share() -> None:
    facts: dict[str, Any] = {"planned": 5, "done": 1, "failed": {}, "missing": 4, "stale": 0}
    found = [
        ShardStatus("ingest", None, **facts, writer="process 7 on one"),
        ShardStatus("compare", Shard(0, 3), **facts),
        ShardStatus("compare", Shard(2, 3), **facts, writer="process 8 on two"),
    ]
    assert writers(found) == [
        "ingest is being written by process 7 on one",
        "compare, shard 2 of 3, is being written by process 8 on two",
    ]


def test_the_status_of_a_sweep_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status", "-m", *SLICE, "retriever=bm25,dense"]) == ConfigError.exit_code
    assert "one system at a time" in capsys.readouterr().err
