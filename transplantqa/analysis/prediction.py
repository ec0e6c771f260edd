"""Which questions will diverge, told from the questions alone: two models, judged on questions they have not seen."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from transplantqa.analysis.facets import GENERAL
from transplantqa.analysis.intervals import resampling_weights
from transplantqa.analysis.measures import FloatArray
from transplantqa.analysis.settings import Analysis
from transplantqa.analysis.tables import Findings

if TYPE_CHECKING:
    from sklearn.base import ClassifierMixin

FOLDS = 5
MIN_MEMBERS = 5
"""Questions of a group or topic for it to be a feature."""
REFITS = 200
"""Of the logistic regression, for the intervals of its coefficients."""
TOP_SHARE = 0.25
"""The paper predicts membership in the top quartile of divergence."""
LOGISTIC, BOOSTING = "logistic_regression", "gradient_boosting"
OPENINGS: Mapping[str, str] = {
    "asks_when_or_how_long": r"\b(when|how (long|soon|often|many|much))\b",
    "asks_whether": r"^(can|may|should|must|do|does|is|are|will|am)\b",
    "asks_what": r"\b(what|which)\b",
    "asks_how": r"\bhow\b(?! (long|soon|often|many|much)\b)",
    "asks_why_or_who": r"\b(why|who|whom|where)\b",
    "has_a_number": r"\d",
}
COEFFICIENTS = pa.schema(
    [
        pa.field("feature", pa.string(), nullable=False),
        pa.field("coefficient", pa.float64(), nullable=False),
        pa.field("low", pa.float64()),
        pa.field("high", pa.float64()),
        pa.field("importance", pa.float64(), nullable=False),
        pa.field("mean", pa.float64(), nullable=False),
    ]
)
"""``coefficient``: log-odds for one standard deviation of the feature; ``importance``: of the boosted trees."""
PREDICTED = pa.schema(
    [
        pa.field("question_id", pa.string(), nullable=False),
        pa.field("divergence_rate", pa.float64(), nullable=False),
        pa.field("diverges", pa.bool_(), nullable=False),
        pa.field(LOGISTIC, pa.float64(), nullable=False),
        pa.field(BOOSTING, pa.float64(), nullable=False),
    ]
)
"""Held-out probabilities: each by models that were not shown the question."""
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class _Task:
    """What is to be told of which questions, from what."""

    names: tuple[str, ...]
    features: FloatArray
    diverges: Bools


def prediction_findings(questions: pa.Table, by_question: pa.Table, settings: Analysis) -> Findings:
    """Predict which questions are in the top quarter by divergence rate, of those with enough visible pairs.

    Features are of the question alone (its length, how it asks, its groups and topics), so a question can be judged
    before anything is generated. Probabilities are held out by stratified folds; intervals of AUC and of average
    precision resample questions, those of coefficients refit on resampled questions.

    Returns:
        ``prediction_n``, the questions; ``prediction_positives``; for each model ``prediction/<model>/auc`` and ``/ap``
        with bounds; ``prediction_base_rate``, the average precision of guessing. With fewer questions than
        ``prediction_min_questions``, or fewer than two a fold of either kind, only the counts and
        ``prediction_needed``. Tables ``prediction`` (features) and ``predicted`` (questions), empty then.
    """
    rows = [row for row in by_question.to_pylist() if row["visible"] >= settings.prediction_min_visible_pairs]
    rows.sort(key=lambda row: row["question_id"])
    rate = np.array([row["divergence_rate"] for row in rows], dtype=np.float64)
    diverges = _top(rate)
    metrics: dict[str, float | int] = {"prediction_n": len(rows), "prediction_positives": int(diverges.sum())}
    fewer = min(int(diverges.sum()), int((~diverges).sum()))
    if len(rows) < settings.prediction_min_questions or fewer < 2 * FOLDS:
        metrics["prediction_needed"] = settings.prediction_min_questions
        empty = {"prediction": COEFFICIENTS.empty_table(), "predicted": PREDICTED.empty_table()}
        return Findings(metrics, empty)
    asked = {row["question_id"]: row for row in questions.to_pylist()}
    names, features = question_features([asked[row["question_id"]] for row in rows])
    task = _Task(names, features, diverges)
    held_out = {name: _held_out(task, name, settings.seed) for name in (LOGISTIC, BOOSTING)}
    weights = resampling_weights(len(rows), settings.bootstrap_replicates, settings.seed)
    metrics["prediction_base_rate"] = float(diverges.mean())
    for name, chance in held_out.items():
        metrics |= _scores(f"prediction/{name}", diverges, chance, weights, settings.confidence)
    columns = {
        "question_id": pa.array([row["question_id"] for row in rows], pa.string()),
        "divergence_rate": pa.array(rate),
        "diverges": pa.array(diverges),
        **{name: pa.array(chance) for name, chance in held_out.items()},
    }
    return Findings(metrics, {"prediction": _coefficients(task, settings), "predicted": pa.table(columns, PREDICTED)})


def question_features(rows: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, ...], FloatArray]:
    """Return names and values, (questions, features), told from rows of the questions table; constants are left out."""
    columns: dict[str, list[float]] = {"words": [float(len(row["text"].split())) for row in rows]}
    for name, pattern in OPENINGS.items():
        columns[name] = [float(re.search(pattern, row["text"].lower()) is not None) for row in rows]
    for kind in ("groups", "topics", "subtopics"):
        held = [row[kind] or ([GENERAL] if kind == "groups" else []) for row in rows]
        for member in sorted({member for members in held for member in members}):
            values = [float(member in members) for members in held]
            if sum(values) >= MIN_MEMBERS:
                columns[f"{kind.removesuffix('s')}: {member}"] = values
    kept = {name: values for name, values in columns.items() if len(set(values)) > 1}
    return tuple(kept), np.array(list(kept.values()), dtype=np.float64).reshape(len(kept), len(rows)).T


def _top(rate: FloatArray) -> Bools:
    """Return which rates are in the top quarter; a rate of zero never is."""
    if not len(rate):
        return np.zeros(0, np.bool_)
    top: Bools = rate >= max(float(np.quantile(rate, 1.0 - TOP_SHARE)), np.nextafter(0.0, 1.0))
    return top


def _model(name: str, seed: int) -> "ClassifierMixin":
    from sklearn.ensemble import GradientBoostingClassifier  # noqa: PLC0415 - heavy
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415
    from sklearn.pipeline import make_pipeline  # noqa: PLC0415
    from sklearn.preprocessing import StandardScaler  # noqa: PLC0415

    if name == BOOSTING:
        return GradientBoostingClassifier(max_depth=2, subsample=0.8, random_state=seed)
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))


def _held_out(task: _Task, name: str, seed: int) -> FloatArray:
    from sklearn.model_selection import StratifiedKFold, cross_val_predict  # noqa: PLC0415 - heavy

    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    chances = cross_val_predict(_model(name, seed), task.features, task.diverges, cv=folds, method="predict_proba")
    held_out: FloatArray = chances[:, 1]
    return held_out


def _scores(
    prefix: str, diverges: Bools, chance: FloatArray, weights: FloatArray, confidence: float
) -> dict[str, float | int]:
    from sklearn.metrics import average_precision_score, roc_auc_score  # noqa: PLC0415 - heavy

    found: dict[str, float | int] = {}
    tail = (1.0 - confidence) / 2.0
    for name, score in (("auc", roc_auc_score), ("ap", average_precision_score)):
        found[f"{prefix}/{name}"] = float(score(diverges, chance))
        found[f"{prefix}/{name}_n"] = len(diverges)
        drawn = [
            score(diverges, chance, sample_weight=weight)
            for weight in weights
            if 0 < weight[diverges].sum() < weight.sum()
        ]
        if drawn:
            low, high = np.quantile(drawn, [tail, 1.0 - tail])
            found |= {f"{prefix}/{name}_lo": float(low), f"{prefix}/{name}_hi": float(high)}
    return found


def _coefficients(task: _Task, settings: Analysis) -> pa.Table:
    """Return the features by size of their coefficient, in models of all questions."""
    weights = resampling_weights(len(task.diverges), min(REFITS, settings.bootstrap_replicates), settings.seed)
    drawn = [
        _logistic(task, np.repeat(np.arange(len(weight)), weight.astype(np.int64)), settings.seed)
        for weight in weights
        if 0 < weight[task.diverges].sum() < weight.sum()
    ]
    tail = (1.0 - settings.confidence) / 2.0
    bounds = np.quantile(drawn, [tail, 1.0 - tail], axis=0) if drawn else np.full((2, len(task.names)), np.nan)
    boosted: Any = _model(BOOSTING, settings.seed)
    boosted.fit(task.features, task.diverges)
    fitted = _logistic(task, np.arange(len(task.diverges)), settings.seed)
    rows: list[dict[str, Any]] = [
        {
            "feature": name,
            "coefficient": float(fitted[place]),
            "low": None if np.isnan(bounds[0, place]) else float(bounds[0, place]),
            "high": None if np.isnan(bounds[1, place]) else float(bounds[1, place]),
            "importance": float(boosted.feature_importances_[place]),
            "mean": float(task.features[:, place].mean()),
        }
        for place, name in enumerate(task.names)
    ]
    rows.sort(key=lambda row: (-abs(row["coefficient"]), row["feature"]))
    return pa.Table.from_pylist(rows, schema=COEFFICIENTS)


def _logistic(task: _Task, chosen: NDArray[np.int64], seed: int) -> FloatArray:
    fitted: Any = _model(LOGISTIC, seed)
    fitted.fit(task.features[chosen], task.diverges[chosen])
    coefficients: FloatArray = fitted[-1].coef_[0]
    return coefficients
