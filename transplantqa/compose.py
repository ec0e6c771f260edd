"""The command line checked whole before Hydra acts on it: every problem of every job of a sweep, at once."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.core.config_loader import ConfigLoader
from hydra.core.global_hydra import GlobalHydra
from hydra.core.object_type import ObjectType
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from transplantqa.config import Problems, conf_dir, nearest, validate

MAX_CHECKED_JOBS = 64
"""Jobs of one sweep composed before it starts; the rest are checked when their turn comes."""


@dataclass(frozen=True)
class CommandLine:
    """What Hydra will be given: a primary config, overrides, whether to sweep, and the user's own config folder."""

    command: str
    overrides: tuple[str, ...]
    sweep: bool
    config_dir: Path | None


def check(line: CommandLine) -> None:
    """Compose and validate every job of a command line without running anything.

    Raises:
        ConfigError: with all problems: syntax, unknown groups, choices, keys, values, missing values.
    """
    problems = Problems()
    if line.config_dir is not None and not line.config_dir.is_dir():
        problems.add("--config-dir", f"no such folder: {line.config_dir}")
        problems.raise_if_any()
    overrides = list(_parsed(line, problems))
    with initialize_config_dir(str(conf_dir()), version_base="1.3"):
        search = [f"hydra.searchpath=[file://{line.config_dir.resolve()}]"] if line.config_dir else []
        loader = GlobalHydra.instance().config_loader()
        with_search = _Loader(loader, tuple(search))
        overrides = [override for override in overrides if _known(override, with_search, problems)]
        if _experiments_exist(overrides, with_search, problems):
            for job in itertools.islice(_jobs(overrides), MAX_CHECKED_JOBS):
                plain = _check_job(line.command, [*search, *job], problems)
                for one in _of_retrievers(plain, [*search, *job], with_search, problems):
                    _check_job(line.command, one, problems)
    problems.raise_if_any()


@dataclass(frozen=True)
class _Loader:
    """Looks up groups and choices, in the user's own folder as well as in the package's."""

    loader: ConfigLoader
    search: tuple[str, ...]

    def groups(self, parent: str = "") -> list[str]:
        found: list[str] = []
        for name in self.loader.list_groups(parent):
            path = f"{parent}/{name}".lstrip("/")
            found += [path, *self.groups(path)] if not path.startswith("hydra") else [path]
        return found

    def choices(self, group: str) -> list[str]:
        return self.loader.get_group_options(group, ObjectType.CONFIG, overrides=list(self.search))


def _parsed(line: CommandLine, problems: Problems) -> Iterator[Override]:
    parser = OverridesParser.create()
    for text in line.overrides:
        try:
            override = parser.parse_override(text)
        except HydraException as error:
            reason = str(error).partition("\n")[0]
            problems.add(text, f"not an override ({reason})", "Write key=value; quote values with spaces or commas.")
            continue
        if override.is_sweep_override() and not line.sweep:
            problems.add(text, "several values, but this is not a sweep", "Add -m to sweep, or quote the value.")
            continue
        yield override


def _known(override: Override, loader: _Loader, problems: Problems) -> bool:
    """Say whether an override may be composed; a group's unknown choice is a problem here, a key is checked later."""
    group = override.key_or_group
    if group.startswith("hydra") or override.is_delete():
        return True
    choices = loader.choices(group)
    if not choices:
        return True
    unknown = [choice for choice in _values(override) if isinstance(choice, str) and choice not in choices]
    for choice in unknown:
        problems.add(group, f"{choice!r} is not a choice", nearest(choice, choices))
    return not unknown


def _experiments_exist(overrides: Sequence[Override], loader: _Loader, problems: Problems) -> bool:
    """A misspelt group ("retreiver=bm25") reads as a key; name the group before composing fails on it."""
    for override in overrides:
        key = override.key_or_group
        if "." in key or key.startswith("hydra"):
            continue
        if "/" in key and key not in loader.groups():
            problems.add(key, "no such config group", nearest(key, loader.groups()))
            return False
    return True


def _values(override: Override) -> list[Any]:
    if override.is_sweep_override():
        return list(override.sweep_iterator()) if override.is_choice_sweep() else []
    value = override.value()
    return list(value) if isinstance(value, list) else [value]


def _jobs(overrides: Sequence[Override]) -> Iterator[list[str]]:
    """Expand choice sweeps as Hydra's basic sweeper does; other sweeps are left to it."""
    parts = []
    for override in overrides:
        if override.is_sweep_override() and (override.is_choice_sweep() or override.is_range_sweep()):
            key = override.get_key_element()
            parts.append([f"{key}={value}" for value in override.sweep_string_iterator()])
        else:
            parts.append([override.input_line or ""])
    for job in itertools.product(*parts):
        yield list(job)


