"""An evaluation's folder: ``evaluation.json``, tables, and a folder for each retriever, to be tracked as a run."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from transplantqa.records import Outcome
from transplantqa.retrieval.comparison import RetrievalFigure
from transplantqa.retrieval.evaluation import PARTS, RetrievalCell
from transplantqa.store import Run, digest, run_id_of, write_atomically
from transplantqa.store.atomic import json_bytes, refusals
from transplantqa.store.run_folder import METRICS_FILE, RunFolder
from transplantqa.store.runs import RUN_FILE
from transplantqa.workshop import Stage, StageSummary

EVALUATION_FILE = "evaluation.json"
RECORDED_PACKAGES = ("transplantqa", "onnxruntime", "bm25s", "ir-measures", "numpy")
_SUFFIXES = {"value": "", "n": "_n", "low": "_lo", "high": "_hi"}
_CHANGES = {"difference": "", "difference_n": "_n", "difference_low": "_lo", "difference_high": "_hi"}


@dataclass(frozen=True)
class Retrieved:
    """What one retriever left: its stage, what the stage did, and its evidence beside gold."""

    stage: Stage
    summary: StageSummary
    cells: list[RetrievalCell]

    @cached_property
    def outcomes(self) -> dict[str, int]:
        """Outcome to number of units; failed ones are in no figure."""
        counts = self.stage.rows(["outcome"])["outcome"].value_counts().to_pylist()
        return dict(sorted((row["values"], row["counts"]) for row in counts))


@dataclass(frozen=True)
class Evaluation:
    """Retrievers measured on the same cells.

    Attributes:
        facts: JSON-safe facts about gold and intervals that can change a figure.
        found: entry to what the retriever left, in the order shown.
        retrievers: entry to the retriever's configuration.
        figures: of all retrievers.
        config: the resolved configuration as plain values.
    """

    facts: Mapping[str, Any]
    found: Mapping[str, Retrieved]
    retrievers: Mapping[str, Mapping[str, Any]]
    figures: Sequence[RetrievalFigure]
    config: Mapping[str, Any]

    @property
    def fingerprints(self) -> dict[str, str]:
        """Entry to the fingerprint of the retriever's method."""
        return {name: one.summary.fingerprint for name, one in self.found.items()}

    @property
    def plan_sha256(self) -> str:
        """Hash of the cells and of what they were retrieved from, over all retrievers."""
        stages = [one.stage for one in self.found.values()]
        return digest([[[*unit.key, unit.inputs_sha256] for unit in stage.units] for stage in stages])


def write_evaluation(root: Path, evaluation: Evaluation) -> tuple[dict[str, Any], list[RunFolder]]:
    """Write an evaluation under ``<root>/retrieval/``; return its record and a folder a retriever, fit for tracking.

    Raises:
        StoreError: the disk refuses.
    """
    identity = {
        "facts": evaluation.facts,
        "fingerprints": list(evaluation.fingerprints.items()),
        "plan": evaluation.plan_sha256,
    }
    evaluation_id = run_id_of(identity)
    folder = root / "retrieval" / evaluation_id
    record = {
        "evaluation_id": evaluation_id,
        "path": str(folder),
        **evaluation.facts,
        "compared_with": next(iter(evaluation.found)),
        "retrievers": [
            {
                "name": name,
                "fingerprint": one.summary.fingerprint,
                "outcomes": one.outcomes,
                "measures": _by_name(evaluation, name),
            }
            for name, one in evaluation.found.items()
        ],
    }
    with refusals("write", folder):
        folder.mkdir(parents=True, exist_ok=True)
        _write_table(folder / "figures.parquet", [asdict(figure) for figure in evaluation.figures])
        _write_table(
            folder / "cells.parquet", [row for name in evaluation.found for row in _cell_rows(evaluation, name)]
        )
    runs = [_write_run(folder, evaluation, evaluation_id, name, place) for place, name in enumerate(evaluation.found)]
    write_atomically(folder / EVALUATION_FILE, json_bytes(record))
    return record, runs


def _by_name(evaluation: Evaluation, name: str) -> dict[str, dict[str, Any]]:
    return {
        figure.measure: {key: value for key, value in asdict(figure).items() if key not in {"retriever", "measure"}}
        for figure in evaluation.figures
        if figure.retriever == name
    }


def _cell_rows(evaluation: Evaluation, name: str) -> list[dict[str, Any]]:
    """Return a row a cell: what the retriever did, and its part in every measure, null where it has none."""
    rows = []
    for cell in evaluation.found[name].cells:
        shares = {measure: part(cell) for measure, part in PARTS.items()}
        values = {measure: None if share is None else share[0] / share[1] for measure, share in shares.items()}
        found = cell.evidence
        facts = {"route": found.route, "outcome": str(found.outcome), "top_score": found.top_score}
        rows.append(
            {
                "retriever": name,
                "question_id": cell.key[0],
                "document_id": cell.key[1],
                "silent": cell.silent,
                **facts,
                **values,
            }
        )
    return rows


def _write_run(folder: Path, evaluation: Evaluation, evaluation_id: str, name: str, place: int) -> RunFolder:
    found = evaluation.found[name]
    metrics: dict[str, float] = {}
    for figure in evaluation.figures:
        if figure.retriever == name:
            metrics |= _flat(figure.measure, figure, _SUFFIXES)
            metrics |= _flat(f"change/{figure.measure}", figure, _CHANGES)
    failed = found.outcomes.get(Outcome.ENGINE_ERROR, 0)
    metrics |= {"failure_rate": failed / len(found.stage.planned), "failure_rate_n": len(found.stage.planned)}
    run = Run(
        run_id=run_id_of({"evaluation": evaluation_id, "retriever": name}),
        system=f"retrieval: {name}",
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        config={**evaluation.config, "retriever": evaluation.retrievers[name]},
        fingerprints={"retrieve": found.summary.fingerprint},
        plan_sha256=evaluation.plan_sha256,
        sweep_id=evaluation_id,
        versions={package: version(package) for package in RECORDED_PACKAGES},
        outcomes={"retrieve": found.outcomes},
        reused={"retrieve": found.summary.reused},
        seconds={"retrieve": round(found.summary.seconds, 3)},
    )
    path = folder / f"{place:02}"
    with refusals("write", path):
        path.mkdir(parents=True, exist_ok=True)
    measured = {
        "metrics": metrics,
        "gold": {},
        "not_an_instrument": [],
        "notes": [f"compared with {next(iter(evaluation.found))}"],
    }
    write_atomically(path / METRICS_FILE, json_bytes(measured))
    write_atomically(path / RUN_FILE, json_bytes(asdict(run)))
    return RunFolder(path)


def _flat(name: str, figure: RetrievalFigure, suffixes: Mapping[str, str]) -> dict[str, float]:
    values = {f"{name}{suffix}": getattr(figure, part) for part, suffix in suffixes.items()}
    return {key: float(value) for key, value in values.items() if value is not None}


def _write_table(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    partial = path.with_suffix(".partial")
    pq.write_table(pa.Table.from_pylist(list(rows)), partial, compression="zstd")
    partial.replace(path)
