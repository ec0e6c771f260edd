"""Writes docs/configuration.md from conf/ and the components' signatures: ``python docs/build_configuration.py``."""

import inspect
import re
import sys
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from hydra.utils import get_class

ROOT = Path(__file__).parent.parent
CONF = ROOT / "conf"
PAGE = ROOT / "docs" / "configuration.md"
INTRODUCTION = """\
# Configuration

Made from `conf/` and the components' own signatures by `python docs/build_configuration.py`; a test keeps it true.

Every command is composed from these files by Hydra. `group=choice` takes another choice, `group.key=value` sets one
key, `-m group=a,b` sweeps, `experiment=NAME` takes a bundle of choices, `--config-dir FOLDER` adds your own files, and
`--cfg job` prints what was composed without running it. Everything is checked, all problems at once, before anything
is loaded.
"""
_CONSTRAINTS = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}


def page() -> str:
    """Return the whole page as Markdown."""
    groups = sorted(path for path in CONF.iterdir() if path.is_dir() and path.name != "hydra")
    parts = [INTRODUCTION, "## Commands\n", *_primaries(), "## Groups\n"]
    for group in groups:
        parts += _group(group)
    return "\n".join(parts)


def _primaries() -> Iterator[str]:
    for path in sorted(CONF.glob("*.yaml")):
        if path.name != "common.yaml":
            yield f"### {path.stem}\n\n```yaml\n{path.read_text(encoding='utf-8').rstrip()}\n```\n"


def _group(folder: Path) -> Iterator[str]:
    yield f"### {folder.name}\n"
    yield "| choice | |\n|---|---|"
    targets: dict[str, type] = {}
    rows = []
    for path in sorted(folder.glob("*.yaml")):
        text = path.read_text(encoding="utf-8")
        rows.append(f"| `{path.stem}` | {_cell(_comment(text))} |")
        for name in re.findall(r"^_target_: *(\S+)", text, re.MULTILINE):
            targets[name] = get_class(name)
    yield "\n".join(rows) + "\n"
    if not targets:
        yield from _keys(folder)
    for name, target in sorted(targets.items()):
        yield from _component(name, target)


def _comment(text: str) -> str:
    lines = [line[1:].strip() for line in text.split("\n") if line.startswith("#")]
    return next((line for line in lines if not line.startswith("@package")), "")


def _keys(folder: Path) -> Iterator[str]:
    """Name the keys of a group of plain values; bundles of choices have none of their own."""
    keys: dict[str, None] = {}
    for path in sorted(folder.glob("*.yaml")):
        text = path.read_text(encoding="utf-8")
        if "@package _global_" not in text:
            keys |= dict.fromkeys(yaml.safe_load(text) or {})
    keys.pop("defaults", None)
    if keys:
        yield "Keys: " + ", ".join(f"`{key}`" for key in keys) + ".\n"


def _component(name: str, target: type) -> Iterator[str]:
    hints = typing.get_type_hints(target.__init__, include_extras=True)  # type: ignore[misc]
    meanings = _meanings(inspect.getdoc(target) or "")
    parameters = inspect.signature(target).parameters
    yield f"`{name}`: {_cell((inspect.getdoc(target) or '').partition(chr(10))[0])}\n"
    if parameters:
        yield "| key | values | |\n|---|---|---|"
        rows = [f"| `{key}` | {_cell(_type(hints.get(key)))} | {_cell(meanings.get(key, ''))} |" for key in parameters]
        yield "\n".join(rows) + "\n"


def _meanings(doc: str) -> dict[str, str]:
    """Read the Args section of a docstring in Google's style."""
    section = re.search(r"^Args:\n((?:(?: {4}.*)?\n?)*)", doc, re.MULTILINE)
    if section is None:
        return {}
    found: dict[str, str] = {}
    name = ""
    for line in section[1].split("\n"):
        start = re.match(r" {4}(\w+): (.*)", line)
        if start:
            name = start[1]
            found[name] = start[2]
        elif name and line.strip():
            found[name] += f" {line.strip()}"
    return found


def _type(annotation: Any) -> str:
    origin = typing.get_origin(annotation)
    if origin is Annotated:
        inner, *extras = typing.get_args(annotation)
        limits = [limit for extra in extras for limit in _limits(extra)]
        return " ".join([_type(inner), *limits])
    if origin is Literal:
        return ", ".join(f"`{choice}`" for choice in typing.get_args(annotation))
    if origin in {typing.Union, types.UnionType}:
        return " or ".join(_type(part) for part in typing.get_args(annotation))
    if annotation is type(None):
        return "null"
    if origin is not None:
        inside = ", ".join(_type(part) for part in typing.get_args(annotation))
        return f"{origin.__name__} of {inside}"
    return str(getattr(annotation, "__name__", annotation))


def _limits(extra: Any) -> Iterator[str]:
    for constraint in getattr(extra, "metadata", ()):
        for name, sign in _CONSTRAINTS.items():
            if hasattr(constraint, name):
                yield f"{sign} {getattr(constraint, name)}"


def _cell(text: str) -> str:
    return text.replace("``", "`").replace("|", "\\|").strip()


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{PAGE}\n")


if __name__ == "__main__":
    main()
