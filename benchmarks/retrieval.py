"""Retrieval at the size of a reference run, beside its peers: ``python -m benchmarks.retrieval``.

``python -m benchmarks.retrieval first_stage DOCUMENTSxQUESTIONS...`` measures sizes, smallest first, in one process.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from typing import Any

import yaml

from benchmarks.figures import Figure, Target, figure, main
from benchmarks.generated_corpus import LookupEmbedder, questions, sources
from benchmarks.retrieval_peers import bm25_peers, embedding_throughput
from transplantqa.config import conf_dir
from transplantqa.records import Question
from transplantqa.retrieval import HeroQA, SourceDocument
from transplantqa.signals import StopRequest
from transplantqa.stages import Readings, retrieve
from transplantqa.store import WHOLE
from transplantqa.store.embedding_cache import CachedEmbedder
from transplantqa.workshop import Stage, Workshop

DOCUMENTS, QUESTIONS = 102, 1_115
CPU_SECONDS, GIBIBYTES = 30, 3


def measure(quick: bool) -> list[Figure]:
    parts = 17 if quick else 1
    return [
        *first_stage(DOCUMENTS // parts, QUESTIONS, parts),
        *bm25_peers(2 if quick else 12, QUESTIONS, ["rank_bm25"] if quick else ["rank_bm25", "bm25s_numba"]),
        *embedding_throughput(texts=4 if quick else 96, turns=2 if quick else 5),
        *growth(8 if quick else 4 * DOCUMENTS // 8, 64 if quick else 256),
        *share_of_retrieval(["limit.documents=1", "limit.questions=4"] if quick else []),
    ]


def first_stage(documents: int, asked: int, parts: int) -> list[Figure]:
    """Retrieve with all four rankers, fuse, choose passages, write the table with its audit trail; a part of it all."""
    (found,) = _in_fresh_process([(documents, asked)])
    return [
        figure("first_stage_retrievals", found["cells"], "cells"),
        figure("first_stage_cpu", found["cpu"], "CPU-s", Target("<=", CPU_SECONDS / parts)),
        figure("first_stage_peak", found["peak"], "GiB", Target("<=", GIBIBYTES)),
        figure("first_stage_table", found["bytes"] / 2**20, "MiB"),
        figure("first_stage_fallbacks", found["fallbacks"], "share"),
    ]


def growth(documents: int, asked: int) -> list[Figure]:
    """Measure three sizes of each; a quadratic term would show as a ratio above that of the sizes."""
    small = documents // 4
    series = {
        "documents": [(small, asked), (2 * small, asked), (4 * small, asked)],
        "questions": [(small, asked), (small, 2 * asked), (small, 4 * asked)],
    }
    figures = []
    for name, sizes in series.items():
        found = _in_fresh_process(sizes)
        figures += [
            figure(f"growth_{size[0]}_documents_{size[1]}_questions", one["cpu"], "CPU-s")
            for size, one in zip(sizes, found, strict=True)
        ]
        figures += [
            figure(f"growth_4x_{name}", found[2]["cpu"] / found[0]["cpu"], "ratio", Target("<=", 4.4)),
            figure(f"growth_4x_{name}_peak", found[2]["peak"] / found[0]["peak"], "ratio"),
        ]
    return figures


def measure_first_stage(documents: int, asked: int) -> dict[str, float]:
    """Retrieve every question of every document as a run does, passages embedded before; CPU seconds, peak memory."""
    with tempfile.TemporaryDirectory() as folder, redirect_stderr(StringIO()):
        root = Path(folder)
        _retrieve(root / "first", Readings(sources(1), _by_id(2)))  # imports and first use are no part of the figure
        readings = Readings(sources(documents), _by_id(asked))
        _embed(root, readings.sources.values())
        start = time.process_time()
        stage = _retrieve(root, readings)
        cpu = time.process_time() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        size = sum(path.stat().st_size for path in stage.ledger.folder.glob("part-*"))
        routes = stage.rows(["route"])["route"].to_pylist()
    fallbacks = routes.count("fallback") / len(routes)
    return {"cells": len(routes), "cpu": cpu, "peak": peak, "bytes": size, "fallbacks": fallbacks}


def _retrieve(root: Path, readings: Readings) -> Stage:
    settings = yaml.safe_load((conf_dir() / "retriever" / "hero_qa.yaml").read_text(encoding="utf-8"))
    parameters: dict[str, Any] = {key: value for key, value in settings.items() if key != "_target_"}
    embedder = CachedEmbedder(LookupEmbedder(), root)
    retriever = HeroQA(**{**parameters, "embedder": embedder, "reranker": None})
    cells = [(question, document) for document in readings.sources for question in readings.questions]
    return retrieve(Workshop(root, frozenset({"retrieve"}), WHOLE, (), StopRequest()), retriever, cells, readings)


def _by_id(asked: int) -> dict[str, Question]:
    return {question.question_id: question for question in questions(asked)}


def share_of_retrieval(limits: Sequence[str]) -> list[Figure]:
    """Run the sample from nothing with the model-free generator; wall seconds of both stages."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "transplantqa", "run", "experiment=baseline", "tracking=none"]
        subprocess.run([*command, *limits, f"artifacts={folder}"], capture_output=True, text=True, check=True)
        (record,) = Path(folder).glob("runs/*/run.json")
        seconds = json.loads(record.read_text(encoding="utf-8"))["seconds"]
    retrieved, generated = seconds["retrieve"], seconds["generate"]
    return [
        figure("sample_retrieve_wall", retrieved, "s"),
        figure("sample_generate_wall", generated, "s"),
        figure("sample_retrieve_to_both", retrieved / (retrieved + generated), "share"),
    ]


def _embed(root: Path, read: Iterable[SourceDocument]) -> None:
    embedder = CachedEmbedder(LookupEmbedder(), root)
    for source in read:
        embedder.embed_passages([chunk.text for chunk in source.chunks])
        embedder.embed_passages([section.heading for section in source.sections])


def _in_fresh_process(sizes: Sequence[tuple[int, int]]) -> list[dict[str, float]]:
    words = [f"{documents}x{asked}" for documents, asked in sizes]
    command = [sys.executable, "-m", "benchmarks.retrieval", "first_stage", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: list[dict[str, float]] = json.loads(done.stdout)
    return found


if __name__ == "__main__":
    if sys.argv[1:2] == ["first_stage"]:
        wanted = [map(int, word.split("x")) for word in sys.argv[2:]]
        print(json.dumps([measure_first_stage(*size) for size in wanted]))
    else:
        raise SystemExit(main("retrieval", measure))
