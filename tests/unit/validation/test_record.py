"""The record: kept under the judge's fingerprint, looked up, described, settled by an adjudicator."""

import csv
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from transplantqa import validation
from transplantqa.release.card import _instrument
from transplantqa.report.page import write_page
from transplantqa.report.summary import closing_summary
from transplantqa.store.run_folder import RunFolder
from transplantqa.store.tables import HUMAN_LABELS
from transplantqa.tracking.projection import project
from transplantqa.validation.annotations import read_annotations
from transplantqa.validation.assess import assess
from transplantqa.validation.frame import frame
from transplantqa.validation.record import Validation
from transplantqa.validation.record_folder import write_record
from transplantqa.validation.reference import REFERENCE
from transplantqa.validation.resampling import Bootstrap
from transplantqa.validation.sample_folder import SampleFolder, write_sample
from transplantqa.validation.sampling import SampleDesign

Say = Callable[[Mapping[str, Any]], str | None]
QUICK = Bootstrap(replicates=50)
WORSE = {"ABSENT": "ABSENT", "CONSISTENT": "COMPLEMENTARY", "COMPLEMENTARY": "DIVERGENT", "DIVERGENT": "CONTRADICTORY"}


@pytest.fixture
def sampled(audit: Any) -> tuple[Any, RunFolder, SampleFolder]:
    run = audit()
    return audit, run, write_sample(audit.artifacts, run, frame(run), SampleDesign(per_stratum=10))


def judge_says(row: Mapping[str, Any]) -> str:
    return str(row["stratum"]).rpartition("/")[2]


def worse(row: Mapping[str, Any]) -> str:
    return WORSE.get(judge_says(row), "DIVERGENT")


def annotate(folder: Path, sample: SampleFolder, **people: Say) -> list[Path]:
    """Write a file for each annotator."""
    files = []
    for name, say in people.items():
        files.append(folder / f"{name}.csv")
        with files[-1].open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream)
            writer.writerow(["item", "label", "significance"])
            for row in sample.pairs:
                label = say(row)
                writer.writerow([row["item"], label or "", "high" if label in {"DIVERGENT", "CONTRADICTORY"} else ""])
    return files


def record(
    audit: Any, run: RunFolder, sample: SampleFolder, files: list[Path], adjudicator: str | None = None
) -> Validation:
    annotations = read_annotations(files, {row["item"]: "" for row in sample.pairs}, sample.sample_id, {})
    return write_record(audit.artifacts, run, sample, assess(run, sample, annotations, adjudicator), QUICK)


def test_nobody_has_validated_a_judge_without_a_record(audit: Any) -> None:
    run = audit()
    assert validation.of_run(run) is None
    assert validation.describe(None) == validation.describe_run(run) == "judge not validated against people"
    assert validation.flat_metrics(None) == {}
    assert validation.reference_labels(run) is None
    assert validation.measured(run) == run.measures


def test_a_record_lies_under_the_judges_fingerprint_and_is_found_from_any_run_of_that_judge(
    sampled: Any, tmp_path: Path
) -> None:
    audit, run, sample = sampled
    found = record(audit, run, sample, annotate(tmp_path, sample, r1=judge_says, r2=judge_says))
    assert found.path == audit.artifacts / "validation" / "judges" / ("c" * 64) / sample.sample_id
    assert validation.record_of(audit.artifacts, "c" * 64) == found
    assert validation.of_run(audit("other_retriever")) == found
    assert validation.of_run(audit("other_judge", judge="d" * 64)) is None


