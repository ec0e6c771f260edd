"""A method: everything that can change a stage's rows, and its fingerprint; what tells two of them apart."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from transplantqa.store.hashing import canonical_json, digest


class _Absent:
    """The value of an ingredient that one side does not have."""

    def __repr__(self) -> str:
        return "absent"


ABSENT = _Absent()


@dataclass(frozen=True)
class Method:
    """How a stage makes its rows.

    Args:
        stage: name of the stage, also its folder under ``artifacts``.
        identity: JSON-safe facts: everything that can change a row and nothing that can't (no path, batch size, thread
            count or plan). The stage's ``STAGE_VERSION`` is one of them.
    """

    stage: str
    identity: Mapping[str, Any]

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 (hex) of the canonical JSON of stage and identity."""
        return digest(self.facts())

    def facts(self) -> dict[str, Any]:
        """Return stage and identity as the plain data that is hashed and written to ``method.json``."""
        return {"stage": self.stage, "identity": dict(self.identity)}


@dataclass(frozen=True, slots=True)
class Difference:
    """One ingredient that differs: its dotted path and both values; ``ABSENT`` where a side has none."""

    path: str
    a: Any
    b: Any

    def __str__(self) -> str:
        """Return the path with both values, for people."""
        return f"{self.path}: {_shown(self.a)} / {_shown(self.b)}"


def _shown(value: object) -> str:
    return repr(value) if value is ABSENT else canonical_json(value)


def explain(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[Difference]:
    """Name the ingredients in which two identities differ.

    Mappings are compared key by key and lists of equal length item by item (``stages.2.k``); other values, and lists
    of unequal length, as a whole. Values are compared as the canonical JSON that a fingerprint hashes, so ``1`` and
    ``1.0`` differ.

    Returns:
        The differences in order of path; empty exactly when the fingerprints are equal.
    """
    return sorted(_differences("", a, b), key=lambda difference: difference.path)


def _differences(path: str, a: object, b: object) -> Iterator[Difference]:
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        for key in a.keys() | b.keys():
            yield from _differences(_join(path, key), a.get(key, ABSENT), b.get(key, ABSENT))
    elif isinstance(a, list | tuple) and isinstance(b, list | tuple) and len(a) == len(b):
        for index, (item_a, item_b) in enumerate(zip(a, b, strict=True)):
            yield from _differences(_join(path, index), item_a, item_b)
    elif a is ABSENT or b is ABSENT or canonical_json(a) != canonical_json(b):
        yield Difference(path, a, b)


def _join(path: str, key: object) -> str:
    return f"{path}.{key}" if path else str(key)
