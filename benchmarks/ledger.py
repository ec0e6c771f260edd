"""The ledger at the size of a reference run, beside plain JSONL and a SQLite cache: ``python -m benchmarks.ledger``."""

import hashlib
import json
import os
import resource
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.figures import Figure, Target, figure, main
from benchmarks.planning import planning, prefix_reuse
from benchmarks.resuming import resume
from transplantqa.finished import RECEIPT_FILE, find_finished
from transplantqa.store import Ledger, Method, Run, digest, file_sha256, json_bytes
from transplantqa.store.parts import write_part
from transplantqa.store.tables import ANSWERS, JUDGEMENTS

ANSWER_COUNT = 48_056
COMPARISON_COUNT = 1_770_000
ROWS_A_FLUSH = 64
STRETCH = 20
"""Batches that one way of appending gets in a row. Ours."""
ROWS_A_PART = 50_000
STORED_BYTES = 1_300_000_000
"""Ours: what 113,730 cells' evidence and answers and 1.77 million judgements take, compressed, and their copy."""

STORED_FILES = 40
_HEX = np.frombuffer(b"0123456789abcdef", np.uint8)


def measure(quick: bool) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        share = 0.1 if quick else 1.0
        planned = planning(share)
        again = finished_run_again(root / "finished", share)
        seconds = sum(
            found.value for found in [*planned, *again] if found.name in {"planning_wall", "finished_run_again"}
        )
        return [
            *planned,
            *prefix_reuse(share),
            *again,
            figure("finished_run_again_planning_included", seconds, "s", Target("<=", 5)),
            *finished_run_proved(root / "proved", int(STORED_BYTES * share)),
            *overhead(root / "overhead", flushes=60 if quick else 400),
            *resume(root / "resume", kills=2 if quick else 50),
        ]


def finished_run_again(root: Path, share: float) -> list[Figure]:
    """Ask a finished reference run, or a share of it, what is left to do."""
    answers, judgements = Ledger(root, ANSWERS, Method("answers", {})), Ledger(root, JUDGEMENTS, Method("compare", {}))
    plans = [
        (answers, fabricate(answers, int(ANSWER_COUNT * share))),
        (judgements, fabricate(judgements, int(COMPARISON_COUNT * share))),
    ]
    answers.pending([])  # imports and first use are no part of the figure
    start, cpu = time.perf_counter(), time.process_time()
    left = sum(len(ledger.pending_table(units)) for ledger, units in plans)
    wall, cpu = time.perf_counter() - start, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return [
        figure("finished_run_units", sum(len(units) for _, units in plans), "units"),
        figure("finished_run_left_to_do", left, "units", Target("==", 0)),
        figure("finished_run_again", wall, "s", Target("<=", 5)),
        figure("finished_run_again_cpu", cpu, "CPU-s"),
        figure("finished_run_peak", peak, "GiB"),
    ]


