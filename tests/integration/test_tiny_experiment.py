"""The smallest audit with the packaged language model, from PDFs to a run's folder: plumbing, not quality of labels."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from transplantqa.cli import main
from transplantqa.records import Label, Outcome


def test_the_packaged_model_answers_and_judges_a_slice_of_the_sample(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    main(["run", "experiment=tiny", "tracking=none", "max_failure_rate=1"])
    (folder,) = sorted((tmp_path / "artifacts" / "runs").iterdir())
    answers = pq.read_table(folder / "answers.parquet").to_pylist()
    judgements = pq.read_table(folder / "judgements.parquet").to_pylist()
    assert len(answers) == 12
    assert any(row["outcome"] == Outcome.OK and row["completion_tokens"] > 0 for row in answers)
    assert judgements
    assert all(row["outcome"] == Outcome.OK and row["label"] in set(Label) for row in judgements)
    measured = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    assert measured["metrics"]["parse_success_rate"] == 1.0
    assert measured["not_an_instrument"]
