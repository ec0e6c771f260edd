"""``transplantqa plan``: what a run would do, before it does any of it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from transplantqa.cli import main
from transplantqa.config import RunConfig, conf_dir
from transplantqa.planning.outlook import Outlook, Plan
from transplantqa.planning.survey import make_plan

SLICE = ("experiment=tiny", "debug=scripted", "embedder=minilm", "retriever=bm25", "tracking=none")
Planned = Callable[..., Plan]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def planned() -> Planned:
    def look(*overrides: str) -> Plan:
        with initialize_config_dir(str(conf_dir()), version_base="1.3"):
            plain = OmegaConf.to_container(compose("run", overrides=[*SLICE, *overrides]), resolve=True)
        return make_plan(RunConfig.model_validate(plain))

    return look


def stage(plan: Plan, name: str) -> Outlook:
    return next(outlook for outlook in plan.stages if outlook.stage == name)


def test_before_anything_runs_all_is_to_do_and_nothing_is_written(planned: Planned, folder: Path) -> None:
    plan = planned()
    assert (stage(plan, "ingest").to_do, stage(plan, "generate").to_do) == (3, 12)
    calls = stage(plan, "generate").calls
    assert calls is not None
    assert calls.total == 12
    assert any("not read yet" in note for note in plan.notes)
    assert not (folder / "artifacts").exists()


def test_with_the_documents_read_and_evidence_found_calls_are_counted(planned: Planned) -> None:
    main(["run", *SLICE, "stages=[ingest,retrieve]"])
    plan = planned()
    assert (stage(plan, "ingest").to_do, stage(plan, "retrieve").to_do) == (0, 0)
    generate = stage(plan, "generate")
    assert (generate.is_exact, generate.to_do, generate.cached) == (True, 12, 0)


def test_prompts_are_as_long_as_those_sent_to_within_an_eighth(planned: Planned) -> None:
    main(["run", *SLICE, "stages=[ingest,retrieve]"])
    before = stage(planned(), "generate").calls
    main(["run", *SLICE])
    metrics = next(Path("artifacts/runs").iterdir()) / "metrics.json"
    import json

    sent = json.loads(metrics.read_text(encoding="utf-8"))["metrics"]["tokens_prompt_generate"]
    assert before is not None
    assert before.usage().prompt_tokens == pytest.approx(sent, rel=0.125)


def test_a_finished_run_has_nothing_before_it(planned: Planned) -> None:
    main(["run", *SLICE])
    plan = planned()
    assert [(outlook.to_do, outlook.is_exact) for outlook in plan.stages] == [(0, True)] * 4
    assert stage(plan, "compare").planned > 0


def test_another_judge_leaves_only_its_own_units(planned: Planned) -> None:
    main(["run", *SLICE])
    plan = planned("judge.max_verdict_tokens=200")
    compare = stage(plan, "compare")
    assert stage(plan, "generate").to_do == 0
    assert compare.to_do == compare.planned > 0
    assert compare.calls is not None
    assert compare.calls.total == compare.to_do


def test_prompts_too_long_for_the_context_are_counted_as_the_run_would(planned: Planned) -> None:
    short = ("retriever=full_document", "model.context_tokens=400")
    main(["run", *SLICE, *short, "stages=[ingest,retrieve]"])
    calls = stage(planned(*short), "generate").calls
    assert calls is not None
    main(["run", *SLICE, *short, "max_failure_rate=1"])
    import pyarrow.parquet as pq

    answers = pq.read_table(next(Path("artifacts/runs").iterdir()) / "answers.parquet")
    assert calls.unfit == answers["outcome"].to_pylist().count("context_overflow") > 0


def test_money_is_told_by_the_token(planned: Planned) -> None:
    price = ("cost=tokens", "cost.prompt_per_million=2", "cost.completion_per_million=8")
    generate = stage(planned(*price), "generate")
    assert generate.calls is not None
    used = generate.calls.usage()
    assert generate.cost == pytest.approx((2 * used.prompt_tokens + 8 * used.completion_tokens) / 1e6)


def test_a_model_that_is_not_installed_can_still_be_planned_for(planned: Planned) -> None:
    plan = planned("model=vllm", "model.model=OWNER/NAME")
    calls = stage(plan, "generate").calls
    assert calls is not None
    assert calls.total == 12
    assert any("vLLM is not installed" in note for note in plan.notes)


def test_a_system_without_a_language_model_makes_no_calls(planned: Planned) -> None:
    plan = planned("generator=extractive", "judge=rules")
    assert [outlook.calls for outlook in plan.stages] == [None] * 4


def test_the_command_prints_units_histogram_cost_and_disk(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["plan", *SLICE, "cost=tokens", "cost.prompt_per_million=2", "cost.completion_per_million=8"])
    printed = capsys.readouterr().out
    assert code == 0
    for words in ("to do", "won't fit", "tokens of the prompts to send", "###", "USD", "Disk:", "free at artifacts"):
        assert words in printed
