"""Composed configurations: checked as a whole before anything heavy is imported, then built into components.

A component is a class named by ``_target_``; its keyword-only ``__init__`` is the schema of its YAML. Every problem of
a command line is collected before any is reported.
"""

import difflib
import inspect
import json
import types
import typing
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic_core import ErrorDetails, PydanticUndefined

from transplantqa.budget import overflow
from transplantqa.errors import ConfigError
from transplantqa.records import Label

Component = Mapping[str, Any]
Stage = Literal["ingest", "retrieve", "generate", "compare", "analyse"]

MAX_CHOICES = 16
"""Choices listed in one message."""


class Shard(BaseModel):
    """Which part of the work this process does."""

    model_config = ConfigDict(extra="forbid")
    index: Annotated[int, Field(ge=0)] = 0
    count: Annotated[int, Field(ge=1)] = 1


class Limit(BaseModel):
    """Only the first so many, for a look."""

    model_config = ConfigDict(extra="forbid")
    documents: Annotated[int, Field(ge=1)] | None = None
    questions: Annotated[int, Field(ge=1)] | None = None


class CommonConfig(BaseModel):
    """What every command's configuration has."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)
    artifacts: str
    corpus: Component
    domain: dict[str, Any]
    limit: Limit = Limit()
    sweep_id: str | None = None


class IngestConfig(CommonConfig):
    """``transplantqa ingest``."""


class RunConfig(CommonConfig):
    """``transplantqa run``: one system audited over one corpus."""

    system: str | None = None
    seed: int
    questions: Component
    retriever: Component
    generator: Component
    judge: Component
    prescreen: Component | None = None
    model: Component | None = None
    judge_model: Component | None = None
    prompt: dict[str, Any] | None = None
    judge_prompt: dict[str, Any] | None = None
    embedder: Component | None = None
    reranker: Component | None = None
    cost: Component | None = None
    judge_cost: Component | None = None
    expectations: Component
    analysis: Component
    tracking: Component
    stages: Annotated[list[Stage], Field(min_length=1)]
    shard: Shard = Shard()
    retry: list[
        Literal["context_overflow", "output_truncated", "reasoning_unclosed", "parse_failed", "engine_error"]
    ] = []
    max_failure_rate: Annotated[float, Field(ge=0, le=1)]


class EvaluateRetrievalConfig(CommonConfig):
    """``transplantqa evaluate-retrieval``: several retrievers against gold."""

    seed: int
    questions: Component
    retriever: Component
    retrievers: Annotated[list[Annotated[str, Field(pattern=r"\S")]], Field(min_length=1)]
    embedder: Component | None = None
    reranker: Component | None = None
    analysis: Component
    tracking: Component
    output: Literal["table", "json"]


class ReleaseConfig(BaseModel):
    """``transplantqa release``: which runs, and where the folder goes."""

    model_config = ConfigDict(extra="forbid")
    artifacts: str
    runs: Annotated[list[str], Field(min_length=1)]
    release: Component
    sweep_id: str | None = None


class ContrastConfig(BaseModel):
    """``transplantqa contrast``: two finished runs, and what may be said of them."""

    model_config = ConfigDict(extra="forbid")
    artifacts: str
    baseline: Annotated[str, Field(min_length=1)]
    candidate: Annotated[str, Field(min_length=1)]
    judges: Literal["same", "may_differ"]
    scope: Literal["cross_institution", "cross_phase", "same_institution", "all"]
    margin_points: Annotated[float, Field(ge=0, le=100)]
    analysis: Component
    tracking: Component
    sweep_id: str | None = None


class ValidateConfig(BaseModel):
    """``transplantqa validate``: pairs for people, what they said of them, judges side by side."""

    model_config = ConfigDict(extra="forbid")
    artifacts: str
    action: Literal["sample", "agreement", "compare"]
    run: Annotated[str, Field(min_length=1)] | None = None
    files: list[str]
    sample: Annotated[str, Field(min_length=1)] | None = None
    adjudicator: Annotated[str, Field(min_length=1)] | None = None
    spellings: dict[str, Label]
    runs: list[str]
    design: Component
    bootstrap: Component
    tracking: Component
    sweep_id: str | None = None


class ControlConfig(BaseModel):
    """What commands that ask some of a finished run again have in common."""

    model_config = ConfigDict(extra="forbid")
    artifacts: str
    run: Annotated[str, Field(min_length=1)]
    analysis: Component
    seed: Annotated[int, Field(ge=0)]
    sweep_id: str | None = None


class ProbeSilenceConfig(ControlConfig):
    """``transplantqa probe-silence``: a sample of a run's cells, asked again."""

    silent_cells: Annotated[int, Field(ge=1)]
    answered_cells: Annotated[int, Field(ge=0)]
    pairs_per_cell: Annotated[int, Field(ge=0)]
    window_tokens: Annotated[int, Field(ge=64)] | None = None
    people: Annotated[int, Field(ge=0)]
    sheet: str | None = None