def finished_run_proved(root: Path, size: int) -> list[Figure]:
    """Prove by its receipt that a finished run of so many bytes, in the ledger and its folder, is unchanged."""
    files: dict[str, list[str]] = {"generate/a": [], "compare/b": []}
    for number in range(STORED_FILES):
        path = part_of_bytes(root / list(files)[number % 2], number, size // STORED_FILES)
        files[f"{path.parent.parent.name}/{path.parent.name}"].append(path.name)
    record = Run("run", "reference", "2026-01-01", {}, {}, "plan").save(root)
    copies = [record.with_name(f"{number}.parquet") for number in range(2)]
    for copy, (folder, names) in zip(copies, files.items(), strict=True):
        copy.write_bytes((root / folder / names[0]).read_bytes())
    receipt = {
        "asked_sha256": "asked",
        "planned": {},
        "ledger": files,
        "files": {copy.name: file_sha256(copy) for copy in copies},
    }
    record.with_name(RECEIPT_FILE).write_bytes(json_bytes(receipt))
    asked: Any = SimpleNamespace(sha256="asked", artifacts=root, config={})
    start, cpu = time.perf_counter(), time.process_time()
    found = find_finished(asked)
    wall, cpu = time.perf_counter() - start, time.process_time() - cpu
    return [
        figure("finished_run_bytes", size / 1e9, "GB"),
        figure("finished_run_found_unchanged", float(found is not None), "runs", Target("==", 1)),
        figure("finished_run_proved", wall, "s", Target("<=", 5)),
        figure("finished_run_proved_cpu", cpu, "CPU-s"),
    ]


def part_of_bytes(folder: Path, number: int, size: int) -> Path:
    """Write a file of random bytes named as a part of them is."""
    folder.mkdir(parents=True, exist_ok=True)
    content = np.random.default_rng(number).bytes(size - 8) + (1000).to_bytes(4, "little") + b"PAR1"
    footer = hashlib.sha256(content[-1008:]).hexdigest()[:8]
    path = folder / f"part-000-of-001-{number + 1:06d}-{footer}{hashlib.sha256(content).hexdigest()[:16]}.parquet"
    path.write_bytes(content)
    return path


def fabricate(ledger: Ledger, count: int) -> pa.Table:
    """Put ``count`` rows into a ledger's parts, as a run of many shards would, and return their units."""
    ledger.folder.mkdir(parents=True)
    numbers = np.arange(count)
    generator = np.random.default_rng(0)
    columns: dict[str, Any] = {}
    for field in ledger.table.schema:
        columns[field.name] = fill_column(field, numbers, generator)
    rows = pa.table(columns, schema=ledger.table.schema)
    for part, start in enumerate(range(0, count, ROWS_A_PART), start=1):
        write_part(ledger.folder, f"000-of-001-{part:06d}", rows.slice(start, ROWS_A_PART))
    return rows.select([*ledger.table.key, "inputs_sha256"])


def fill_column(field: pa.Field, numbers: np.ndarray, generator: np.random.Generator) -> pa.Array:
    """Return plausible values: ids that repeat as in a run, random hashes, a few sentences of text."""
    strides = {"question_id": (1600, 1200), "document_id": (1, 1600), "document_a": (40, 40), "document_b": (1, 40)}
    if field.name in strides:
        stride, modulus = strides[field.name]
        names = pa.array([f"{field.name}-{number:05d}" for number in range(modulus)])
        return names.take(pa.array(numbers // stride % modulus))
    if field.name == "inputs_sha256":
        return random_hashes(len(numbers), generator)
    if field.name in {"text", "raw", "reasoning"}:
        sentences = pa.array(
            [f"Call the centre at {hour} if the fever is above 38 degrees. " * 5 for hour in range(997)]
        )
        return sentences.take(pa.array(numbers % 997))
    if pa.types.is_string(field.type):
        return pa.array(["ok" if field.name == "outcome" else "default"]).take(pa.array(numbers * 0))
    if pa.types.is_list(field.type):
        return pa.array([[]], field.type).take(pa.array(numbers * 0))
    return pa.array(np.ones(len(numbers))).cast(field.type)


def random_hashes(count: int, generator: np.random.Generator) -> pa.Array:
    characters = _HEX[generator.integers(0, 16, (count, 64), dtype=np.uint8)]
    offsets = (np.arange(count + 1) * 64).astype(np.int32)
    return pa.StringArray.from_buffers(count, pa.py_buffer(offsets), pa.py_buffer(characters))


def overhead(root: Path, flushes: int) -> list[Figure]:
    """Append the same rows through the ledger, to JSONL with an fsync a batch, and to a SQLite response cache.

    Each in turn, so that the machine's moods hit all alike: a stretch of batches, as a stage appends them, and once
    more a single batch at a time, each after the others have had the processor's caches and the disk.
    """
    root.mkdir()
    batches = [[answer(number * ROWS_A_FLUSH + row) for row in range(ROWS_A_FLUSH)] for number in range(flushes)]
    return [
        *appended(root / "stretches", batches, STRETCH, Target("<=", 1)),
        *appended(root / "singly", batches, 1, None),
    ]


def appended(root: Path, batches: list[list[dict[str, Any]]], stretch: int, target: Target | None) -> list[Figure]:
    """Compare the three, each with ``stretch`` batches in a row when its turn comes."""
    root.mkdir()
    peers: dict[str, Callable[[Path], Any]] = {
        "jsonl": jsonl_appender,
        "sqlite": sqlite_appender,
        "ledger": ledger_appender,
    }
    wall: dict[str, list[float]] = {name: [] for name in peers}
    cpu: dict[str, list[float]] = {name: [] for name in peers}
    openers = {name: contextmanager(opener)(root / name) for name, opener in peers.items()}
    appenders = {name: opener.__enter__() for name, opener in openers.items()}
    names = list(appenders)
    for turn, start in enumerate(range(0, len(batches), stretch)):
        for name in (*names[turn % 3 :], *names[: turn % 3]):
            append = appenders[name]
            for batch in batches[start : start + stretch]:
                began, cpu_began = time.perf_counter(), time.process_time()
                append(batch)
                wall[name].append(time.perf_counter() - began)
                cpu[name].append(time.process_time() - cpu_began)
    for opener in openers.values():
        opener.__exit__(None, None, None)
    medians = {name: float(np.median(values)) for name, values in wall.items()}
    means = {name: float(np.mean(values[1:])) for name, values in cpu.items()}  # its clock is coarse; imports apart
    prefix = "append_64" if stretch > 1 else "append_64_singly"
    return [*compared(prefix, medians, target), *compared(f"{prefix}_cpu", means, target)]


def compared(prefix: str, seconds: dict[str, float], target: Target | None) -> list[Figure]:
    """Return each peer's time and the ledger's ratio to the others'."""
    ratios = {peer: seconds["ledger"] / seconds[peer] for peer in seconds if peer != "ledger"}
    return [
        *(figure(f"{prefix}_{name}", value * 1000, "ms") for name, value in seconds.items()),
        *(figure(f"{prefix}_ledger_to_{peer}", ratio, "ratio", target) for peer, ratio in ratios.items()),
    ]


def answer(number: int) -> dict[str, Any]:
    text = f"Call the centre if the fever is above {number} degrees. " * 12
    return {
        "question_id": f"q{number:05d}",
        "document_id": f"d{number % 102:03d}",
        "variant": "default",
        "outcome": "ok",
        "text": text,
        "citations": [{"heading": "Fever", "page": 3, "valid": True}] * 2,
        "raw": text,
        "prompt_tokens": 3000,
        "cached_tokens": 2000,
        "completion_tokens": 200,
        "seconds": 1.5,
        "inputs_sha256": digest(number),
    }


def jsonl_appender(path: Path) -> Iterator[Callable[[list[dict[str, Any]]], None]]:
    with path.open("a", encoding="utf-8") as stream:

        def append(rows: list[dict[str, Any]]) -> None:
            for row in rows:
                stream.write(json.dumps(row, ensure_ascii=False) + "\n")
            stream.flush()
            os.fsync(stream.fileno())

        yield append


def sqlite_appender(path: Path) -> Iterator[Callable[[list[dict[str, Any]]], None]]:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE responses (key TEXT PRIMARY KEY, response TEXT)")

    def append(rows: list[dict[str, Any]]) -> None:
        values = [(row["inputs_sha256"], json.dumps(row, ensure_ascii=False)) for row in rows]
        with connection:
            connection.executemany("INSERT INTO responses VALUES (?, ?)", values)

    yield append
    connection.close()


def ledger_appender(path: Path) -> Iterator[Callable[[list[dict[str, Any]]], None]]:
    with Ledger(path, ANSWERS, Method("answers", {})).writer(flush_rows=ROWS_A_FLUSH) as writer:

        def append(rows: list[dict[str, Any]]) -> None:
            for row in rows:
                writer.append(row)
            writer.flush()

        yield append


if __name__ == "__main__":
    sys.exit(main("ledger", measure))
