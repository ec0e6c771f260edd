"""Published claims beside ours: the verdict, and the reason where there is none."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from transplantqa.cli import main
from transplantqa.errors import InputError
from transplantqa.release.claims import Claim, check, load_claims
from transplantqa.release.reproduce_command import packaged_claims

FACTS: dict[str, Any] = {
    "id": "c",
    "source": "C",
    "says": "silence",
    "denominator": "cells",
    "value": 0.74,
    "decimals": 2,
}


def _claim(**facts: Any) -> Claim:
    return Claim(**{**FACTS, "measure": "absence_rate", **facts})


@pytest.mark.parametrize(
    ("figures", "verdict"),
    [
        ({"absence_rate": 0.744}, "agrees"),  # 0.74 to two decimals
        ({"absence_rate": 0.746}, "differs"),
        ({"absence_rate": 0.80, "absence_rate_lo": 0.70, "absence_rate_hi": 0.90}, "agrees"),
        ({"absence_rate": 0.80, "absence_rate_lo": 0.75, "absence_rate_hi": 0.90}, "differs"),
        ({"absence_rate_n": 0}, "not computable"),
        ({}, "not computable"),
    ],
)
def test_a_claim_agrees_within_its_rounding_or_our_interval(write_run: Any, figures: Any, verdict: str) -> None:
    (found,) = check([_claim()], [write_run(metrics=figures)])
    assert found.verdict == verdict
    assert (found.because is None) == (verdict != "not computable")


@pytest.mark.parametrize(("kind", "value", "verdict"), [("above", 0.8, "agrees"), ("below", 0.8, "differs")])
def test_a_bound_is_a_bound(write_run: Any, kind: str, value: float, verdict: str) -> None:
    (found,) = check([_claim(kind=kind)], [write_run(metrics={"absence_rate": value})])
    assert found.verdict == verdict


def test_a_change_is_candidate_minus_baseline(write_run: Any) -> None:
    claim = _claim(measure="delta:absence_rate", value=-0.136, decimals=3)
    runs = [write_run("old", metrics={"absence_rate": 0.836}), write_run("new", metrics={"absence_rate": 0.70})]
    (found,) = check([claim], runs)
    assert found.ours is not None
    assert found.ours.value == pytest.approx(-0.136)
    assert found.verdict == "agrees"
    assert check([claim], runs[:1])[0].verdict == "not computable"


def test_a_figure_over_documents_is_taken_from_their_table(write_run: Any) -> None:
    run = write_run()
    pq.write_table(pa.table({"absence_rate": pa.array([0.45, None, 0.99])}), run.path / "by_documents.parquet")
    claims = [_claim(measure=f"documents:absence_rate:{how}") for how in ("min", "max", "mean")]
    assert [entry.ours and (entry.ours.value, entry.ours.n) for entry in check(claims, [run])] == [
        (0.45, 2.0),
        (0.99, 2.0),
        (pytest.approx(0.72), 2.0),
    ]


def test_a_claim_that_no_run_can_give_says_why(write_run: Any) -> None:
    (found,) = check([_claim(measure=None, because="nobody knows the price")], [write_run()])
    assert (found.verdict, found.because) == ("not computable", "nobody knows the price")


def test_a_judge_nobody_validated_is_the_reason(write_run: Any) -> None:
    (found,) = check([_claim(measure="validation:label:judge:kappa")], [write_run()])
    assert found.because == "the judge of this run wasn't validated against people (transplantqa validate)"


def test_every_published_claim_has_a_measure_or_a_reason() -> None:
    claims = load_claims(packaged_claims()).claims
    assert len(claims) > 50
    assert all(bool(claim.measure) != bool(claim.because) for claim in claims)


def test_the_derived_confusion_matrix_gives_the_published_agreement() -> None:
    # Rows people, columns judge, as the papers' figures imply; scikit-learn gives every published figure.
    import numpy as np
    from sklearn.metrics import cohen_kappa_score, f1_score

    counts = [[39, 0, 0, 0, 0], [0, 17, 1, 0, 0], [0, 6, 20, 8, 0], [0, 0, 2, 12, 0], [0, 0, 0, 1, 40]]
    cells = [(row, column) for row in range(5) for column in range(5) for _ in range(counts[row][column])]
    people, judge = (np.array(side) for side in zip(*cells, strict=True))
    known = {claim.id: claim.value for claim in load_claims(packaged_claims()).claims}
    assert known["judge_raw"] == pytest.approx((people == judge).mean(), abs=5e-4)
    assert known["judge_kappa"] == pytest.approx(cohen_kappa_score(people, judge), abs=5e-4)
    assert known["judge_weighted_f1"] == pytest.approx(f1_score(people, judge, average="weighted"), abs=5e-4)
    assert known["judge_macro_f1"] == pytest.approx(f1_score(people, judge, average="macro"), abs=5e-4)


def test_an_entry_that_is_no_claim_is_named(tmp_path: Path) -> None:
    path = tmp_path / "claims.yaml"
    path.write_text("corpus: {}\nclaims:\n  - {id: x, says: y}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"claims\.0\.source"):
        load_claims(path)


def test_the_command_gives_both_values_and_the_verdict(write_run: Any, capsys: pytest.CaptureFixture[str]) -> None:
    run = write_run(metrics={"group/kidney/absence_rate": 0.655, "group/kidney/absence_rate_n": 11})
    assert main(["reproduce", str(run.path), "output=json"]) == 0
    found = {entry["id"]: entry for entry in json.loads(capsys.readouterr().out)}
    kidney = found["absence_kidney"]
    assert (kidney["value"], kidney["ours"]["value"], kidney["ours"]["n"]) == (0.655, 0.655, 11.0)
    assert kidney["verdict"] == "agrees"
    assert found["cost"]["verdict"] == "not computable"
