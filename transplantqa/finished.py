"""A finished run asked for again: proved whole and unchanged by its receipt, or else gone through stage by stage.

Planning millions of units only to find each of them done takes longer than to prove that nothing has changed: not what
is asked, not the code, not a file that it names, not a byte of the ledger's parts or of the run's folder. Whatever is
in doubt counts as changed, and ``stages=[analyse]`` always measures anew.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import transplantqa
from transplantqa.corpus.paths import located
from transplantqa.corpus.protocols import Corpus, QuestionSource
from transplantqa.errors import InputError
from transplantqa.models.protocols import Identity
from transplantqa.records import Outcome
from transplantqa.store import Run, digest, file_sha256, json_bytes, text_sha256, write_atomically
from transplantqa.store.parts import LedgerFile, is_intact, ledger_files
from transplantqa.store.run_folder import RunFolder
from transplantqa.store.runs import RUN_FILE
from transplantqa.workshop import Stage

RECEIPT_FILE = "receipt.json"
_CODE = frozenset({".py", ".j2", ".html", ".css", ".js", ".yaml"})
_OWN = f"{transplantqa.__name__}."


class Identified(Protocol):
    """A component that names what can change its rows."""

    def identity(self) -> Identity:
        """Return these ingredients."""
        ...


@dataclass(frozen=True)
class Asked:
    """Everything a whole run depends on.

    Attributes:
        name: the system's name.
        config: the resolved configuration as plain values.
        corpus: gives the documents.
        questions: gives the questions.
        methods: the components that make rows, by name.
        artifacts: the ledger's folder; records of validation lie there too.
    """

    name: str
    config: Mapping[str, Any]
    corpus: Corpus
    questions: QuestionSource
    methods: Mapping[str, Identified]
    artifacts: Path

    @property
    def is_ours(self) -> bool:
        """Whether this package's code alone makes the run; what another package would do can't be known."""
        return all(target.startswith(_OWN) for key, target in _leaves(self.config) if key == "_target_")

    @cached_property
    def sha256(self) -> str:
        """Hash of all of it; paths that the configuration names count with what is there now."""
        config = {key: value for key, value in self.config.items() if key != "sweep_id"}
        sources = [[source.document_id, source.inputs_sha256] for source in self.corpus.sources()]
        gold = self.questions.gold
        return digest(
            {
                "name": self.name,
                "config": config,
                "code": _code_sha256(),
                "files": sorted(_state_of_files(config)),
                "sources": sorted(sources),
                "corpus": dict(self.corpus.identity()),
                "questions": [question.row() for question in self.questions.load()],
                "gold": None if gold is None else file_sha256(gold),
                "methods": {name: dict(method.identity()) for name, method in self.methods.items()},
                "validation": sorted(_state(path) for path in self.artifacts.glob("validation/**/*.*")),
            }
        )


LedgerState = Mapping[str, list[str]]
"""Folder of a method's rows, within the artifacts, to the names of its files; a part's name has its bytes' digest."""


def ledger_state(stages: Mapping[str, Stage]) -> LedgerState:
    """Return what the ledger holds for these stages, after sealing what killed writers left.

    Raises:
        StoreError: the disk refuses.
    """
    for stage in stages.values():
        stage.ledger.seal()
    folders = [stage.ledger.folder for stage in stages.values()]
    return {
        f"{folder.parent.name}/{folder.name}": [file.path.name for file in ledger_files(folder)] for folder in folders
    }


def keep_receipt(asked: Asked, folder: RunFolder, state: LedgerState, stages: Mapping[str, Stage]) -> None:
    """Write down what a finished run was made of, unless some of it is tried again when asked again.

    Args:
        asked: what was asked.
        folder: the run's, complete.
        state: of the ledger before the run was measured; where it has changed since, nothing is written.
        stages: of the run.

    Raises:
        StoreError: the disk refuses.
    """
    unfinished = any(Outcome.ENGINE_ERROR in counts for counts in folder.section("outcomes").values())
    if unfinished or not asked.is_ours or ledger_state(stages) != state:
        return
    receipt = {
        "asked_sha256": asked.sha256,
        "planned": {name: len(stage.planned) for name, stage in stages.items()},
        "ledger": state,
        "files": {path.name: _sha256(path) for path in _files(folder)},
    }
    write_atomically(folder.path / RECEIPT_FILE, json_bytes(receipt))


def find_finished(asked: Asked) -> RunFolder | None:
    """Return the finished run of exactly this, every byte of it proved, or null.

    Its record then tells that all units were reused. To be called before anything is read: a file that changes while
    a run is made must not count, in its receipt, as what the run was made from.
    """
    asked_sha256 = asked.sha256
    for path in sorted(asked.artifacts.glob(f"runs/*/{RECEIPT_FILE}")):
        receipt = _read(path)
        if receipt.get("asked_sha256") == asked_sha256 and (path.parent / RUN_FILE).is_file():
            folder = RunFolder(path.parent)
            if _is_unchanged(folder, receipt, asked.artifacts):
                return _asked_again(folder, receipt, asked)
    return None


def _is_unchanged(folder: RunFolder, receipt: Mapping[str, Any], artifacts: Path) -> bool:
    held = {name: ledger_files(artifacts / name) for name in receipt["ledger"]}
    if any([file.path.name for file in files] != receipt["ledger"][name] for name, files in held.items()):
        return False
    files = _files(folder)
    if [path.name for path in files] != sorted(receipt["files"]):
        return False
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as threads:
        parts: Iterator[LedgerFile] = (file for listed in held.values() for file in listed)
        sound = threads.map(is_intact, parts)
        same = threads.map(lambda path: _sha256(path) == receipt["files"][path.name], files)
        return all(sound) and all(same)


def _asked_again(folder: RunFolder, receipt: Mapping[str, Any], asked: Asked) -> RunFolder:
    run = Run.load(folder.path / RUN_FILE)
    again = replace(
        run,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        config=asked.config,
        sweep_id=asked.config.get("sweep_id"),
        reused=receipt["planned"],
        seconds=dict.fromkeys(run.seconds, 0.0),
    )
    again.save(asked.artifacts)
    return RunFolder(folder.path)


def _files(folder: RunFolder) -> list[Path]:
    """Return the run's files that its receipt vouches for, by name."""
    others = {RUN_FILE, RECEIPT_FILE}
    return [path for path in sorted(folder.path.iterdir()) if path.is_file() and path.name not in others]


def _read(path: Path) -> Mapping[str, Any]:
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _code_sha256() -> str:
    """Hash this package's code, so that a change of it shows in the next findings."""
    root = Path(transplantqa.__file__).parent
    files = sorted(path for path in root.rglob("*") if path.suffix in _CODE)
    return digest([[str(path.relative_to(root)), text_sha256(path.read_text(encoding="utf-8"))] for path in files])


def _state_of_files(config: Mapping[str, Any]) -> Iterator[list[Any]]:
    """Yield the state of each file, and of the files of each folder, that some value of the configuration names."""
    for key, value in _leaves(config):
        with contextlib.suppress(OSError, InputError, ValueError):  # most values name none
            path = located(value)
            files = [path] if path.is_file() else path.iterdir() if path.is_dir() and key != "artifacts" else ()
            yield from (_state(file) for file in files if file.is_file())


def _state(path: Path) -> list[Any]:
    status = path.stat()
    return [str(path), status.st_size, status.st_mtime_ns]


def _leaves(value: object, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield every text inside plain values with the key it stands under."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from _leaves(item, str(name))
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item, key)
