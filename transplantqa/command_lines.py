"""Command lines as people type them, made into Hydra's overrides: names and paths quoted, plain words given a key."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence

_TAKE_A_VALUE = frozenset({"--config-dir", "-cd", "--config-path", "-cp", "--config-name", "-cn", "--cfg", "-c"})
"""Flags of Hydra whose value is an argument of its own."""


def quoted(value: str) -> str:
    """Quote a value for Hydra: an id may look like a number, a name may hold a "=", a path a space.

    In Hydra's quotes a backslash means itself, but before a quote, where each is written twice.
    """
    escaped = re.sub(r"(\\*)'", r"\1\1\\'", value)
    trailing = len(escaped) - len(escaped.rstrip("\\"))
    return f"'{escaped}{escaped[len(escaped) - trailing :]}'"


def with_quoted(arguments: Sequence[str], keys: Collection[str]) -> Iterator[str]:
    """Yield arguments with the values of these keys quoted, where they aren't yet; ``null`` stays null."""
    for argument in arguments:
        key, separator, value = argument.partition("=")
        bare = key in keys and separator and value and value[0] not in "'\"" and value != "null"
        yield f"{key}={quoted(value)}" if bare else argument


def parted(
    arguments: Sequence[str], is_override: Callable[[str], bool] = lambda argument: "=" in argument
) -> tuple[list[str], list[str]]:
    """Part plain words from overrides and flags; a flag's value goes with it."""
    words: list[str] = []
    others: list[str] = []
    for argument, before in zip(arguments, ["", *arguments], strict=False):
        is_word = not argument.startswith("-") and before not in _TAKE_A_VALUE and not is_override(argument)
        (words if is_word else others).append(argument)
    return words, others


def of_a_run(arguments: Sequence[str]) -> list[str]:
    """Return overrides for a command that looks at one finished run, which a plain word names."""
    return _named("run", arguments, {"run"})


def of_two_runs(arguments: Sequence[str]) -> list[str]:
    """Return overrides for a command that compares two finished runs."""
    return list(with_quoted(arguments, {"baseline", "candidate"}))


def of_a_file(arguments: Sequence[str]) -> list[str]:
    """Return overrides for a command that reads a file, which a plain word names, and writes a folder."""
    return _named("file", arguments, {"file", "accept", "out"})


def _named(key: str, arguments: Sequence[str], quoted_keys: Collection[str]) -> list[str]:
    words, others = parted(arguments)
    return list(with_quoted([*(f"{key}={word}" for word in words), *others], quoted_keys))
