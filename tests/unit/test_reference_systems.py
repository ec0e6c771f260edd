"""The experiments that stand for published systems compose to the facts that are published of them."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from transplantqa.cli import main
from transplantqa.config import Problems, conf_dir, validate
from transplantqa.errors import ModelError

SYSTEMS = ("hybrid_14b", "hero_qa_32b")
LOCAL = tuple(f"{name}_local" for name in SYSTEMS)
without_vllm = pytest.mark.skipif(importlib.util.find_spec("vllm") is not None, reason="vllm is installed")


def composed(experiment: str, *overrides: str) -> dict[str, Any]:
    with initialize_config_dir(str(conf_dir()), version_base="1.3"):
        config = compose("run", overrides=[f"experiment={experiment}", *overrides])
        plain: Any = OmegaConf.to_container(config, resolve=True)
    return plain  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", SYSTEMS + LOCAL)
def test_it_composes_and_every_component_accepts_its_values(name: str) -> None:
    problems = Problems()
    validate("run", composed(name), problems)
    problems.raise_if_any()


@pytest.mark.parametrize(("name", "model"), [("hybrid_14b", "Qwen/Qwen3-14B"), ("hero_qa_32b", "Qwen/Qwen3-32B")])
def test_generator_and_judge_are_the_published_model_on_vllm_at_temperature_0(name: str, model: str) -> None:
    config = composed(name)
    for used in (config["generator"]["model"], config["judge"]["model"]):
        assert (used["_target_"], used["model"], used["temperature"]) == ("transplantqa.models.VLLM", model, 0.0)


@pytest.mark.parametrize("name", SYSTEMS)
def test_ranking_is_by_bge_models_over_chunks_of_512_tokens(name: str) -> None:
    config = composed(name)
    assert config["corpus"]["chunk_tokens"] == 512
    assert config["retriever"]["embedder"]["model"].startswith("BAAI/bge-")
    assert config["retriever"]["reranker"]["model"].startswith("BAAI/bge-reranker")


def test_the_earlier_system_fuses_two_rankers_over_flat_chunks() -> None:
    retriever = composed("hybrid_14b")["retriever"]
    assert retriever["_target_"] == "transplantqa.retrieval.Hybrid"
    assert retriever["passage"] == "chunk"


def test_hero_qa_routes_at_80000_characters_ranks_four_ways_and_falls_back() -> None:
    retriever = composed("hero_qa_32b")["retriever"]
    assert (retriever["_target_"], retriever["route_max_chars"]) == ("transplantqa.retrieval.HeroQA", 80_000)
    assert sorted(retriever["rankers"]) == ["bm25", "dense", "section_body", "section_title"]
    assert retriever["fallback_below"] > 0


@pytest.mark.parametrize("name", SYSTEMS)
def test_prompts_are_those_for_models_that_follow_instructions(name: str) -> None:
    config = composed(name)
    assert (config["generator"]["prompt"]["name"], config["judge"]["prompt"]["name"]) == (
        "grounded",
        "judge_structured",
    )


@pytest.mark.parametrize(("name", "local"), list(zip(SYSTEMS, LOCAL, strict=True)))
def test_the_embedded_counterpart_has_the_same_parts_and_needs_no_download(name: str, local: str) -> None:
    reference, config = composed(name), composed(local)
    for part in ("retriever", "generator", "judge"):
        assert config[part]["_target_"] == reference[part]["_target_"]
    assert config["retriever"]["reranker"] is not None
    assert config["model"]["weights"].startswith("package:")
    assert config["embedder"]["weights"].startswith("package:")


@without_vllm
def test_without_the_extras_one_message_names_all_that_is_missing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code = main(["run", "experiment=hero_qa_32b"])
    told = capsys.readouterr().err
    assert code == ModelError.exit_code
    assert "transplantqa[vllm]" in told
    assert "transplantqa[flag]" in told
    assert told.count("vLLM is not installed") == 1  # generator and judge have the same model
    assert "Traceback" not in told
    assert not (tmp_path / "artifacts").exists()


@without_vllm
def test_it_can_be_planned_for_without_the_extras(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["plan", "experiment=hero_qa_32b"]) == 0
    printed = capsys.readouterr().out
    assert "GPU hours: ~" in printed
    assert "USD" in printed