class SameSourceConfig(ControlConfig):
    """``transplantqa same-source``: one document answers twice."""

    by: Literal["paraphrase", "seed", "prompt"]
    paraphrases: str
    other_prompt: dict[str, Any] | None = None
    cells: Annotated[int, Field(ge=1)]


class CurateConfig(BaseModel):
    """``transplantqa curate-questions``: candidates to propose for, or a review to accept."""

    model_config = ConfigDict(extra="forbid")
    artifacts: str
    domain: dict[str, Any]
    model: Component | None = None
    prompt: dict[str, Any]
    file: Annotated[str, Field(min_length=1)] | None = None
    accept: Annotated[str, Field(min_length=1)] | None = None
    out: Annotated[str, Field(min_length=1)]
    topics: list[str]
    near: Annotated[float, Field(gt=0, le=1)]
    min_words: Annotated[int, Field(ge=1)]
    max_words: Annotated[int, Field(ge=1)]
    sweep_id: str | None = None


COMMANDS: Mapping[str, type[BaseModel]] = {
    "curate-questions": CurateConfig,
    "run": RunConfig,
    "ingest": IngestConfig,
    "release": ReleaseConfig,
    "contrast": ContrastConfig,
    "probe-silence": ProbeSilenceConfig,
    "same-source": SameSourceConfig,
    "validate": ValidateConfig,
    "evaluate-retrieval": EvaluateRetrievalConfig,
}


@dataclass
class Problems:
    """Problems gathered so far; each is one line of what and where, one of remedy."""

    found: list[str] = field(default_factory=list)

    def add(self, where: str, what: str, remedy: str = "") -> None:
        """Note one problem; the same one twice counts once."""
        text = f"{where}: {what}" + (f"\n  {remedy}" if remedy else "")
        if text not in self.found:
            self.found.append(text)

    def raise_if_any(self) -> None:
        """Raise every problem at once.

        Raises:
            ConfigError: if there is at least one.
        """
        if self.found:
            count = len(self.found)
            head = "1 problem" if count == 1 else f"{count} problems"
            raise ConfigError(f"{head} in the configuration:\n" + "\n".join(sorted(self.found)))


def nearest(word: str, allowed: Iterable[str]) -> str:
    """Return a remedy naming the closest spelling, and all the choices where they are few enough to read."""
    choices = sorted(allowed)
    close = difflib.get_close_matches(word, choices, n=1, cutoff=0.6)
    meant = f"Did you mean {close[0]!r}? " if close else ""
    shown = ", ".join(choices[:MAX_CHOICES]) + (", ..." if len(choices) > MAX_CHOICES else "")
    return f"{meant}Allowed: {shown}" if choices else "Nothing is allowed here."


def validate(command: str, config: Mapping[str, Any], problems: Problems) -> BaseModel | None:
    """Check a resolved configuration (plain values) whole, components included, and note every problem."""
    model = COMMANDS[command]
    for name, value in config.items():
        if isinstance(value, Mapping) and "_target_" in value:
            _validate_component(name, value, problems)
    too_much = overflow(config)
    if too_much is not None:
        problems.add(*too_much)
    try:
        return model.model_validate(dict(config))
    except ValidationError as error:
        _note(error, "", model.model_fields, problems)
        return None


def build(config: Any, built: dict[str, Any] | None = None) -> Any:
    """Make the component a validated configuration names, its nested components first.

    Equal nested configurations share one object when ``built`` is given: an embedder used twice is loaded once.

    Raises:
        ConfigError: if the configuration doesn't fit the component.
    """
    built = {} if built is None else built
    if not (isinstance(config, Mapping) and "_target_" in config):
        return config
    key = component_key(config)
    if key not in built:
        problems = Problems()
        target = _target("", config, problems)
        problems.raise_if_any()
        assert target is not None  # noqa: S101 - a missing target is a problem raised above
        try:
            checked = component_schema(target).model_validate(_parameters(config))
        except ValidationError as error:
            _note(error, "", component_schema(target).model_fields, problems)
            problems.raise_if_any()
            raise
        values = {name: build(getattr(checked, name), built) for name in type(checked).model_fields}
        built[key] = target(**values)
    return built[key]