def test_agreement_is_shown_wherever_the_labels_are(sampled: Any, tmp_path: Path) -> None:
    audit, run, sample = sampled
    record(audit, run, sample, annotate(tmp_path, sample, r1=judge_says, r2=judge_says))
    line = validation.describe_run(run)
    assert line.startswith("judge against people: kappa 1.00 (2 annotators, 40 judged pairs)")
    summary = closing_summary([run])["runs"][0]
    assert (summary["judge_validated"], summary["judge_validation"]) == (True, line)
    assert "judge_kappa" in {figure["name"] for figure in summary["checks"]}
    projection = project(run, (), 200)
    assert projection.tags["transplantqa.judge_validation"] == line
    assert projection.metrics["judge_kappa"] == 1.0
    assert projection.metrics["judge_kappa_n"] == 40
    assert "kappa 1.00" in write_page(run).read_text(encoding="utf-8")
    assert line in _instrument({"baseline": run}, None)


def test_a_judge_that_people_disagree_with_is_not_an_instrument(sampled: Any, tmp_path: Path) -> None:
    audit, run, sample = sampled
    record(audit, run, sample, annotate(tmp_path, sample, r1=worse, r2=worse))
    reasons = validation.measured(run).not_an_instrument
    assert any("The judge agrees with people at kappa" in reason for reason in reasons)
    assert set(run.measures.not_an_instrument) < set(reasons)


def test_peoples_word_on_the_judge_takes_the_place_of_golds(sampled: Any, tmp_path: Path) -> None:
    audit, run, sample = sampled
    measures = json.loads((run.path / "metrics.json").read_text())
    reason = "The judge agrees with gold at kappa 0.28 over 77 pairs that both answer; at least 0.60 is asked."
    measures |= {"gold": {"judge_gold_kappa": 0.28, "judge_gold_kappa_n": 77}, "not_an_instrument": ["silence", reason]}
    (run.path / "metrics.json").write_text(json.dumps(measures))
    run = RunFolder(run.path)
    assert validation.measured(run).not_an_instrument == ("silence", reason)
    record(audit, run, sample, annotate(tmp_path, sample, r1=judge_says, r2=judge_says))
    assert validation.measured(run).not_an_instrument == ("silence",)


def test_unsettled_disputes_bound_the_figure_and_go_to_a_third_annotator(sampled: Any, tmp_path: Path) -> None:
    audit, run, sample = sampled
    files = annotate(tmp_path, sample, r1=judge_says, r2=worse)
    found = record(audit, run, sample, files)
    counts = found.content["counts"]
    assert counts["disputed"] == 40
    assert found.metrics["judge_kappa"] < 0.0 < found.metrics["judge_kappa_best"] == 1.0
    assert "40 disputed pairs are not settled" in validation.describe(found)
    page = (found.path / "disputes.html").read_text(encoding="utf-8")
    assert sum(row["item"] in page for row in sample.pairs) == 40
    settled = record(audit, run, sample, [*files, *annotate(tmp_path, sample, r3=judge_says)], "r3")
    assert settled.content["counts"]["adjudicated"] == 40
    assert settled.metrics["judge_kappa"] == 1.0
    assert "judge_kappa_best" not in settled.metrics
    assert settled.content["annotators"] == ["r1", "r2"]
    assert not (found.path / "disputes.html").exists()


def test_missing_labels_are_null_and_counted(sampled: Any, tmp_path: Path) -> None:
    audit, run, sample = sampled
    absent = next(row["item"] for row in sample.pairs if judge_says(row) == "CONSISTENT")
    say = lambda row: None if row["item"] == absent else judge_says(row)  # noqa: E731
    found = record(audit, run, sample, annotate(tmp_path, sample, r1=say, r2=say))
    assert found.content["counts"]["missing"] == 1
    assert found.content["labelled"] == {"r1": 49, "r2": 49}
    table = pq.read_table(found.path / "human_labels.parquet")
    assert table.schema.names == HUMAN_LABELS.schema.names
    assert table["label"].null_count == 2
    assert len(table) == 100


def test_people_s_labels_come_with_their_chances_for_corrected_rates(sampled: Any, tmp_path: Path) -> None:
    audit, run, sample = sampled
    record(audit, run, sample, annotate(tmp_path, sample, r1=judge_says, r2=judge_says))
    table = validation.reference_labels(run)
    assert table is not None
    assert table.schema == REFERENCE
    rows = table.to_pylist()
    assert len(rows) == 50
    assert all(row["label"] == row["judge_label"] for row in rows)
    assert {row["decided"] for row in rows} == {"agreed"}
    for row in rows:
        assert row["inclusion_probability"] == pytest.approx(10 / row["stratum_pairs"])


