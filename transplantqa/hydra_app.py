"""The Hydra applications: each job of a command composed and run, none of which ends the others by failing."""

import importlib
import importlib.util
import re
import sys
import traceback
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import hydra
from hydra import compose, initialize_config_dir
from hydra._internal.utils import get_args_parser
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import DictConfig, OmegaConf

from transplantqa.compose import CommandLine, check, composed_retrievers
from transplantqa.config import Problems, conf_dir, validate
from transplantqa.errors import EXIT_OK, ConfigError, Interrupted, TransplantQAError
from transplantqa.sweeps import Ended, JobLog, JobResult, record_job, sweep_folder, teed

PRIMARY_CONFIG = {"status": "run", "plan": "run", "doctor": "run"}
"""Commands that look at what another command's configuration describes."""

ONE_AT_A_TIME = {
    "status": "one system",
    "plan": "one system",
    "doctor": "one system",
    "contrast": "one pair of runs",
    "validate": "one judge",
    "probe-silence": "one run",
    "curate-questions": "one file",
    "same-source": "one run",
}


def run_command(command: str, arguments: Sequence[str]) -> int:
    """Run a Hydra command and return its exit code.

    Raises:
        ConfigError: for every problem of the command line, before anything runs.
    """
    parsed = get_args_parser().parse_args(list(arguments))
    primary = PRIMARY_CONFIG.get(command, command)
    if parsed.multirun and command in ONE_AT_A_TIME:
        raise ConfigError(
            f"{command} looks at {ONE_AT_A_TIME[command]} at a time.\nLeave out -m and give each key one value."
        )
    config_dir = Path(parsed.config_dir) if parsed.config_dir else None
    looks_only = parsed.help or parsed.hydra_help or parsed.cfg or parsed.info or parsed.shell_completion
    _check_flags(parsed)
    if not looks_only:
        _check_launcher(parsed.overrides)
        check(CommandLine(primary, tuple(parsed.overrides), parsed.multirun, config_dir))
    if parsed.multirun and not looks_only:
        return _run_sweep(command, arguments, parsed.overrides)
    results: list[JobResult] = []
    sys.argv = [f"transplantqa {command}", *arguments]
    _hydra_main(primary, lambda config: results.append(run_job(command, config)))
    return (results[0].exit_code or EXIT_OK) if results else EXIT_OK


def _check_flags(parsed: Any) -> None:
    """Say what Hydra would end in a traceback for: flags that exclude each other, or need another."""
    exclusive = {"run": "--run", "multirun": "-m", "cfg": "--cfg", "info": "--info", "shell_completion": "-sc"}
    given = [flag for name, flag in exclusive.items() if getattr(parsed, name)]
    if len(given) > 1:
        raise ConfigError(f"{' and '.join(given)} can't be given together.\nLeave out all but one.")
    if parsed.resolve and not (parsed.cfg or parsed.help):
        raise ConfigError("--resolve says how a configuration is shown.\nAdd --cfg job, or leave it out.")
    if parsed.package and not parsed.cfg:
        raise ConfigError("--package names a part of a configuration that is shown.\nAdd --cfg job, or leave it out.")


def _check_launcher(overrides: Sequence[str]) -> None:
    """Say what a launcher of ours needs before Hydra fails to find it."""
    asked = [text for text in overrides if text in {"hydra/launcher=local", "hydra/launcher=slurm"}]
    if asked and importlib.util.find_spec("hydra_plugins.hydra_submitit_launcher") is None:
        raise ConfigError(f"{asked[0]}: needs an extra package.\nInstall it: pip install 'transplantqa[slurm]'")


def _run_sweep(command: str, arguments: Sequence[str], overrides: Sequence[str]) -> int:
    """Run every job, whatever becomes of the others, and close with the table of all.

    The jobs' records are files, so that a launcher may run them in processes of their own.
    """
    from transplantqa.commands import close_sweep  # noqa: PLC0415

    sweep_id = f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{uuid.uuid4().hex[:8]}"
    sys.argv = [f"transplantqa {command}", *arguments, f"sweep_id={sweep_id}"]
    interrupted: list[int] = []

    def task(config: DictConfig) -> str | None:
        if interrupted:
            return None
        result = run_job(command, config)
        if result.exit_code == Interrupted.exit_code:
            interrupted.append(result.number)
        return result.folder

    try:
        _hydra_main(command, task)
    except SystemExit as ended:  # a launcher lost a job; the others' records are there
        sys.stderr.write(f"The launcher gave up (exit code {ended.code}); what the jobs left is shown.\n")
    return close_sweep(sweep_folder(_artifacts(command, overrides), sweep_id))


def _hydra_main(primary: str, task: Callable[[DictConfig], Any]) -> None:
    hydra.main(version_base="1.3", config_path=str(conf_dir()), config_name=primary)(task)()