def composed_retrievers(command: str, overrides: Sequence[str], entries: Sequence[str]) -> dict[str, Any]:
    """Return the configuration of each of ``retrievers``, composed inside a running Hydra job, by its entry."""
    return {
        entry: OmegaConf.to_container(compose(command, overrides=given), resolve=True)["retriever"]  # type: ignore[call-overload, index]
        for entry, given in _retriever_jobs(overrides, entries)
    }


def _retriever_jobs(overrides: Sequence[str], entries: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield each entry, a choice that keys may follow ("hero_qa route_max_chars=0"), and the overrides that make it."""
    for entry in entries:
        choice, *own = entry.split()
        yield entry, [*overrides, f"retriever={choice}", *(f"retriever.{key}" for key in own)]


def _of_retrievers(
    plain: Mapping[str, Any] | None, overrides: Sequence[str], loader: _Loader, problems: Problems
) -> Iterator[list[str]]:
    """Yield the overrides of each of ``retrievers``, where a command has them; unknown and repeated ones are noted."""
    entries = (plain or {}).get("retrievers")
    if not isinstance(entries, list) or not all(isinstance(entry, str) and entry.strip() for entry in entries):
        return
    choices = loader.choices("retriever")
    for entry, given in _retriever_jobs(overrides, entries):
        choice = entry.split()[0]
        if choice not in choices:
            problems.add("retrievers", f"{choice!r} is not a choice", nearest(choice, choices))
        elif entries.count(entry) > 1:
            problems.add("retrievers", f"{entry!r} is named twice", "Name each retriever once.")
        else:
            yield given


def _check_job(command: str, overrides: Sequence[str], problems: Problems) -> Mapping[str, Any] | None:
    """Compose and validate a job; return it as plain values, unless it has no values yet."""
    config = _composed(command, overrides, problems)
    if config is None:
        return None
    try:
        missing = sorted(OmegaConf.missing_keys(config))
        plain = None if missing else OmegaConf.to_container(config, resolve=True)
    except OmegaConfBaseException as error:
        problems.add(str(error.full_key or command), str(error).partition("\n")[0])
        return None
    for key in missing:
        problems.add(key, "needs a value", f"Give it on the command line: {key}=...")
    if plain is None:
        return None
    assert isinstance(plain, Mapping)  # noqa: S101 - primary configs are mappings
    named = {str(key): value for key, value in plain.items()}
    validate(command, named, problems)
    return named


def _composed(command: str, overrides: Sequence[str], problems: Problems) -> DictConfig | None:
    """Compose a job; where an override names no key, note it, leave it out and go on, so that all are found."""
    remaining = list(overrides)
    while True:
        try:
            config = compose(command, overrides=remaining)
        except (HydraException, OmegaConfBaseException) as error:
            culprit = _culprit(command, remaining)
            if culprit is None:
                problems.add(command, str(error).partition("\n")[0])
                return None
            _note_culprit(command, remaining, culprit, error, problems)
            remaining.remove(culprit)
        else:
            return config


def _culprit(command: str, overrides: Sequence[str]) -> str | None:
    """Return the first override that can't be composed with those before it."""
    for count in range(1, len(overrides) + 1):
        try:
            compose(command, overrides=list(overrides[:count]))
        except (HydraException, OmegaConfBaseException):
            return overrides[count - 1]
    return None


def _note_culprit(command: str, overrides: Sequence[str], culprit: str, error: Exception, problems: Problems) -> None:
    key = OverridesParser.create().parse_override(culprit).key_or_group
    before = list(overrides[: list(overrides).index(culprit)])
    config = compose(command, overrides=before)
    names = sorted(_keys(config))
    loader = GlobalHydra.instance().config_loader()
    groups = loader.list_groups("")
    if key in names or loader.get_group_options(key, ObjectType.CONFIG):
        problems.add(f"{key} ({culprit})", " ".join(str(error).split()))
    elif "." in key:
        parent = key.rpartition(".")[0]
        siblings = [name for name in names if name.startswith(parent + ".")]
        problems.add(key, "no such key", nearest(key, siblings or names))
    else:
        problems.add(key, "no such key or group", nearest(key, {*groups, *(name for name in names if "." not in name)}))


def _keys(config: Any, prefix: str = "") -> Iterator[str]:
    for name in config:
        path = f"{prefix}{name}"
        yield path
        value = config._get_node(name)  # noqa: SLF001 - reading without resolving interpolations
        if isinstance(value, DictConfig) and not value._is_interpolation() and not value._is_none():  # noqa: SLF001
            yield from _keys(value, path + ".")
