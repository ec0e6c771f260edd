"""A run's rates are corrected where people labelled its pairs."""

from typing import Any

import pyarrow as pa
import pytest

from transplantqa import validation
from transplantqa.report.corrected import corrected_rows
from transplantqa.report.page.collect import page_content
from transplantqa.report.page.detail import Bounds
from transplantqa.report.page.write import page


def test_without_labels_there_are_no_corrected_rates(write_run: Any) -> None:
    assert corrected_rows(write_run()) == []


def test_peoples_labels_correct_the_page_of_their_run(write_run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The judge calls the only visible pair contradictory; people say that its answers agree."""
    labels = pa.table(
        {
            "question_id": ["q2"],
            "document_a": ["kidney_a"],
            "document_b": ["kidney_b"],
            "inclusion_probability": [1.0],
            "label": ["CONSISTENT"],
        }
    )
    monkeypatch.setattr(validation, "reference_labels", lambda _run: labels)
    run = write_run()
    found = {row["measure"]: row for row in corrected_rows(run)}
    assert (found["divergence_rate"]["uncorrected"], found["divergence_rate"]["corrected"]) == (1.0, 0.0)
    assert found["pair_absence_rate"]["corrected"] == 0.5
    text = page(page_content(run, Bounds()), {})
    assert "Corrected for the judge" in text
    assert "1 pairs are of kinds of which none was labelled" in text
