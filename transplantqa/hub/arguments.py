"""Arguments that the Hub's commands share."""

import re
from collections.abc import Mapping, Sequence

from transplantqa.errors import ConfigError

_REPO = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)


def repository(given: Mapping[str, str], usage: str) -> str:
    """Return the dataset that ``repo`` names.

    Raises:
        ConfigError: it is missing or isn't OWNER/NAME.
    """
    name = given.get("repo", "")
    if not _REPO.fullmatch(name):
        what = f"{name!r} isn't OWNER/NAME" if name else "needs a value"
        raise ConfigError(f"repo: {what}.\nUsage: {usage}")
    return name


def choice(given: Mapping[str, str], key: str, allowed: Sequence[str], usage: str) -> str:
    """Return the value of a key that has few; the first where it isn't given.

    Raises:
        ConfigError: it is another.
    """
    value = given.get(key, allowed[0])
    if value not in allowed:
        raise ConfigError(f"{key}: {value!r} is not one of {', '.join(allowed)}.\nUsage: {usage}")
    return value


def refuse_tokens(arguments: Sequence[str]) -> None:
    """Refuse a token on the command line, where other users and the shell's history can see it, without repeating it.

    Raises:
        ConfigError: there is one.
    """
    if any(argument.partition("=")[0].strip("-").endswith("token") for argument in arguments):
        raise ConfigError(
            "No token is taken from the command line, where others can see it.\n"
            "Sign in with `hf auth login`; if this one was real, revoke it."
        )
