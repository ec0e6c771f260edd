"""Divergence planted in a topic is foreseen on questions not seen; chance is not."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from transplantqa.analysis.prediction import prediction_findings, question_features
from transplantqa.analysis.settings import Analysis
from transplantqa.store.tables import QUESTIONS

SETTINGS = Analysis(bootstrap_replicates=40, prediction_min_visible_pairs=30, prediction_min_questions=100)


def planted(size: int, effect: float, seed: int = 0) -> tuple[pa.Table, pa.Table]:
    """Return questions of three topics and their counts: 40 visible pairs, more conflicts in topic 0 by ``effect``."""
    rng = np.random.default_rng(seed)
    topic = rng.integers(3, size=size)
    rate = np.clip(0.1 + effect * (topic == 0) + 0.02 * rng.normal(size=size), 0.0, 1.0)
    asked = [
        {
            "question_id": f"q{place:04d}",
            "text": "When may I drive?" if place % 2 else "Is swimming safe?",
            "groups": [],
            "topics": [f"topic {topic[place]}"],
            "subtopics": [],
            "source": None,
        }
        for place in range(size)
    ]
    counts = {"question_id": [row["question_id"] for row in asked], "visible": [40] * size, "divergence_rate": rate}
    return pa.Table.from_pylist(asked, schema=QUESTIONS.schema), pa.table(counts)


def test_a_planted_topic_is_foreseen_and_named() -> None:
    found = prediction_findings(*planted(300, 0.3), SETTINGS)
    for model in ("logistic_regression", "gradient_boosting"):
        assert found.metrics[f"prediction/{model}/auc_lo"] > 0.75
        assert found.metrics[f"prediction/{model}/ap_lo"] > found.metrics["prediction_base_rate"]
    first = found.tables["prediction"].to_pylist()[0]
    assert first["feature"] == "topic: topic 0"
    assert 0 < first["low"] < first["coefficient"] < first["high"]


def test_where_nothing_is_planted_the_interval_holds_guessing() -> None:
    found = prediction_findings(*planted(300, 0.0), SETTINGS)
    for model in ("logistic_regression", "gradient_boosting"):
        assert found.metrics[f"prediction/{model}/auc_lo"] < 0.55
    assert found.metrics["prediction_positives"] == pytest.approx(75, abs=2)


def test_a_question_was_not_shown_to_the_model_that_predicts_it() -> None:
    """A feature that marks one question alone would be learnt by heart: held out, it tells nothing."""
    found = prediction_findings(*planted(300, 0.0, seed=5), SETTINGS)
    assert found.tables["predicted"].num_rows == 300
    assert found.metrics["prediction/gradient_boosting/auc"] < 0.65


@pytest.mark.parametrize("size", [0, 99])
def test_with_too_few_questions_nothing_is_predicted_and_the_number_needed_is_told(size: int) -> None:
    found = prediction_findings(*planted(size, 0.3), SETTINGS)
    assert (found.metrics["prediction_n"], found.metrics["prediction_needed"]) == (size, 100)
    assert not [name for name in found.metrics if name.endswith("auc")]
    assert found.tables["prediction"].num_rows == 0


def test_questions_with_few_visible_pairs_are_not_predicted() -> None:
    questions, counts = planted(300, 0.3)
    few = counts.set_column(1, "visible", pa.array([29] * 300))
    assert prediction_findings(questions, few, SETTINGS).metrics["prediction_n"] == 0


def test_features_are_of_the_question_alone_and_constants_are_left_out() -> None:
    rows: list[dict[str, Any]] = [
        {"text": "When may I drive 2 miles?", "groups": [], "topics": ["a"], "subtopics": []},
        {"text": "Is it safe to swim?", "groups": ["heart"], "topics": ["a"], "subtopics": []},
    ] * 5
    names, values = question_features(rows)
    assert names == ("words", "asks_when_or_how_long", "asks_whether", "has_a_number", "group: general", "group: heart")
    assert values[0].tolist() == [6.0, 1.0, 0.0, 1.0, 1.0, 0.0]
