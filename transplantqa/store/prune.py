"""What no run refers to any more."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from transplantqa.errors import StoreError
from transplantqa.store.atomic import refusals
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

    A record that can't be read keeps nothing, so look at the list before deleting.
    """
    referred = {fingerprint for run in list_runs(root) for fingerprint in run.fingerprints.values()}
    return [
        Unreferenced(method.parent.parent.name, method.parent.name, method.parent, _size(method.parent))
        for method in sorted(root.glob("*/*/method.json"))
        if method.parent.name not in referred
    ]


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
