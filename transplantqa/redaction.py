"""Secrets taken out of what leaves the run: parameters, configurations and manifests."""

import os
import re
from collections.abc import Mapping
from typing import TypeVar, cast

REDACTED = "[redacted]"

_SECRET_KEY = re.compile(
    r"(?:^|_)(?:api_?key|access_?key|private_?key|secret|password|passwd|credentials?|authorization|bearer)(?:_|$)"
    r"|^(?:.*_)?(?:access|auth|api|hf|hub|bearer|session|refresh)_token$|^token$",
    re.IGNORECASE,
)
_SECRET_TEXT = re.compile(
    r"\bhf_[A-Za-z0-9]{16,}|\bsk-[A-Za-z0-9_-]{16,}|\bgh[pousr]_[A-Za-z0-9]{20,}|\bAKIA[0-9A-Z]{16}\b"
    r"|(?<=Bearer )[A-Za-z0-9._~+/=-]{8,}|(?<=://)[^/\s:@]*:[^/\s@]+(?=@)"
)
_SHORTEST_SECRET = 8

T = TypeVar("T")


def redact(value: T) -> T:
    """Return JSON-like data with secrets replaced by ``[redacted]``.

    A value is a secret by its key (``api_key``, ``password``, ``hf_token``; not ``max_tokens``), by its own shape (a
    Hub or API token, a password in a URL), or because an environment variable with such a name holds it.
    """
    return cast("T", _redact(value, _environment_secrets()))


def _redact(value: object, known: tuple[str, ...]) -> object:
    if isinstance(value, Mapping):
        return {
            key: REDACTED if item and _is_secret_key(str(key), item) else _redact(item, known)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [_redact(item, known) for item in value]
    return _redact_text(value, known) if isinstance(value, str) else value


def _is_secret_key(key: str, value: object) -> bool:
    # A key such as api_key_env names the variable and not the secret.
    return not isinstance(value, bool) and bool(_SECRET_KEY.search(key)) and not key.endswith(("_env", "_variable"))


def _redact_text(text: str, known: tuple[str, ...]) -> str:
    for secret in known:
        text = text.replace(secret, REDACTED)
    return _SECRET_TEXT.sub(REDACTED, text)


def _environment_secrets() -> tuple[str, ...]:
    found = {
        value
        for name, value in os.environ.items()
        if (_SECRET_KEY.search(name) or name.upper().endswith("_TOKEN"))
        and len(value) >= _SHORTEST_SECRET
        and not value.startswith("/")
    }
    return tuple(sorted(found, key=lambda secret: (-len(secret), secret)))
