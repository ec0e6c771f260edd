"""The command ``evaluate-retrieval`` over a slice of the bundled sample."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from transplantqa.cli import main
from transplantqa.compose import CommandLine, check
from transplantqa.errors import EXIT_OK, ConfigError
from transplantqa.store.run_folder import RunFolder

SLICE = (
    "tracking=none",
    "corpus.documents=[kidney_center_a_combined,kidney_center_b_post]",
    "questions.select=[raw_fish_and_eggs,daily_fluids,dialysis_after_transplant]",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An artifacts folder in which bm25, one of its variants, the oracle and the others were evaluated."""
    artifacts = tmp_path_factory.mktemp("artifacts")
    retrievers = 'retrievers=[bm25,"bm25 top_k=1",full_document,oracle,none]'
    assert main(["evaluate-retrieval", *SLICE, retrievers, f"artifacts={artifacts}"]) == EXIT_OK
    return artifacts


def evaluation(folder: Path) -> dict[str, Any]:
    (path,) = (folder / "retrieval").glob("*/evaluation.json")
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def measures(folder: Path, name: str) -> dict[str, dict[str, Any]]:
    (found,) = [one["measures"] for one in evaluation(folder)["retrievers"] if one["name"] == name]
    return dict(found)


def test_retrievers_stand_in_the_order_asked_for_and_the_first_is_compared_with(folder: Path) -> None:
    record = evaluation(folder)
    assert [one["name"] for one in record["retrievers"]] == ["bm25", "bm25 top_k=1", "full_document", "oracle", "none"]
    assert record["compared_with"] == "bm25"


def test_keys_after_a_choice_make_another_retriever_of_it(folder: Path) -> None:
    tokens = [measures(folder, name)["evidence_tokens"]["value"] for name in ("bm25", "bm25 top_k=1")]
    assert tokens[1] < tokens[0]


def test_the_oracle_shows_every_quote_and_no_evidence_shows_none(folder: Path) -> None:
    assert measures(folder, "oracle")["evidence_recall"]["value"] == 1.0
    assert measures(folder, "none")["evidence_recall"]["value"] == 0.0


def test_each_cell_is_kept_with_its_part_in_every_measure(folder: Path) -> None:
    (path,) = (folder / "retrieval").glob("*/cells.parquet")
    rows = [row for row in pq.read_table(path).to_pylist() if row["retriever"] == "oracle"]
    assert len(rows) == 6
    assert {row["evidence_recall"] for row in rows if not row["silent"]} == {1.0}


def test_each_retriever_leaves_a_folder_that_can_be_tracked_as_a_run(folder: Path) -> None:
    runs = [RunFolder(path.parent) for path in sorted((folder / "retrieval").glob("*/*/run.json"))]
    assert [run.system for run in runs][:2] == ["retrieval: bm25", "retrieval: bm25 top_k=1"]
    assert "change/evidence_recall" in runs[1].measures.metrics
    assert len({run.run_id for run in runs}) == 5


def test_an_evaluation_made_again_retrieves_nothing_and_prints_the_same_record(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = evaluation(folder)
    retrievers = 'retrievers=[bm25,"bm25 top_k=1",full_document,oracle,none]'
    assert main(["evaluate-retrieval", *SLICE, retrievers, f"artifacts={folder}", "output=json"]) == EXIT_OK
    shown = capsys.readouterr()
    assert "6/6  6 reused" in shown.err
    assert {**json.loads(shown.out), "next": None} == {**before, "next": None}


def test_evaluating_shares_the_ledger_with_runs(folder: Path) -> None:
    assert len(list((folder / "retrieve").iterdir())) == 5


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("retrievers=[bm52]", "retrievers: 'bm52' is not a choice\n  Did you mean 'bm25'?"),
        ("retrievers=[bm25,bm25]", "'bm25' is named twice"),
        ('retrievers=["bm25 top_k=0"]', "retriever.top_k"),
        ('retrievers=["bm25 topk=3"]', "Did you mean 'retriever.top_k'?"),
        ('retrievers=[" "]', "retrievers.0"),
    ],
)
def test_a_mistake_in_the_list_is_told_before_anything_runs(override: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check(CommandLine("evaluate-retrieval", (override,), sweep=False, config_dir=None))
    assert words in str(caught.value)


def test_questions_without_gold_can_not_be_evaluated_with(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["evaluate-retrieval", *SLICE, "questions.gold=null", f"artifacts={tmp_path}"])
    assert code == ConfigError.exit_code
    assert "questions.gold=FILE" in capsys.readouterr().err
