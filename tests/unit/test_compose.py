"""Every config file composes and validates; every mistake of a command line is told before anything runs."""

from pathlib import Path

import pytest

from transplantqa.compose import CommandLine, check
from transplantqa.config import conf_dir
from transplantqa.errors import ConfigError

NEEDED = {
    "cost=tokens": ["cost.prompt_per_million=1", "cost.completion_per_million=4"],
    "corpus=folder": ["corpus.folder=somewhere"],
    "questions=file": ["questions.path=somewhere.csv"],
    "embedder=flag": ["embedder.model=owner/repo"],
    "embedder=openai": ["embedder.model=name"],
    "model=llama_cpp": ["model.weights=somewhere.gguf"],
    "model=openai_server": ["model.model=name"],
    "model=vllm": ["model.model=owner/repo"],
    "model=none": ["generator=extractive", "judge=rules"],
    "reranker=flag": ["reranker.model=owner/repo"],
    "retriever=hero_qa": ["model=scripted"],  # its 24,000 tokens of evidence need a large context
    "prompt=none": ["generator=extractive", "judge=rules"],
}
GROUPS = sorted(path for path in conf_dir().iterdir() if path.is_dir())
CHOICES = [f"{group.name}={file.stem}" for group in GROUPS for file in sorted(group.glob("*.yaml"))]


def checked(*overrides: str, command: str = "run", sweep: bool = False, config_dir: Path | None = None) -> None:
    check(CommandLine(command, overrides, sweep, config_dir))


def problems(*overrides: str, command: str = "run", sweep: bool = False) -> str:
    with pytest.raises(ConfigError) as caught:
        checked(*overrides, command=command, sweep=sweep)
    return str(caught.value)


@pytest.mark.parametrize("choice", CHOICES)
def test_every_config_file_composes_and_validates(choice: str) -> None:
    checked(choice, *NEEDED.get(choice, []))


@pytest.mark.parametrize("choice", CHOICES)
def test_every_config_file_says_in_its_first_line_what_it_is(choice: str) -> None:
    group, _, name = choice.partition("=")
    lines = (conf_dir() / group / f"{name}.yaml").read_text(encoding="utf-8").split("\n")
    first = lines[1] if lines[0].startswith("# @package") else lines[0]
    assert first.startswith("# ")


@pytest.mark.parametrize(
    ("command", "overrides"),
    [
        ("run", ()),
        ("ingest", ()),
        ("evaluate-retrieval", ()),
        ("release", ("runs=[a]",)),
        ("contrast", ("baseline=a", "candidate=b")),
    ],
)
def test_every_primary_config_composes_and_validates(command: str, overrides: tuple[str, ...]) -> None:
    checked(*overrides, command=command)


def test_a_misspelt_choice_is_answered_with_the_nearest() -> None:
    assert "retriever: 'bm52' is not a choice\n  Did you mean 'bm25'?" in problems("retriever=bm52")


def test_a_misspelt_group_is_answered_with_the_nearest() -> None:
    assert "Did you mean 'retriever'?" in problems("retreiver=bm25")


def test_a_misspelt_key_is_answered_with_the_nearest() -> None:
    assert "Did you mean 'retriever.top_k'?" in problems("retriever.topk=3")


def test_all_problems_come_at_once() -> None:
    text = problems("retriever=bm52", "judge.order=sideways", "seed=abc", "limit.questions=0", "retriever.topk=3")
    assert text.startswith("6 problems")  # the judge's seed is the seed
    for part in ("'bm52'", "judge.order", "seed: 'abc'", "limit.questions", "retriever.topk"):
        assert part in text


def test_a_missing_value_says_how_to_give_it() -> None:
    assert "corpus.folder: needs a value\n  Give it on the command line: corpus.folder=..." in problems("corpus=folder")


def test_several_values_without_a_sweep_are_a_problem() -> None:
    assert "Add -m to sweep" in problems("retriever=bm25,hybrid")


def test_every_job_of_a_sweep_is_checked_before_it_starts() -> None:
    assert "'bm52' is not a choice" in problems("retriever=hybrid,bm52", sweep=True)


def test_a_value_that_is_no_override_is_a_problem() -> None:
    assert "shard.index: not an override" in problems("shard.index")


def test_an_experiment_s_own_broken_default_is_named_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "experiment").mkdir()
    text = "# @package _global_\ndefaults:\n  - override /judge: nobody\n"
    (tmp_path / "experiment" / "mine.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match="nobody"):
        checked("experiment=mine", config_dir=tmp_path)


def test_a_user_s_own_config_folder_adds_choices(tmp_path: Path) -> None:
    (tmp_path / "retriever").mkdir()
    text = (conf_dir() / "retriever" / "bm25.yaml").read_text(encoding="utf-8")
    (tmp_path / "retriever" / "mine.yaml").write_text(text, encoding="utf-8")
    checked("retriever=mine", config_dir=tmp_path)


def test_a_config_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such folder"):
        checked(config_dir=tmp_path / "nowhere")


def test_the_judge_s_model_is_the_generator_s_unless_another_is_chosen() -> None:
    from hydra import compose, initialize_config_dir

    with initialize_config_dir(str(conf_dir()), version_base="1.3"):
        same = compose("run", overrides=["model=llama_cpp", "model.weights=mine.gguf"])
        other = compose("run", overrides=["model=llama_cpp", "model.weights=a.gguf", "model@judge_model=scripted"])
        assert same.judge.model.weights == "mine.gguf"
        assert other.generator.model.weights == "a.gguf"
        assert other.judge.model._target_ == "transplantqa.models.Scripted"


def test_a_value_that_refers_to_a_key_that_is_not_there_is_told_with_its_place() -> None:
    with pytest.raises(ConfigError, match=r"judge\.consistent_from: .*'domain\.nothing' not found"):
        check(CommandLine("run", ("experiment=baseline", "judge.consistent_from=${domain.nothing}"), False, None))
