"""The Hydra applications: each job of a command composed and run, none of which ends the others by failing."""

import re
import sys
import traceback
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import hydra
from hydra._internal.utils import get_args_parser
from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf

from transplantqa.compose import CommandLine, check
from transplantqa.config import Problems, conf_dir, validate
from transplantqa.errors import EXIT_OK, Interrupted, TransplantQAError
from transplantqa.store import json_bytes, write_atomically


@dataclass(frozen=True)
class JobResult:
    """How one job ended: its exit code, the folder it wrote, and what to tell the user when it failed."""

    number: int
    overrides: tuple[str, ...]
    exit_code: int
    folder: str | None = None
    message: str | None = None


def run_command(command: str, arguments: Sequence[str]) -> int:
    """Run a Hydra command and return its exit code.

    Raises:
        ConfigError: for every problem of the command line, before anything runs.
    """
    parsed = get_args_parser().parse_args(list(arguments))
    config_dir = Path(parsed.config_dir) if parsed.config_dir else None
    looks_only = parsed.help or parsed.hydra_help or parsed.cfg or parsed.info or parsed.shell_completion
    sweep_id = f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{uuid.uuid4().hex[:8]}"
    if not looks_only:
        check(CommandLine(command, tuple(parsed.overrides), parsed.multirun, config_dir))
    results: list[JobResult] = []
    extra = [f"sweep_id={sweep_id}"] if parsed.multirun else []
    sys.argv = [f"transplantqa {command}", *arguments, *extra]

    def task(config: DictConfig) -> str | None:
        if any(result.exit_code == Interrupted.exit_code for result in results):
            return None
        result = run_job(command, config)
        results.append(result)
        return result.folder

    hydra.main(version_base="1.3", config_path=str(conf_dir()), config_name=command)(task)()
    if looks_only:
        return EXIT_OK
    if parsed.multirun:
        from transplantqa.commands import close_sweep  # noqa: PLC0415

        return close_sweep(results)
    return results[0].exit_code if results else EXIT_OK


def run_job(command: str, config: DictConfig) -> JobResult:
    """Run one composed job; whatever goes wrong in a sweep becomes the job's result, so that the others go on."""
    runtime = HydraConfig.get()
    plain: Any = OmegaConf.to_container(config, resolve=True)
    in_sweep = plain.get("sweep_id") is not None
    number = int(runtime.job.num) if in_sweep else 0
    overrides = tuple(runtime.overrides.task)
    try:
        problems = Problems()
        checked = validate(command, plain, problems)
        problems.raise_if_any()
        name = getattr(checked, "system", None) or system_name(dict(runtime.runtime.choices), overrides)
        result = JobResult(number, overrides, *_dispatch(command, checked, plain, name))
    except TransplantQAError as error:
        sys.stderr.write(f"{error}\n")
        result = JobResult(number, overrides, error.exit_code, None, str(error))
    except Exception as error:
        if not in_sweep:
            raise
        sys.stderr.write(traceback.format_exc())
        result = JobResult(number, overrides, 1, None, f"{type(error).__name__}: {error}")
    if in_sweep:
        _record(plain, result)
    return result


def _record(plain: Mapping[str, Any], result: JobResult) -> None:
    folder = Path(plain["artifacts"]) / "sweeps" / plain["sweep_id"]
    write_atomically(folder / f"job-{result.number}.json", json_bytes(asdict(result)))


def _dispatch(command: str, config: Any, plain: Mapping[str, Any], name: str) -> tuple[int, str | None, str | None]:
    """Run a checked configuration; return exit code, the folder written, and what to say of it."""
    if command == "ingest":
        from transplantqa.commands import ingest_and_show  # noqa: PLC0415

        return ingest_and_show(config), None, None
    if command == "release":
        from transplantqa.release.command import release  # noqa: PLC0415

        return EXIT_OK, str(release(config)), None
    from transplantqa.commands import run_and_show  # noqa: PLC0415

    return run_and_show(config, plain, name)


UNNAMED_GROUPS = frozenset({"experiment", "debug", "tracking", "analysis", "corpus", "questions"})
NEUTRAL_KEYS = frozenset(
    {"sweep_id", "artifacts", "stages", "shard", "retry", "max_failure_rate", "hydra", "tracking", "system"}
)
"""Keys that can't change a row, so they name nothing."""


def system_name(choices: Mapping[str, str | None], overrides: Sequence[str]) -> str:
    """Name a system after its experiment, else its retriever and model, and after every override that changes it.

    >>> system_name({"experiment": "sample", "retriever": "bm25"}, ["experiment=sample", "retriever=bm25"])
    'sample_bm25'
    """
    parts = [choices.get("experiment") or f"{choices.get('retriever')}_{choices.get('model')}"]
    for override in sorted(overrides):
        key, _, value = override.lstrip("+~").partition("=")
        if key in UNNAMED_GROUPS or key.split(".")[0] in NEUTRAL_KEYS:
            continue
        if not choices.get("experiment") and key in {"retriever", "model"}:
            continue
        parts.append(value if key in choices else f"{key.rpartition('.')[2]}={value.rpartition('/')[2]}")
    return re.sub(r"[^\w.=-]+", "-", "_".join(parts)).strip("-")
