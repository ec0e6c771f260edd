"""Runs with known figures, a Hub on loopback, and the program as a user starts it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks.loopback_hub import serving
from benchmarks.loopback_hub_state import Hub
from transplantqa.analysis import Analysis, AuditTables, audit, with_further_findings
from transplantqa.analysis.simulate import Plan, plant
from transplantqa.release import ReleaseSettings, build_release
from transplantqa.store import tables as t
from transplantqa.store.run_folder import RunFolder

SIGNED_IN = "any"
WAIVER = "Planted labels: there is no judge, and none is claimed."
SETTINGS: dict[str, Any] = {"bootstrap_replicates": 50, "permutations": 50, "seed": 3, "severity_weights": {"low": 0.1}}


DESIGN = Plan(questions=24, institutions=4, documents_per_institution=2, dissent=0.3)


def write_planted_run(root: Path, system: str, plan: Plan) -> RunFolder:
    """Write the finished run of a planted audit, with every figure that an analysis gives."""
    planted = replace(plant(plan).tables, questions=plant(DESIGN).tables.questions)
    documents = planted.documents
    cc_by = pa.array(["CC-BY-4.0"] * documents.num_rows, pa.string())
    documents = documents.set_column(
        documents.schema.get_field_index("licence"), t.DOCUMENTS.schema.field("licence"), cc_by
    )
    audited = AuditTables(documents, planted.questions, planted.answers, planted.comparisons, planted.judgements)
    settings = Analysis(**SETTINGS)
    found = with_further_findings(audited, audit(audited, settings), settings)
    path = root / "runs" / f"run-{system}"
    path.mkdir(parents=True)
    empty = {spec.name: spec.schema.empty_table() for spec in (t.SECTIONS, t.CHUNKS, t.EVIDENCE, t.JUDGEMENTS)}
    own = {"documents": documents, "questions": planted.questions, "answers": planted.answers}
    for name, table in {**empty, **own, "comparisons": planted.comparisons, **found.run_tables()}.items():
        pq.write_table(table, path / f"{name}.parquet")
    stages = {
        stage: digit * 64 for stage, digit in zip(("ingest", "retrieve", "generate", "compare"), "abcd", strict=True)
    }
    record = {
        "run_id": path.name,
        "system": system,
        "created": "2026-01-01T00:00:00+00:00",
        "config": {
            "analysis": {"_target_": "transplantqa.analysis.Analysis", **SETTINGS},
            "domain": {"document": "handbook"},
        },
        "fingerprints": {**stages, "retrieve": f"{plan.seed:064x}"},
        "plan_sha256": "e" * 64,
        "outcomes": {"generate": {"ok": planted.answers.num_rows}},
    }
    measured = {
        "metrics": {**found.metrics, "support_rate": 0.5, "support_rate_n": 2},
        "gold": {},
        "notes": ["planted"],
    }
    (path / "run.json").write_text(json.dumps(record), encoding="utf-8")
    (path / "metrics.json").write_text(json.dumps(measured), encoding="utf-8")
    return RunFolder(path)


@pytest.fixture(scope="session")
def planted_runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, RunFolder]:
    """Two systems over the same questions and documents, the second more often answering."""
    root = tmp_path_factory.mktemp("planted")
    return {
        "flat": write_planted_run(root, "flat", replace(DESIGN, silence=0.5, failures=0.02, seed=1)),
        "deep": write_planted_run(root, "deep", replace(DESIGN, silence=0.3, seed=2)),
    }


@pytest.fixture(scope="session")
def planted_release(planted_runs: dict[str, RunFolder], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The release of both."""
    settings = ReleaseSettings(folder="unused", name="audit", title="Planted audit", waiver=WAIVER)
    return build_release(planted_runs, tmp_path_factory.mktemp("built") / "release", settings).folder


@pytest.fixture
def hub() -> Hub:
    """An empty Hub."""
    return Hub()


@pytest.fixture
def endpoint(hub: Hub) -> Iterator[str]:
    """The address it is served at."""
    with serving(hub) as url:
        yield url


Program = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def program(endpoint: str, tmp_path: Path) -> Program:
    """Start a command in a process of its own, with the Hub on loopback as its Hub."""

    def start(*arguments: str, token: str | None = SIGNED_IN) -> subprocess.CompletedProcess[str]:
        return run_python(["-m", "transplantqa", *arguments], tmp_path, hub_environment(endpoint, tmp_path, token))

    return start


def hub_environment(endpoint: str, folder: Path, token: str | None) -> dict[str, str]:
    """Return what makes the real clients talk to a Hub on loopback, and keep their files in a folder."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "HUGGING"))}
    own = {"HF_ENDPOINT": endpoint, "HF_HOME": str(folder / "hf"), "HF_HUB_DISABLE_XET": "1"}
    return {**kept, **own, "HF_HUB_DISABLE_TELEMETRY": "1", **({} if token is None else {"HF_TOKEN": token})}


def run_python(
    arguments: Sequence[str], folder: Path, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run Python in a folder and return what it said."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=dict(environment),
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )
