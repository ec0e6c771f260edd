"""Judges end to end over a slice of the bundled sample, with replies made by rule."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from transplantqa.cli import main
from transplantqa.errors import EXIT_FAILURES, EXIT_OK
from transplantqa.finished import RECEIPT_FILE
from transplantqa.judging import structured
from transplantqa.judging.parsing import Parsed
from transplantqa.models import Scripted
from transplantqa.models.protocols import Completion, Request
from transplantqa.records import Outcome
from transplantqa.store.tables import JUDGEMENTS

SLICE = ("run", "experiment=tiny", "debug=scripted", "retriever=bm25", "tracking=none", "model.abstention_share=0")


@pytest.fixture(autouse=True)
def _in_its_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def rows(table: str) -> Sequence[Mapping[str, Any]]:
    newest = max(Path("artifacts/runs").iterdir(), key=lambda path: (path / "run.json").stat().st_mtime_ns)
    content: Sequence[Mapping[str, Any]] = pq.read_table(newest / f"{table}.parquet").to_pylist()
    return content


def metrics() -> dict[str, float]:
    (run,) = Path("artifacts/runs").iterdir()
    found: dict[str, float] = json.loads((run / "metrics.json").read_text(encoding="utf-8"))["metrics"]
    return found


def test_a_better_parser_reads_kept_replies_without_a_call(calls: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as worse:
        worse.setattr(structured, "parse", lambda _: Parsed(Outcome.PARSE_FAILED, error="an older parser"))
        assert main(list(SLICE)) == EXIT_FAILURES
    failed = rows("judgements")
    assert {row["outcome"] for row in failed} == {"parse_failed"}
    assert all(row["raw"] for row in failed)
    assert metrics()["parse_success_rate"] == 0.0
    for receipt in Path("artifacts/runs").glob(f"*/{RECEIPT_FILE}"):
        receipt.unlink()  # it names the code, which a better parser changes
    calls.clear()
    assert main(list(SLICE)) == EXIT_OK
    assert calls == []
    assert [(row["outcome"], row["attempt"]) for row in rows("judgements")] == [("ok", 2)] * len(failed)
    assert metrics()["parse_success_rate"] == 1.0


def test_what_still_cannot_be_read_is_asked_again_only_when_told(calls: list[str]) -> None:
    unreadable = (*SLICE, "+model.replies={Second answer: NOT CONTRADICTORY}", "max_failure_rate=1")
    assert main(list(unreadable)) == EXIT_OK
    count = len(rows("judgements"))
    calls.clear()
    assert main(list(unreadable)) == EXIT_OK
    assert calls == []
    assert main([*unreadable, "retry=[parse_failed]"]) == EXIT_OK
    assert len(calls) == count > 0
    assert {row["label"] for row in rows("judgements")} == {None}


@pytest.mark.parametrize("judge", ["batched_small", "label_only_small", "structured_small"])
def test_every_judge_labels_every_pair_once_and_a_second_run_calls_nothing(calls: list[str], judge: str) -> None:
    assert main([*SLICE, f"judge={judge}"]) == EXIT_OK
    judged = rows("judgements")
    keys = {(row["question_id"], row["document_a"], row["document_b"]) for row in judged}
    assert len(keys) == len(judged) == len(rows("comparisons"))
    calls.clear()
    assert main([*SLICE, f"judge={judge}"]) == EXIT_OK
    assert calls == []


def test_an_unreadable_verdict_of_a_group_is_asked_again_in_the_same_company(
    calls: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    batched = (*SLICE, "judge=batched_small", "judge.order=fixed", "max_failure_rate=1")
    bad = '+model.replies={Answer 1: \'{"1":{"label":"none"},"2":{"label":"CONSISTENT"}}\'}'
    assert main([*batched, bad]) == EXIT_OK
    before = {tuple(row[name] for name in JUDGEMENTS.key): row for row in rows("judgements")}
    prompts: list[str] = []
    original = Scripted._complete

    def noted(self: Scripted, request: Request) -> Completion:
        prompts.append(request.messages[-1].content)
        return original(self, request)

    monkeypatch.setattr(Scripted, "_complete", noted)
    assert main([*batched, bad, "retry=[parse_failed]"]) == EXIT_OK
    assert any("Answer 2:" in prompt for prompt in prompts)
    attempts = {key: row["attempt"] for key, row in before.items()}
    after = {tuple(row[name] for name in JUDGEMENTS.key): row for row in rows("judgements")}
    assert {after[key]["attempt"] - attempts[key] for key, row in before.items() if row["outcome"] == "ok"} == {0}
    assert {after[key]["attempt"] - attempts[key] for key, row in before.items() if row["outcome"] != "ok"} == {1}


def test_replicates_measure_the_noise_and_both_orders_the_consistency(calls: list[str]) -> None:
    assert main([*SLICE, "judge.replicates=3", "judge.order=both"]) == EXIT_OK
    measured = metrics()
    pairs = len(rows("comparisons"))
    assert len(rows("judgements")) == 6 * pairs
    assert measured["judge_noise_floor_n"] == 2 * pairs
    assert 0 < measured["judge_noise_floor"] <= 1
    assert measured["judge_order_consistency_n"] == pairs


def test_a_policy_on_disagreement_costs_no_call_and_is_another_run(calls: list[str]) -> None:
    main([*SLICE, "judge.order=both"])
    calls.clear()
    main([*SLICE, "judge.order=both", "judge.disagreement=exclude", "max_failure_rate=1"])
    assert calls == []
    assert len(list(Path("artifacts/runs").iterdir())) == 2


def test_one_family_for_judge_and_generator_is_said_and_recorded(
    calls: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    main(list(SLICE))
    assert "same model family" in capsys.readouterr().out.replace("\n", " ")
    (run,) = Path("artifacts/runs").iterdir()
    record = json.loads((run / "run.json").read_text(encoding="utf-8"))
    assert record["extra"]["judging"]["same_family"] is True
    assert calls
