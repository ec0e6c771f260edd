"""What makes a row another row, and what does not: fingerprints of the whole system under every kind of change."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

import transplantqa.findings
from transplantqa.cli import main
from transplantqa.config import RunConfig, conf_dir
from transplantqa.errors import EXIT_OK
from transplantqa.models import Scripted
from transplantqa.models.protocols import Completion
from transplantqa.pipeline import System
from transplantqa.store import Method

SLICE = ("experiment=tiny", "debug=scripted", "embedder=minilm", "retriever=bm25", "tracking=none")
STAGES = {"retrieve": "retriever", "generate": "generator", "compare": "judge"}


def fingerprints(*overrides: str) -> dict[str, str]:
    """Return the fingerprint of each stage of a system that answers with the packaged model."""
    with initialize_config_dir(str(conf_dir()), version_base="1.3"):
        composed = compose("run", overrides=["retriever=bm25", "model=smollm2", *overrides])
        plain = OmegaConf.to_container(composed, resolve=True)
    system = System.assemble(RunConfig.model_validate(plain))
    return {stage: Method(stage, getattr(system, part).identity()).fingerprint for stage, part in STAGES.items()}


@pytest.fixture(scope="module")
def usual() -> dict[str, str]:
    return fingerprints()


@pytest.mark.parametrize(
    ("override", "changed"),
    [
        ("model.temperature=0.5", {"generate", "compare"}),
        ("prompt.user='Other words: $evidence $question'", {"generate"}),
        ("judge_prompt.system='Other words.'", {"compare"}),
        ("retriever.top_k=3", {"retrieve"}),
        ("retriever.bm25_k1=1.2", {"retrieve"}),
        ("generator.max_answer_tokens=100", {"generate"}),
        ("generator.citations=required", {"generate"}),
        ("judge.order=both", {"compare"}),
        ("judge.max_verdict_tokens=200", {"compare"}),  # the schema of replies
        ("seed=1", {"compare"}),
        ("judge=rules", {"compare"}),
        ("model=scripted", {"generate", "compare"}),
        ("retriever=full_document", {"retrieve"}),
    ],
)
def test_what_can_change_a_row_changes_the_method_of_its_stage_alone(
    usual: dict[str, str], override: str, changed: set[str]
) -> None:
    found = fingerprints(override)
    assert {stage for stage in STAGES if found[stage] != usual[stage]} == changed


@pytest.mark.parametrize(
    "override",
    [
        "shard.count=4",
        "artifacts=elsewhere",
        "system=another_name",
        "stages=[compare]",
        "max_failure_rate=0.5",
        "retry=[parse_failed]",
        "limit.questions=3",
        "tracking=none",
        "model.threads=1",
        "model.gpu_layers=0",
        "judge.disagreement=milder",
        "judge.replicates=2",
        "prescreen=classifier",
        "prescreen.identical=consistent",
        "hydra.verbose=true",
        "hydra/job_logging=stdout",
    ],
)
def test_what_cannot_change_a_row_changes_no_method(usual: dict[str, str], override: str) -> None:
    assert fingerprints(override) == usual


def test_how_many_texts_are_embedded_at_once_changes_no_method() -> None:
    server = ("retriever=dense", "embedder=openai", "embedder.model=m")
    assert fingerprints(*server, "embedder.batch_texts=1") == fingerprints(*server, "embedder.batch_texts=64")


@pytest.mark.parametrize("override", ["model.seed=7", "model.top_p=0.9"])
def test_sampling_is_part_of_the_method_once_there_is_any(usual: dict[str, str], override: str) -> None:
    assert fingerprints(override) == usual  # greedy decoding draws nothing
    sampled = fingerprints("model.temperature=0.5")
    found = fingerprints("model.temperature=0.5", override)
    assert {stage for stage in STAGES if found[stage] != sampled[stage]} == {"generate", "compare"}


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    made: list[str] = []
    generate = Scripted.generate

    def counted(self: Scripted, requests: Any) -> Iterator[Completion]:
        for completion in generate(self, requests):
            made.append(completion.id)
            yield completion

    monkeypatch.setattr(Scripted, "generate", counted)
    monkeypatch.chdir(tmp_path)
    return made


def test_two_models_in_one_artifacts_folder_never_share_an_answer(calls: list[str]) -> None:
    main(["run", *SLICE, "stages=[ingest,retrieve,generate]"])
    first = len(calls)
    main(["run", *SLICE, "stages=[ingest,retrieve,generate]", "model.abstention_share=0.6"])
    assert len(calls) == 2 * first > 0


def test_a_fault_in_the_analysis_costs_only_the_analysis(calls: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a bug for the test")

    with monkeypatch.context() as broken:
        broken.setattr(transplantqa.findings, "audit", fail)
        with pytest.raises(SystemExit):
            main(["run", *SLICE])
    assert calls
    calls.clear()
    assert main(["run", *SLICE]) == EXIT_OK
    assert calls == []