def component_key(config: Mapping[str, Any]) -> str:
    """Return what equal component configurations share, whatever the order of their keys."""
    return json.dumps(config, sort_keys=True, default=str)


@cache
def component_schema(target: type) -> type[BaseModel]:
    """Return a Pydantic model of a component's keyword parameters; nested components are checked on their own."""
    parameters = inspect.signature(target).parameters
    hints = typing.get_type_hints(target.__init__, include_extras=True)  # type: ignore[misc]
    fields: dict[str, Any] = {}
    for name, parameter in parameters.items():
        annotation = Any if _is_component(hints.get(name, Any)) else hints.get(name, Any)
        default = PydanticUndefined if parameter.default is inspect.Parameter.empty else parameter.default
        fields[name] = (annotation, Field(default=default))
    settings = ConfigDict(extra="forbid", arbitrary_types_allowed=True, protected_namespaces=())
    return create_model(target.__name__, __config__=settings, **fields)


def _parameters(config: Mapping[str, Any]) -> dict[str, Any]:
    return {str(name): value for name, value in config.items() if name != "_target_"}


def _is_component(annotation: Any) -> bool:
    return any(getattr(part, "_is_protocol", False) for part in _parts(annotation))


def _parts(annotation: Any) -> Iterator[Any]:
    origin = typing.get_origin(annotation)
    if origin is Annotated:
        yield from _parts(typing.get_args(annotation)[0])
    elif origin in {typing.Union, types.UnionType}:
        for part in typing.get_args(annotation):
            yield from _parts(part)
    else:
        yield annotation


def _target(where: str, config: Mapping[str, Any], problems: Problems) -> type | None:
    from hydra.utils import get_class  # noqa: PLC0415

    name = str(config["_target_"])
    try:
        return get_class(name)
    except (ImportError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        problems.add(f"{where}._target_".lstrip("."), f"{name!r} is not an importable class ({reason})")
        return None


def _validate_component(where: str, config: Mapping[str, Any], problems: Problems) -> None:
    target = _target(where, config, problems)
    if target is None:
        return
    schema = component_schema(target)
    hints = typing.get_type_hints(target.__init__, include_extras=True)  # type: ignore[misc]
    for name, value in _parameters(config).items():
        if isinstance(value, Mapping) and "_target_" in value:
            _validate_component(f"{where}.{name}", value, problems)
        elif name in hints and _is_component(hints[name]) and not _may_be(value, hints[name]):
            problems.add(f"{where}.{name}", f"{value!r} is not a component", "Give a mapping with a `_target_`.")
    try:
        schema.model_validate(_parameters(config))
    except ValidationError as error:
        _note(error, where, schema.model_fields, problems)


def _may_be(value: Any, annotation: Any) -> bool:
    return value is None and type(None) in _parts(annotation)


def _note(error: ValidationError, where: str, fields: Mapping[str, Any], problems: Problems) -> None:
    for detail in error.errors(include_url=False):
        path = ".".join(str(part) for part in (where, *detail["loc"]) if part != "")
        problems.add(path, *_words(detail, fields))


def _words(detail: ErrorDetails, fields: Mapping[str, Any]) -> tuple[str, str]:
    if detail["type"] == "extra_forbidden":
        return "unknown key", nearest(str(detail["loc"][-1]), fields)
    if detail["type"] == "missing":
        return "needs a value", "Set it on the command line or in the YAML."
    if detail["type"] == "literal_error":
        choices = [word.strip("' ") for word in detail["ctx"]["expected"].replace(" or ", ", ").split(",")]
        return f"{detail['input']!r} is not a choice", nearest(str(detail["input"]), choices)
    return f"{detail['input']!r}: {detail['msg'][0].lower()}{detail['msg'][1:]}", ""


def conf_dir() -> Path:
    """Return the folder of config groups: a wheel's own copy, or the repository's beside an editable install."""
    package = Path(__file__).resolve().parent
    own = package / "conf"
    return own if own.is_dir() else package.parent / "conf"
