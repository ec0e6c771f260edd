"""Names and values as MLflow accepts them: flat parameters, and metric names cleaned without collisions."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from transplantqa.store.hashing import canonical_json, text_sha256

LONGEST_PARAMETER = 6_000
"""Characters of a parameter's value; MLflow cuts longer ones."""

LONGEST_NAME = 250
"""Characters of a name in MLflow's database."""

_ILLEGAL = re.compile(r"[^\w.\- ]")
_DIGEST_LENGTH = 6


def clean_name(name: str) -> str:
    """Return a name that MLflow accepts; different names stay different, and the result depends on the name alone.

    Illegal characters become ``_``. A part (between slashes) that was changed ends with a short hash of what it was,
    so that ``recall@5`` and ``recall_5`` don't meet, in one run or across runs. Too long a name is cut and
    hashed likewise.
    """
    cleaned = "/".join(map(_clean_part, name.split("/")))
    if len(cleaned) <= LONGEST_NAME:
        return cleaned
    return f"{cleaned[: LONGEST_NAME - _DIGEST_LENGTH - 1]}-{_short_hash(name)}"


def clean_names(names: Iterable[str]) -> dict[str, str]:
    """Return original name to cleaned name, in the order given."""
    return {name: clean_name(name) for name in names}


def flat_parameters(config: Mapping[str, Any]) -> dict[str, str]:
    """Flatten a nested configuration into dotted keys and text values; lists and empty mappings become JSON."""
    flat: dict[str, str] = {}
    _flatten("", config, flat)
    return flat


def _flatten(prefix: str, value: object, flat: dict[str, str]) -> None:
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            _flatten(f"{prefix}.{key}" if prefix else str(key), item, flat)
    elif prefix:
        flat[prefix] = value if isinstance(value, str) else _text(value)


def _text(value: object) -> str:
    return canonical_json(value) if isinstance(value, list | tuple | Mapping) else str(value)


def _clean_part(part: str) -> str:
    cleaned = _ILLEGAL.sub("_", part)
    if cleaned.strip(".") == "":
        cleaned = "_" * max(1, len(cleaned))
    return part if cleaned == part else f"{cleaned}-{_short_hash(part)}"


def _short_hash(text: str) -> str:
    return text_sha256(text)[:_DIGEST_LENGTH]
