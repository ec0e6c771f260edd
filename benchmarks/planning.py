"""Planning at the size of a reference run: pairs pre-screened, units to judge, prompt prefixes kept by shards.

``python -m benchmarks.planning QUESTIONS...`` measures sizes in a process of its own, small ones first, so that each
peak of memory is that size's own, and prints them as JSON.
"""

import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.figures import Figure, Target, figure
from transplantqa.judging import RulesJudge
from transplantqa.judging.pairs import enumerate_pairs
from transplantqa.records import Outcome, Question
from transplantqa.signals import StopRequest
from transplantqa.stages import cell_groups, plan_judgements
from transplantqa.store import WHOLE, shard_column
from transplantqa.workshop import Stage, Workshop

DOCUMENTS = 102
QUESTIONS = 1_115
"""Of every document every question: 113,730 cells, 5,743,365 pairs."""

ANSWERED = (0.37, 0.507)
"""Beta distribution of the share of documents that answer a question: about 48,000 answers and 1.77 million pairs."""

SHARDS = 20
SYSTEM_TOKENS, QUESTION_TOKENS, ANSWER_TOKENS, DOCUMENT_TOKENS = 400, 25, 200, 20_000
"""Lengths of a prompt's parts, for the reuse of prefixes; ours, of the reference run's order."""


def answers(questions: int) -> pa.Table:
    """Return one row a cell, as generation leaves them, with texts of a few sentences."""
    generator = np.random.default_rng(0)
    shares = np.repeat(generator.beta(*ANSWERED, questions), DOCUMENTS)
    answered = generator.random(questions * DOCUMENTS) < shares
    outcomes = pa.array([str(Outcome.ABSTAINED), str(Outcome.OK)]).take(pa.array(answered.astype(np.int8)))
    return pa.table(
        {
            "question_id": [f"q{number:05d}" for number in range(questions) for _ in range(DOCUMENTS)],
            "document_id": [f"d{number:03d}" for _ in range(questions) for number in range(DOCUMENTS)],
            "variant": ["default"] * (questions * DOCUMENTS),
            "outcome": outcomes,
            "text": [f"Call the centre if it lasts {number} hours. " * 20 for number in range(questions * DOCUMENTS)],
        }
    )


def plan_stage(root: Path, table: pa.Table) -> Stage:
    """Return the judging stage planned for these answers."""
    names = sorted(set(table["question_id"].to_pylist()))
    asked = {name: Question(name, f"What about {name}?") for name in names}
    shop = Workshop(root, frozenset(), WHOLE, (), StopRequest())
    return plan_judgements(shop, RulesJudge(consistent_from=0.5, consistent_with_numbers_from=0.5), table, asked)[1]


def measure_size(questions: int) -> dict[str, float]:
    """Pre-screen all pairs of so many questions, and that with the units of those left; CPU seconds and peak memory."""
    table = answers(questions)
    enumerate_pairs(table.slice(0, 2 * DOCUMENTS))  # imports and first use are no part of the figure
    start = time.process_time()
    pairs = enumerate_pairs(table)
    screened = time.process_time() - start
    count = len(pairs)
    del pairs
    start, wall = time.process_time(), time.perf_counter()
    stage = plan_stage(Path("nowhere"), table)
    planned, wall = time.process_time() - start, time.perf_counter() - wall
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    found = {"pairs": count, "screened": screened, "judged": len(stage.planned), "planned": planned}
    return {**found, "wall": wall, "peak": peak}


def planning(share: float) -> list[Figure]:
    """Plan three sizes up to a share of the reference run, in a fresh process."""
    found = _in_fresh_process([int(QUESTIONS * share * part) for part in (0.25, 0.5, 1.0)])
    figures = []
    for size in found:
        figures += [
            figure(f"pairs_{size['pairs'] / 1e6:.2f}M_screened_cpu", size["screened"], "CPU-s"),
            figure(f"pairs_{size['pairs'] / 1e6:.2f}M_planned_cpu", size["planned"], "CPU-s", Target("<=", 10)),
        ]
    whole, small = found[-1], found[0]
    growth = (whole["planned"] / whole["pairs"]) / (small["planned"] / small["pairs"])
    return [
        *figures,
        figure("pairs_to_judge", whole["judged"], "pairs"),
        figure("planning_wall", whole["wall"], "s"),
        figure("planning_peak", whole["peak"], "GiB", Target("<=", 1.5)),
        figure("cost_per_pair_large_to_small", growth, "ratio", Target("<=", 1.5)),
    ]


def _in_fresh_process(sizes: list[int]) -> list[dict[str, float]]:
    command = [sys.executable, "-m", "benchmarks.planning", *map(str, sizes)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: list[dict[str, float]] = json.loads(done.stdout)
    return found


def prefix_reuse(share: float) -> list[Figure]:
    """Compare the prompt tokens that shards can reuse with those that one process can, in the order units are made.

    A prompt reuses what it has in common with the one before it in its shard: instructions, then a whole document or a
    question, then the answer shown first.
    """
    table = answers(int(QUESTIONS * share))
    stage = plan_stage(Path("nowhere"), table)
    parts = {"question_id": QUESTION_TOKENS, "document_a": ANSWER_TOKENS}  # these rules show a first
    judged = _reused(stage.planned, stage.shards(SHARDS), parts) / _reused(stage.planned, 0, parts)
    cells = table.select(["question_id", "document_id"])
    shards = shard_column(pa.array(cell_groups(cells)), SHARDS).to_numpy()
    generated = _reused(cells, shards, {"document_id": DOCUMENT_TOKENS}) / _reused(
        cells, 0, {"document_id": DOCUMENT_TOKENS}
    )
    return [
        figure(f"prefix_tokens_compare_{SHARDS}_shards_to_1", judged, "ratio", Target(">=", 0.8)),
        figure(f"prefix_tokens_generate_{SHARDS}_shards_to_1", generated, "ratio", Target(">=", 0.8)),
    ]


def _reused(units: pa.Table, shards: Any, parts: dict[str, int]) -> int:
    """Return the tokens reused when each shard makes its units in order of the prompt's ``parts``, column to tokens."""
    columns = [np.broadcast_to(np.asarray(shards), len(units))]
    columns += [units[name].combine_chunks().dictionary_encode().indices.to_numpy() for name in parts]
    order = np.lexsort(columns[::-1])
    same = np.ones(len(units) - 1, dtype=bool)
    total = 0
    for column, tokens in zip(columns, (SYSTEM_TOKENS, *parts.values()), strict=True):
        ordered = column[order]
        same &= ordered[1:] == ordered[:-1]
        total += int(same.sum()) * tokens
    return total


if __name__ == "__main__":
    print(json.dumps([measure_size(int(size)) for size in sys.argv[1:]]))
