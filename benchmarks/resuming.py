"""A stage killed hard at random moments, and resumed: ``python -m benchmarks.resuming ROOT LOG`` is the stage.

It imports little, so that a kill costs little more than the start of a process.
"""

import random
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.figures import Figure, Target, figure
from transplantqa.store import Ledger, Method, Unit, digest
from transplantqa.store.tables import EMBED

UNITS = 400
UNIT_SECONDS = 0.002
ROWS_A_FLUSH = 8


def ledger_in(root: Path) -> Ledger:
    return Ledger(root, EMBED, Method("embed", {}))


def plan() -> list[Unit]:
    return [Unit((f"text{number:04d}",), digest(number)) for number in range(UNITS)]


def work(root: Path, log: Path) -> None:
    """Make the units that aren't there, naming each in the log before it is appended."""
    ledger = ledger_in(root)
    with ledger.writer(flush_rows=ROWS_A_FLUSH) as writer, log.open("a", buffering=1) as made:
        for unit in ledger.pending(plan()):
            time.sleep(UNIT_SECONDS)
            made.write(f"{unit.key[0]}\n")
            row = {"text_sha256": unit.key[0], "vector": [0.5], "outcome": "ok", "inputs_sha256": unit.inputs_sha256}
            writer.append(row)


def resume(root: Path, kills: int) -> list[Figure]:
    """Kill a stage hard at random moments and count what was lost, doubled or redone although it was on disk."""
    root.mkdir()
    chance, redone, made = random.Random(1), 0, root / "made"
    for kill in range(kills + 1):
        durable = set(ledger_in(root).current(plan())["text_sha256"].to_pylist())
        before = len(made.read_text().split()) if made.exists() else 0
        process = subprocess.Popen([sys.executable, "-m", "benchmarks.resuming", str(root), str(made)])
        if kill < kills:
            wait_for_rows(made, before + chance.randint(1, max(2 * UNITS // kills, 2)), process)
            process.kill()
        process.wait()
        redone += sum(name in durable for name in made.read_text().split()[before:])
    report = ledger_in(root).merge(plan())
    return [
        figure("kills", kills, "kills"),
        figure("lost_after_kills", len(report.missing) + len(report.stale), "units", Target("==", 0)),
        figure("duplicated_after_kills", len(report.duplicate), "units", Target("==", 0)),
        figure("redone_although_flushed", redone, "units", Target("==", 0)),
    ]


def wait_for_rows(made: Path, rows: int, process: "subprocess.Popen[bytes]") -> None:
    while process.poll() is None and (not made.exists() or made.read_text().count("\n") < rows):
        time.sleep(0.002)


if __name__ == "__main__":
    work(Path(sys.argv[1]), Path(sys.argv[2]))
