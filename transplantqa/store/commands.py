"""The commands that look after the ledger: ``explain``, ``prune`` and ``repair``."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transplantqa.cli import plain_arguments
from transplantqa.errors import EXIT_OK, ConfigError, InputError
from transplantqa.store.ledger import Ledger
from transplantqa.store.method import Method
from transplantqa.store.method import explain as differences
from transplantqa.store.prune import delete_unreferenced, unreferenced
from transplantqa.store.runs import Run, find_run
from transplantqa.store.tables import ANSWERS, EMBED, EVIDENCE, INGEST, JUDGEMENTS, TableSpec

EXPLAIN = "transplantqa explain A B [artifacts=DIR], each a run (id, path, system), a fingerprint or a method.json"
PRUNE = "transplantqa prune [delete=yes] [artifacts=DIR]"
REPAIR = "transplantqa repair FOLDER, such as artifacts/generate/<fingerprint>"
TABLES: Mapping[str, TableSpec] = {
    "ingest": INGEST,
    "embed": EMBED,
    "retrieve": EVIDENCE,
    "generate": ANSWERS,
    "compare": JUDGEMENTS,
}
"""Stage to the table its ledgers hold."""

SHORTEST_PREFIX = 6
"""Characters of a fingerprint that are enough to name it, where no other begins with them."""


@dataclass(frozen=True)
class Side:
    """One side of a comparison: what it is called, its methods by stage, and the run, if it is one."""

    name: str
    methods: Mapping[str, Method]
    run: Run | None = None


def explain(arguments: Sequence[str]) -> int:
    """Print which ingredients of two runs or methods differ, stage by stage; return the exit code.

    Raises:
        ConfigError: unless two are named.
        InputError: if one isn't found.
    """
    named = [argument for argument in arguments if "=" not in argument or Path(argument).exists()]
    options = plain_arguments([argument for argument in arguments if argument not in named], ("artifacts",), EXPLAIN)
    if len(named) != 2:
        raise ConfigError(f"Name two to compare; {len(named)} given.\nUsage: {EXPLAIN}")
    root = Path(options.get("artifacts", "artifacts"))
    a, b = (find_side(root, reference) for reference in named)
    sys.stdout.write("\n".join(explained(a, b)) + "\n")
    return EXIT_OK


def explained(a: Side, b: Side) -> list[str]:
    """Return in lines what tells two sides apart."""
    if a.run is None and b.run is None and a.methods.keys() != b.methods.keys():
        return [f"{a.name} and {b.name} are methods of different stages: {', '.join([*a.methods, *b.methods])}."]
    lines = [f"{a.name} / {b.name}"]
    for stage in (stage for stage in TABLES if stage in a.methods and stage in b.methods):
        found = differences(a.methods[stage].identity, b.methods[stage].identity)
        lines.append(f"{stage}: {'the same method' if not found else f'{len(found)} differ'}")
        lines += [f"  {difference}" for difference in found]
    if a.run is not None and b.run is not None:
        same = a.run.plan_sha256 == b.run.plan_sha256
        lines.append(f"plan: {'the same' if same else 'other questions, documents or texts of them'}")
    return lines if len(lines) > 1 else [f"{a.name} and {b.name} have no stage in common."]


def find_side(root: Path, reference: str) -> Side:
    """Find what a user means: a method by path or fingerprint, or else a run.

    Raises:
        InputError: if there is no such method or run, or more than one.
    """
    path = Path(reference)
    path = path / "method.json" if (path / "method.json").is_file() else path
    if path.name == "method.json" and path.is_file():
        return _method_side(path)
    begun = sorted(root.glob(f"*/{reference}*/method.json")) if _is_hex(reference) else []
    if len(begun) > 1:
        listed = "\n".join(f"  {found.parent}" for found in begun)
        raise InputError(f"{reference!r} is the beginning of {len(begun)} fingerprints:\n{listed}\nGive more of it.")
    if begun:
        return _method_side(begun[0])
    run = find_run(root, reference)
    methods = {}
    for stage, fingerprint in run.fingerprints.items():
        methods[stage] = _read_method(root / stage / fingerprint / "method.json")
    return Side(f"{run.system} ({run.run_id})", methods, run)


def prune(arguments: Sequence[str]) -> int:
    """List the methods that no run refers to, or delete them when asked to; return the exit code.

    Raises:
        ConfigError: for arguments that aren't these.
        StoreError: if one is being written, or the disk refuses.
    """
    given = plain_arguments(arguments, ("delete", "artifacts"), PRUNE)
    if given.get("delete", "no") not in {"yes", "no"}:
        raise ConfigError(f"delete: {given['delete']!r} is not yes or no.\nUsage: {PRUNE}")
    root = Path(given.get("artifacts", "artifacts"))
    if not root.is_dir():
        raise InputError(f"{root}: no such folder.\nName the artifacts folder: artifacts=DIR")
    found = unreferenced(root)
    for item in found:
        sys.stdout.write(f"{item.bytes / 1e6:>10.1f} MB  {item.folder}\n")
        if given.get("delete") == "yes":
            delete_unreferenced(item)
    total = f"{len(found)} methods without a run, {sum(item.bytes for item in found) / 1e6:.1f} MB"
    if given.get("delete") == "yes":
        sys.stdout.write(f"Deleted {total}.\n")
    else:
        hint = " Work of runs not yet analysed is among them. To delete them: transplantqa prune delete=yes"
        sys.stdout.write(f"{total}.{hint if found else ''}\n")
    return EXIT_OK


def repair(arguments: Sequence[str]) -> int:
    """Mend a ledger's folder and say what was done; return the exit code.

    Raises:
        ConfigError: if no folder of a ledger is named.
        StoreError: if somebody is writing there, or the disk refuses.
    """
    if len(arguments) != 1 or not (Path(arguments[0]) / "method.json").is_file():
        raise ConfigError(f"Name one folder with a method.json.\nUsage: {REPAIR}")
    folder = Path(arguments[0]).resolve()
    method = _read_method(folder / "method.json")
    if method.stage not in TABLES or folder.name != method.fingerprint:
        raise ConfigError(f"{folder}: its method.json is of {method.stage}/{method.fingerprint}.\nUsage: {REPAIR}")
    done = Ledger(folder.parent.parent, TABLES[method.stage], method).repair()
    sys.stdout.write(
        f"{folder}: {done.dropped} repeated rows dropped, {done.journals} journals of killed writers sealed, "
        f"{len(done.damaged)} damaged parts set aside.\n"
    )
    if done.damaged:
        sys.stdout.write("The rows of damaged parts are made again by the next run of their stage.\n")
    return EXIT_OK


def _method_side(path: Path) -> Side:
    method = _read_method(path)
    return Side(f"{method.stage}/{method.fingerprint[:8]}", {method.stage: method})


def _read_method(path: Path) -> Method:
    try:
        facts: Any = json.loads(path.read_text(encoding="utf-8"))
        return Method(str(facts["stage"]), dict(facts["identity"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: can't be read as a method ({error}).\nRun that stage again to write it.") from error


def _is_hex(text: str) -> bool:
    return len(text) >= SHORTEST_PREFIX and set(text) <= set("0123456789abcdef")
