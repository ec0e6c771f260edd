"""``transplantqa doctor``: what fails is what the composed system needs, each with what to do about it."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from transplantqa.cli import main
from transplantqa.doctor import machine, models, services
from transplantqa.doctor.findings import Finding, State, components
from transplantqa.doctor.probes import probes
from transplantqa.errors import ModelError
from transplantqa.models import Completion, Request, Scripted
from transplantqa.models.protocols import PromptTokens
from transplantqa.records import Outcome

TOKEN = "hf_0123456789abcdefSECRET"
SCRIPTED = ("experiment=tiny", "debug=scripted", "retriever=bm25", "tracking=none")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return tmp_path


class Model:
    """Answers the probes as told."""

    context_tokens = 4096

    def __init__(self, schema: Completion, plain: Completion, shown: PromptTokens | None = None) -> None:
        self._replies = {"schema": schema, "reasoning": plain}
        self._shown = shown

    def identity(self) -> dict[str, Any]:
        return {}

    def count_tokens(self, text: str) -> int:
        return len(text)

    def generate(self, requests: Iterable[Request]) -> Iterator[Completion]:
        for request in requests:
            yield self._replies[request.id]

    def prompt_tokens(self, request: Request) -> PromptTokens | None:
        return self._shown

    def close(self) -> None:
        pass


def said(text: str, outcome: Outcome = Outcome.OK, **facts: Any) -> Completion:
    return Completion("schema" if text.startswith("{") else "reasoning", outcome, text, **facts)


GOOD, YES = said('{"colour": "RED"}'), said("Yes.", prompt_tokens=3)


def probed(model: Model, reasoning: str = "default") -> dict[str, Finding]:
    return {finding.name.split(",")[0]: finding for finding in probes("model", model, reasoning)}


def test_a_schema_that_holds_against_a_haiku_is_ok() -> None:
    assert probed(Model(GOOD, YES))["schema"].state is State.OK


def test_a_haiku_where_a_schema_was_asked_for_fails() -> None:
    haiku = Completion("schema", Outcome.OK, "Soft rain on the roof")
    found = probed(Model(haiku, YES))["schema"]
    assert found.state is State.FAILS
    assert "not enforced" in found.seen
    assert found.remedy


def test_a_value_outside_the_enum_fails() -> None:
    assert probed(Model(said('{"colour": "PINK"}'), YES))["schema"].state is State.FAILS


@pytest.mark.parametrize(
    ("wanted", "thought", "state"),
    [("on", "hm", State.OK), ("on", None, State.FAILS), ("off", "hm", State.WARNS), ("default", None, State.OK)],
)
def test_reasoning_is_there_when_wanted_and_only_then(wanted: str, thought: str | None, state: State) -> None:
    assert probed(Model(GOOD, said("Yes.", reasoning=thought)), wanted)["reasoning"].state is state


def test_reasoning_left_in_the_answer_fails() -> None:
    assert probed(Model(GOOD, said("Well. <think>wet</think>")))["reasoning"].state is State.FAILS


@pytest.mark.parametrize(
    ("ids", "state"), [((1, 5, 6), State.OK), ((1, 1, 6), State.FAILS), ((5, 6, 7), State.FAILS), ((1, 5), State.FAILS)]
)
def test_one_token_of_beginning_and_the_prompt_that_was_read(ids: tuple[int, ...], state: State) -> None:
    found = probed(Model(GOOD, YES, PromptTokens(ids, begin=1)))["token of beginning"]
    assert found.state is state


def test_an_engine_that_shows_no_prompt_is_said_not_to_be_tested() -> None:
    assert probed(Model(GOOD, YES))["token of beginning"].state is State.SKIPPED


def test_an_engine_that_cannot_start_is_one_failure_with_its_remedy() -> None:
    class Broken(Scripted):
        def generate(self, requests: Iterable[Request]) -> Iterator[Completion]:
            raise ModelError("no memory.\nBuy some.")

    (found,) = probes("model", Broken(), "default")
    assert (found.state, found.seen, found.remedy) == (State.FAILS, "no memory.", "Buy some.")


def test_only_engines_that_are_needed_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_version", lambda package: "1.0" if package == "httpx" else None)
    states = {finding.name: finding.state for finding in machine.engines({"VLLM", "OpenAIEmbedder"})}
    assert states["VLLM"] is State.FAILS
    assert states["OpenAIServer"] is State.OK
    assert states["LlamaCpp"] is State.SKIPPED


def test_no_gpu_is_a_failure_only_for_what_needs_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_output", lambda command: None)
    assert machine.gpu(needed_for=None).state is State.SKIPPED
    assert machine.gpu(needed_for="the model (VLLM)").state is State.FAILS


def test_gpus_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        machine, "_output", lambda command: "NVIDIA H100, 81559 MiB, 4 MiB\nNVIDIA H100, 81559 MiB, 0 MiB\n"
    )
    assert machine.gpu(needed_for="x").seen == "NVIDIA H100, 81559 MiB, 4 MiB; NVIDIA H100, 81559 MiB, 0 MiB"


def test_a_command_that_hangs_fails_or_is_missing_says_nothing(tmp_path: Path) -> None:
    assert machine._output(["no-such-command-here"]) is None
    assert machine._output(["false"]) is None


def test_slurm_that_does_not_answer_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: "/usr/bin/sbatch")
    monkeypatch.setattr(machine, "_output", lambda command: None)
    assert machine.slurm().state is State.WARNS
    monkeypatch.setattr(machine, "_output", lambda command: "gpu*   up  4 nodes gpu:h100:8\n")
    assert machine.slurm().seen.startswith("gpu* up 4 nodes gpu:h100:8")


@pytest.mark.parametrize(
    ("config", "needs"),
    [
        ({"_target_": "a.LlamaCpp", "gpu_layers": 0}, False),
        ({"_target_": "a.LlamaCpp", "gpu_layers": -1}, True),
        ({"_target_": "a.FlagEmbedder", "device": "cuda:0"}, True),
        ({"_target_": "a.FlagEmbedder", "device": None}, False),
        ({"_target_": "a.VLLM"}, True),
    ],
)
def test_what_needs_a_gpu(config: dict[str, Any], needs: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_version", lambda package: None)
    assert machine.needs_gpu(config) is needs


def test_weights_that_would_be_downloaded_are_a_warning_and_not_downloaded() -> None:
    config = {"_target_": "a.LlamaCpp", "weights": "hub:owner/repo/model.gguf@abc"}
    found = models.model("model", config, None)
    assert found.state is State.WARNS
    assert "hf download owner/repo model.gguf --revision abc" in found.remedy


def test_weights_that_are_not_there_fail_with_the_forms_they_can_have() -> None:
    from transplantqa.models import LlamaCpp

    config = {"_target_": "a.LlamaCpp", "weights": "nowhere.gguf"}
    found = models.model("model", config, LlamaCpp(weights="nowhere.gguf"))
    assert (found.state, "no such file" in found.seen, "package:NAME/FILE" in found.remedy) == (State.FAILS, True, True)


def test_a_model_folder_that_is_not_there_fails_and_one_on_the_hub_is_a_warning(tmp_path: Path) -> None:
    def state(name: str) -> State:
        return models.model("model", {"_target_": "a.VLLM", "model": name, "revision": None}, None).state

    assert (state(str(tmp_path)), state("/no/such/folder"), state("OWNER/NAME")) == (State.OK, State.FAILS, State.WARNS)


def test_the_hub_token_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    monkeypatch.setenv("HF_TOKEN", TOKEN)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    seen = []

    def get(url: str, headers: dict[str, str], timeout: float) -> httpx.Response:
        seen.append(headers["Authorization"])
        return httpx.Response(401, text=f"bad token {TOKEN}")

    monkeypatch.setattr(httpx, "get", get)
    refused = services.hub()
    monkeypatch.setattr(httpx, "get", lambda *_args, **_named: httpx.Response(200, json={"name": "someone"}))
    accepted = services.hub()
    assert seen == [f"Bearer {TOKEN}"]
    assert (refused.state, accepted.state) == (State.WARNS, State.OK)
    assert TOKEN not in repr([refused, accepted])


def test_a_hub_out_of_reach_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    def get(url: str, **_named: Any) -> httpx.Response:
        raise httpx.ConnectError(f"no route, {TOKEN}")

    monkeypatch.setenv("HF_TOKEN", TOKEN)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(httpx, "get", get)
    found = services.hub()
    assert (found.state, TOKEN in repr(found)) == (State.WARNS, False)


def test_a_tracking_database_is_looked_at_and_not_made(folder: Path) -> None:
    found = services.mlflow({"_target_": "a.MLflow", "tracking_uri": "sqlite:///mlruns/mlflow.db"})
    assert (found.state, "made at the first run" in found.seen) == (State.OK, True)
    assert list(folder.iterdir()) == []


def test_a_tracking_server_that_does_not_answer_is_a_warning_without_its_password() -> None:
    found = services.mlflow({"_target_": "a.MLflow", "tracking_uri": "http://user:s3cret@127.0.0.1:9/"})
    assert (found.state, "s3cret" in repr(found)) == (State.WARNS, False)


def test_an_embedder_that_nothing_uses_is_not_examined() -> None:
    embedder, model = {"_target_": "a.FlagEmbedder"}, {"_target_": "a.Scripted"}
    config = SimpleNamespace(
        generator={"model": model}, judge={"model": model}, retriever={}, embedder=embedder, reranker=None
    )
    assert list(components(config)) == ["model"]
    config.retriever, config.judge = {"embedder": embedder}, {"model": {"_target_": "a.VLLM"}}
    assert list(components(config)) == ["generator's model", "judge's model", "embedder"]


def test_a_system_that_can_run_ends_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", *SCRIPTED]) == 0
    printed = capsys.readouterr().out
    assert 'schema, model: asked for a haiku, gave {"colour":' in printed
    assert "Ready:" in printed


def test_a_system_that_cannot_ends_with_the_code_of_models(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "_output", lambda command: None)
    code = main(["doctor", *SCRIPTED, "model=llama_cpp", "model.weights=nowhere.gguf"])
    printed = capsys.readouterr().out
    assert code == ModelError.exit_code == 4
    assert "Not ready: 1 of the things this system needs fail (model)." in printed
