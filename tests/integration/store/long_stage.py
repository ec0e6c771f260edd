"""A stage that answers a plan one unit at a time, to be killed: ``long_stage.py ROOT UNITS PAUSE_SECONDS LOG``.

Each unit made is named on a line of LOG, so that work done twice can be counted.
"""

import sys
import time
from pathlib import Path

from transplantqa.store import Ledger, Method, Unit, digest
from transplantqa.store.tables import EMBED

FLUSH_ROWS = 8


def ledger_in(root: Path) -> Ledger:
    return Ledger(root, EMBED, Method("embed", {"version": 1}))


def plan(units: int) -> list[Unit]:
    return [Unit((f"text{number:04d}",), digest(number)) for number in range(units)]


def main(root: Path, units: int, pause_seconds: float, log: Path) -> None:
    ledger = ledger_in(root)
    with ledger.writer(flush_rows=FLUSH_ROWS) as writer, log.open("a", buffering=1) as made:
        for unit in ledger.pending(plan(units)):
            time.sleep(pause_seconds)
            made.write(f"{unit.key[0]}\n")
            writer.append(
                {"text_sha256": unit.key[0], "vector": [0.5], "outcome": "ok", "inputs_sha256": unit.inputs_sha256}
            )


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), Path(sys.argv[4]))
