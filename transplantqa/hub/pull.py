"""A release fetched from the Hub at one commit, checked against its record, and made into run folders."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from transplantqa.errors import InputError
from transplantqa.hub.dataset import HubDataset
from transplantqa.release.rebuild import Origin, Rebuilt, rebuild
from transplantqa.release.record import RECORD_FILE, read_record
from transplantqa.store.atomic import refusals


@dataclass(frozen=True)
class Pulled:
    """What was pulled: the commit, the release's folder, and a run folder for each system."""

    commit: str
    folder: Path
    runs: list[Rebuilt]


def pull(dataset: HubDataset, revision: str, artifacts: Path) -> Pulled:
    """Fetch a release at a revision and write its systems' run folders under ``artifacts``.

    The revision is resolved to its commit first, and every file is of that commit. Files that an earlier pull of it has
    fetched are not fetched again; each is checked by its SHA-256.

    Raises:
        InputError: there is no such revision, it holds no release, or a file isn't what the record says.
        HubUnavailableError: the Hub doesn't answer; the same command goes on.
        StoreError: the disk refuses.
    """
    commit = dataset.resolve(revision)
    files = dataset.files(commit)
    if RECORD_FILE not in files:
        raise InputError(
            f"{dataset.repo} at {commit[:12]}: has no {RECORD_FILE}, so it isn't a release of transplantqa.\n"
            "Its questions can be loaded all the same: questions=hub questions.repo=OWNER/NAME"
        )
    folder = artifacts / "pulled" / dataset.repo.replace("/", "--") / commit
    with refusals("write", folder):
        folder.mkdir(parents=True, exist_ok=True)
        dataset.download(RECORD_FILE, commit, folder)
        record = read_record(folder)
        absent = sorted(record.files.keys() - files.keys())
        if absent:
            raise InputError(f"{dataset.repo} at {commit[:12]}: lacks {', '.join(absent)}.\nPull another revision.")
        for path in record.files:
            dataset.download(path, commit, folder)
    shutil.rmtree(folder / ".cache", ignore_errors=True)  # the client's notes; the files stay
    return Pulled(commit, folder, rebuild(folder, artifacts, Origin(dataset.repo, commit)))
