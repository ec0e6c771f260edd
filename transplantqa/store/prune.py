"""What no run refers to any more."""

import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transplantqa.errors import StoreError
from transplantqa.store.atomic import read_bytes, refusals
from transplantqa.store.hashing import canonical_json
from transplantqa.store.locks import holder, is_live
from transplantqa.store.runs import list_runs


@dataclass(frozen=True, slots=True)
class Unreferenced:
    """A method's folder that no run refers to."""

    stage: str
    fingerprint: str
    folder: Path
    bytes: int


def unreferenced(root: Path) -> list[Unreferenced]:
    """List the fingerprints under the artifacts folder that no readable run refers to, in order of stage.

    A method that is an ingredient of one referred to, such as the embedder of a retriever, is referred to as well. A
    record that can't be read keeps nothing, and work of a run that isn't finished has no record yet: look at the list
    before deleting.
    """
    referred = {fingerprint for run in list_runs(root) for fingerprint in run.fingerprints.values()}
    folders = [path.parent for path in sorted(root.glob("*/*/method.json"))]
    ingredients = {part for folder in folders if folder.name in referred for part in _parts(_identity(folder))}
    return [
        Unreferenced(folder.parent.name, folder.name, folder, _size(folder))
        for folder in folders
        if folder.name not in referred and canonical_json(_identity(folder)) not in ingredients
    ]


def _identity(folder: Path) -> Any:
    try:
        facts = json.loads(read_bytes(folder / "method.json"))
    except (FileNotFoundError, ValueError):
        return None
    return facts.get("identity") if isinstance(facts, dict) else None


def _parts(value: object) -> Iterator[str]:
    """Yield the canonical JSON of every mapping inside ``value``."""
    if isinstance(value, Mapping):
        yield canonical_json(value)
        for item in value.values():
            yield from _parts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _parts(item)


def delete_unreferenced(found: Unreferenced) -> None:
    """Delete a fingerprint's folder.

    Raises:
        StoreError: somebody is writing to it, or the disk refuses.
    """
    for lock in sorted(found.folder.glob("lock-*.json")):
        if is_live(lock):
            raise StoreError(
                f"{found.folder} is in use: {lock.name} is held by {holder(lock)}.\nWait for it to finish."
            )
    with refusals("delete", found.folder):
        shutil.rmtree(found.folder)


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())