def test_a_pair_whose_answers_changed_is_left_out_and_said(sampled: Any, tmp_path: Path) -> None:
    audit, _, sample = sampled
    files = annotate(tmp_path, sample, r1=judge_says)
    first = sample.pairs[0]
    cell = f"{first['question_id']}__{first['document_a']}"
    touched = [
        row for row in sample.pairs if cell in {f"{row['question_id']}__{row[s]}" for s in ("document_a", "document_b")}
    ]
    other = audit("other", judge="d" * 64, shift=1, **{cell: "Something else."})
    found = record(audit, other, sample, files)
    assert found.content["counts"]["answers_changed"] == len(touched)
    assert found.content["counts"]["pairs"] == 50 - len(touched)
    assert found.content["judge"] == "d" * 64


def test_the_record_of_the_run_itself_goes_before_a_newer_one(sampled: Any, tmp_path: Path) -> None:
    audit, run, sample = sampled
    own = record(audit, run, sample, annotate(tmp_path, sample, r1=judge_says))
    other = audit("other")
    again = write_sample(audit.artifacts, other, frame(other), SampleDesign(per_stratum=3))
    newer = record(audit, other, again, annotate(tmp_path, again, r1=judge_says))
    content = json.loads((newer.path / "record.json").read_text())
    (newer.path / "record.json").write_text(json.dumps({**content, "created": "2999-01-01"}))
    assert validation.of_run(run) == own
    assert validation.of_run(other) == newer


def test_the_confusion_matrix_is_a_picture_that_says_the_same_each_time(sampled: Any, tmp_path: Path) -> None:
    audit, run, sample = sampled
    files = annotate(tmp_path, sample, r1=judge_says)
    found = record(audit, run, sample, files)
    first = {kind: (found.path / f"confusion.{kind}").read_bytes() for kind in ("png", "svg")}
    assert first["png"].startswith(b"\x89PNG")
    assert b"<svg" in first["svg"]
    assert b"Complementary" in first["svg"]
    record(audit, run, sample, files)
    assert first == {kind: (found.path / f"confusion.{kind}").read_bytes() for kind in ("png", "svg")}


def test_no_figure_of_the_record_is_nan_and_the_undefined_say_why(sampled: Any, tmp_path: Path) -> None:
    audit, run, sample = sampled
    only_absent = lambda row: "ABSENT" if judge_says(row) == "ABSENT" else None  # noqa: E731
    found = record(audit, run, sample, annotate(tmp_path, sample, r1=only_absent, r2=only_absent))
    assert "NaN" not in (found.path / "record.json").read_text()
    assert "judge_kappa" not in found.metrics
    assert "kappa undefined" in validation.describe(found)
    for row in pq.read_table(found.path / "agreement.parquet").to_pylist():
        assert (row["value"] is None) == (row["undefined"] is not None)
        assert row["value"] is None or row["value"] == row["value"]


def test_bias_is_by_length_order_institution_and_who_decided(sampled: Any, tmp_path: Path) -> None:
    audit, run, sample = sampled
    found = record(audit, run, sample, annotate(tmp_path, sample, r1=worse))
    rows = pq.read_table(found.path / "bias.parquet").to_pylist()
    assert {row["facet"] for row in rows} == {"answer_length", "shown_first", "institution", "decided_by"}
    judged = next(row for row in rows if row["member"] == "judge")
    assert (judged["n"], judged["agreement"]) == (40, 0.0)
    # of 40 judged pairs the judge calls 20 a conflict; people call 30 so: COMPLEMENTARY became DIVERGENT
    assert judged["conflict_excess"] == pytest.approx((20 - 30) / 40)
