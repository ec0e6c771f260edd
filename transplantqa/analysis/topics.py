"""Which documents are unusually silent on which topics."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import erfc, sqrt

import numpy as np
import pyarrow as pa

from transplantqa.analysis.counts import Cells, CellState, Mask
from transplantqa.analysis.effects import benjamini_hochberg
from transplantqa.analysis.measures import SILENT, FloatArray

MAX_STEPS = 200
TOLERANCE = 1e-6


def silence_matrix(cells: Cells) -> tuple[Mask, Mask]:
    """Return (asked and not failed, silent), each (questions, documents)."""
    shape = (len(cells.question_ids), len(cells.document_ids))
    asked, silent = np.zeros(shape, np.bool_), np.zeros(shape, np.bool_)
    asked[cells.question, cells.document] = cells.state != CellState.FAILED
    silent[cells.question, cells.document] = np.isin(cells.state, SILENT)
    return asked, silent


@dataclass(frozen=True)
class SilenceModel:
    """Chances of silence and their variances, (questions, documents); no variance where nothing is left to explain."""

    expected: FloatArray
    variance: FloatArray


def fit_silence(asked: Mask, silent: Mask) -> SilenceModel:
    """Fit ``logit P(silent) = document + question`` (a Rasch model) by alternating Newton steps on the margins.

    Documents and questions that are always or never silent have no finite effect: their cells are expected as observed.
    """
    free = _informative(asked, silent)
    document, question = np.zeros(asked.shape[1]), np.zeros(asked.shape[0])
    chance = np.zeros(asked.shape)
    for _ in range(MAX_STEPS):
        worst = 0.0
        for axis, effect in ((0, document), (1, question)):
            chance = _chance(document, question, free)
            variance = chance * (1.0 - chance)
            residual = np.where(free, silent - chance, 0.0).sum(axis=axis)
            np.add(effect, np.clip(residual / np.maximum(variance.sum(axis=axis), 1e-9), -2.0, 2.0), out=effect)
            worst = max(worst, float(np.abs(residual).max(initial=0.0)))
        if worst < TOLERANCE:
            break
    chance = _chance(document, question, free)
    return SilenceModel(np.where(free, chance, silent & asked), chance * (1.0 - chance))


def _chance(document: FloatArray, question: FloatArray, free: Mask) -> FloatArray:
    logit = np.clip(question[:, None] + document[None, :], -30.0, 30.0)
    return np.where(free, 1.0 / (1.0 + np.exp(-logit)), 0.0)


def _informative(asked: Mask, silent: Mask) -> Mask:
    """Return the cells left when documents and questions without variation are dropped until none is."""
    free = asked.copy()
    while True:
        before = int(free.sum())
        for axis in (0, 1):
            count, total = (free & silent).sum(axis=axis), free.sum(axis=axis)
            varied = (count > 0) & (count < total)
            free &= varied[None, :] if axis == 0 else varied[:, None]
        if int(free.sum()) == before:
            return free


def document_topic_table(cells: Cells, topics: Mapping[str, Mask]) -> pa.Table:
    """Return one row a (document, topic) that was asked: silence, the paper's z, and ours with adjusted p-values.

    ``z_paper`` compares with the topic's mean absence over all documents. ``z`` compares with what the document's and
    the questions' own tendencies predict, its variance reduced for their being estimated; ``p_adjusted`` is
    Benjamini-Hochberg's over all rows that have a ``z``.
    """
    asked, silent = silence_matrix(cells)
    model = fit_silence(asked, silent)
    left = _remaining_variance(model.variance)
    rows: list[tuple[str, str, int, int, float | None, float | None]] = []
    for topic, mask in topics.items():
        counts, silents = asked[mask].sum(axis=0), silent[mask].sum(axis=0)
        mean = silents.sum() / max(int(counts.sum()), 1)
        expected = np.where(asked[mask], model.expected[mask], 0.0).sum(axis=0)
        within, overall = left[mask].sum(axis=0), left.sum(axis=0)
        variance = within - within**2 / np.maximum(overall, 1e-12)
        for place in np.flatnonzero(counts).tolist():
            plain = _z(silents[place] - counts[place] * mean, counts[place] * mean * (1.0 - mean))
            adjusted = _z(silents[place] - expected[place], float(variance[place]))
            rows.append((cells.document_ids[place], topic, int(counts[place]), int(silents[place]), plain, adjusted))
    return _table(rows)


def _remaining_variance(variance: FloatArray) -> FloatArray:
    """Return each cell's variance less what its question's estimated effect takes up."""
    of_question = np.maximum(variance.sum(axis=1, keepdims=True), 1e-12)
    remaining: FloatArray = variance * (1.0 - variance / of_question)
    return remaining


def _z(difference: float, variance: float) -> float | None:
    return None if variance <= 1e-9 else float(difference / sqrt(variance))


def _table(rows: list[tuple[str, str, int, int, float | None, float | None]]) -> pa.Table:
    tested = [place for place, row in enumerate(rows) if row[5] is not None]
    p_values = np.array([erfc(abs(rows[place][5] or 0.0) / sqrt(2.0)) for place in tested])
    adjusted: list[float | None] = [None] * len(rows)
    for place, value in zip(tested, benjamini_hochberg(p_values).tolist(), strict=True):
        adjusted[place] = value
    return pa.table(
        {
            "document_id": pa.array([row[0] for row in rows], pa.string()),
            "topic": pa.array([row[1] for row in rows], pa.string()),
            "asked": pa.array([row[2] for row in rows], pa.int64()),
            "silent": pa.array([row[3] for row in rows], pa.int64()),
            "z_paper": pa.array([row[4] for row in rows], pa.float64()),
            "z": pa.array([row[5] for row in rows], pa.float64()),
            "p_adjusted": pa.array(adjusted, pa.float64()),
        }
    )