def _artifacts(command: str, overrides: Sequence[str]) -> str:
    """Return the artifacts folder that all jobs of a sweep share."""
    parser = OverridesParser.create()
    fixed = [text for text in overrides if not parser.parse_override(text).is_sweep_override()]
    with initialize_config_dir(str(conf_dir()), version_base="1.3"):
        own = [text for text in fixed if text.lstrip("+~").partition("=")[0] == "artifacts"]
        return str(compose(command, overrides=own).artifacts)


def run_job(command: str, config: DictConfig) -> JobResult:
    """Run one composed job; whatever goes wrong in a sweep becomes the job's result, so that the others go on."""
    runtime = HydraConfig.get()
    plain: Any = OmegaConf.to_container(config, resolve=True)
    overrides = tuple(runtime.overrides.task)
    sweep_id = plain.get("sweep_id")
    if sweep_id is None:
        return _run_checked(command, plain, JobResult(0, overrides, None))
    asked = tuple(text for text in overrides if not text.startswith("sweep_id="))
    started = JobResult(int(runtime.job.num), asked, None)
    folder = sweep_folder(plain["artifacts"], sweep_id)
    record_job(folder, started)
    with teed(folder, started.number) as log:
        try:
            result = _run_checked(command, plain, started, log)
        except Exception as error:  # noqa: BLE001 - a bug in one job is told and must not end the others
            sys.stderr.write(traceback.format_exc())
            result = replace(started, exit_code=1, message=f"{type(error).__name__}: {error}")
    record_job(folder, result)
    return result


def _run_checked(command: str, plain: Mapping[str, Any], job: JobResult, log: JobLog | None = None) -> JobResult:
    try:
        problems = Problems()
        checked = validate(PRIMARY_CONFIG.get(command, command), plain, problems)
        problems.raise_if_any()
        name = getattr(checked, "system", None) or system_name(dict(HydraConfig.get().runtime.choices), job.overrides)
        return replace(job, **asdict(_dispatch(command, checked, plain, name)))
    except TransplantQAError as error:
        sys.stderr.write(f"{error}\n")
        if log is not None:
            log.write(traceback.format_exc())
        return replace(job, exit_code=error.exit_code, message=str(error))


def _dispatch(command: str, config: Any, plain: Mapping[str, Any], name: str) -> Ended:
    """Run a checked configuration; return exit code, the folder written, and what to say of it."""
    if command == "ingest":
        from transplantqa.commands import ingest_and_show  # noqa: PLC0415

        return Ended(ingest_and_show(config))
    if command in {"status", "plan", "doctor"}:
        return Ended(_look(command, config))
    folder = _folder_made(command, config)
    if folder is not None:
        return Ended(EXIT_OK, str(folder))
    if command == "evaluate-retrieval":
        from transplantqa.evaluations.command import evaluate_and_show  # noqa: PLC0415

        retrievers = composed_retrievers(command, HydraConfig.get().overrides.task, config.retrievers)
        return Ended(evaluate_and_show(config, plain, retrievers))
    from transplantqa.commands import run_and_show  # noqa: PLC0415

    return run_and_show(config, plain, name)


def _look(command: str, config: Any) -> int:
    """Show how far a run is, what it would do, or whether it could."""
    if command == "doctor":
        from transplantqa.doctor.command import doctor_and_show  # noqa: PLC0415

        return doctor_and_show(config)
    if command == "plan":
        from transplantqa.planning.command import plan_and_show  # noqa: PLC0415

        return plan_and_show(config)
    from transplantqa.commands import show_status  # noqa: PLC0415

    return show_status(config)


FOLDER_COMMANDS: Mapping[str, str] = {
    "release": "transplantqa.release.command:release",
    "contrast": "transplantqa.contrasts.command:contrast_and_show",
    "validate": "transplantqa.validation.command:validate_and_show",
    "probe-silence": "transplantqa.controls.probe_command:probe_and_show",
    "same-source": "transplantqa.controls.same_source_command:same_source_and_show",
    "curate-questions": "transplantqa.corpus.curate_command:curate_and_show",
}
"""Commands that write one folder: the function that does it and returns its path, loaded when it is asked for."""


def _folder_made(command: str, config: Any) -> Path | None:
    """Run a command that writes one folder and return it; None for any other command."""
    if command not in FOLDER_COMMANDS:
        return None
    module, _, function = FOLDER_COMMANDS[command].partition(":")
    folder: Path = getattr(importlib.import_module(module), function)(config)
    return folder


UNNAMED_GROUPS = frozenset({"experiment", "debug", "tracking", "analysis", "corpus", "questions"})
NEUTRAL_KEYS = frozenset(
    {"sweep_id", "artifacts", "stages", "shard", "retry", "max_failure_rate", "hydra", "tracking", "system"}
    | {"cost", "judge_cost", "cost@judge_cost", "expectations"}
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
        if key.split(".")[0] in UNNAMED_GROUPS | NEUTRAL_KEYS:
            continue
        if not choices.get("experiment") and key in {"retriever", "model"}:
            continue
        parts.append(value if key in choices else f"{key.rpartition('.')[2]}={value.rpartition('/')[2]}")
    return re.sub(r"[^\w.=-]+", "-", "_".join(parts)).strip("-")
