from pathlib import Path
from typing import Any

import pytest

from transplantqa.errors import InputError
from transplantqa.store.run_folder import RunFolder, open_run


def test_a_folder_without_a_record_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a run folder"):
        RunFolder(tmp_path)


def test_a_missing_table_is_told_with_the_remedy(write_run: Any) -> None:
    run = write_run()
    run.table_path("answers").unlink()
    with pytest.raises(InputError, match="is missing") as problem:
        run.table("answers")
    assert "Run the same command again" in str(problem.value)


def test_a_torn_table_is_told_by_its_path(write_run: Any) -> None:
    run = write_run()
    run.table_path("answers").write_bytes(b"PAR1")
    with pytest.raises(InputError, match=r"answers\.parquet: can't be read as Parquet"):
        run.table("answers")


def test_a_missing_column_is_told_by_name(write_run: Any) -> None:
    with pytest.raises(InputError, match="has no column stance"):
        write_run().table("answers", ["question_id", "stance"])


@pytest.mark.parametrize("content", ["", "[1]", "{"])
def test_metrics_that_are_no_json_object_are_told_by_path(write_run: Any, content: str) -> None:
    run = write_run()
    (run.path / "metrics.json").write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=r"metrics\.json"):
        _ = run.measures


def test_figures_without_a_value_are_left_out(write_run: Any) -> None:
    assert dict(write_run(metrics={"judge_kappa": None, "absence_rate": 0.5}).measures.metrics) == {"absence_rate": 0.5}


def test_a_table_read_in_batches_is_the_table(write_run: Any) -> None:
    run = write_run()
    rows = [row for batch in run.batches("answers", 3) for row in batch.to_pylist()]
    assert rows == run.rows("answers")


def test_a_run_is_opened_by_its_folder_or_its_record(write_run: Any, tmp_path: Path) -> None:
    run = write_run()
    assert open_run(tmp_path, str(run.path)).path == run.path
    assert open_run(tmp_path, str(run.path / "run.json")).path == run.path


def test_a_run_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no run is called"):
        open_run(tmp_path, "nothing")
