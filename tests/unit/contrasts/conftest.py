"""Runs with planted truth, written as finished ones are."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from transplantqa.analysis.tables import AuditTables
from transplantqa.store.run_folder import RunFolder

RunMaker = Callable[..., RunFolder]
SAME = {"ingest": "i" * 64, "retrieve": "r" * 64, "generate": "g" * 64, "compare": "c" * 64}


@pytest.fixture
def make_run(tmp_path: Path) -> RunMaker:
    """Writes a run of the given tables under ``artifacts/runs``; stages named have another method."""

    def write(
        name: str,
        tables: AuditTables,
        fingerprints: Mapping[str, str] | None = None,
        judging: Mapping[str, object] | None = None,
        config: Mapping[str, object] | None = None,
    ) -> RunFolder:
        path = tmp_path / "artifacts" / "runs" / name
        path.mkdir(parents=True)
        for table in ("documents", "questions", "answers", "comparisons"):
            pq.write_table(getattr(tables, table), path / f"{table}.parquet")
        record = {
            "run_id": name,
            "system": f"system_{name}",
            "created": "2026-01-01T00:00:00+00:00",
            "config": config or {},
            "extra": {} if judging is None else {"judging": judging},
            "fingerprints": {**SAME, **(fingerprints or {})},
            "plan_sha256": "p" * 64,
        }
        (path / "run.json").write_text(json.dumps(record), encoding="utf-8")
        (path / "metrics.json").write_text(json.dumps({"metrics": {}}), encoding="utf-8")
        return RunFolder(path)

    return write
