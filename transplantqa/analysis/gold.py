"""A run measured against gold: did it tell silence from answers, find the sections, and label the pairs."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from transplantqa.analysis.agreement import Matrix, balanced_accuracy, cohen_kappa, confusion
from transplantqa.analysis.counts import Cells, CellState, IntArray, Mask, Pairs, find, read_cells, read_pairs
from transplantqa.analysis.measures import JUDGED_ABSENT, STATES_OF_LABEL, VISIBLE, group_of_state
from transplantqa.analysis.tables import AuditTables, Findings
from transplantqa.records import GoldEvidence, GoldPair, Label

CellKey = tuple[str, str]
Sections = Mapping[CellKey, Collection[str]]
LABELS = tuple(Label)
_LABEL_OF_STATE = group_of_state(STATES_OF_LABEL[label] for label in LABELS)


@dataclass(frozen=True)
class GoldFacts:
    """What people found, and where it is.

    Attributes:
        evidence: one row a cell, silent ones included.
        pairs: one row a pair.
        gold_sections: (question, document) to the ids of sections that hold the gold quotes; empty measures no recall.
        retrieved_sections: (question, document) to the ids of sections given to the generator.
    """

    evidence: Sequence[GoldEvidence]
    pairs: Sequence[GoldPair]
    gold_sections: Sections = field(default_factory=dict)
    retrieved_sections: Sections = field(default_factory=dict)


def gold_figures(tables: AuditTables, gold: GoldFacts) -> Findings:
    """Measure a run on gold.

    Failed and missing cells and undecided pairs are in no figure; ``gold_cells_missing`` and ``gold_pairs_undecided``
    count them. Every figure has its denominator ``_n``; an undefined one is absent.

    Returns:
        Flat figures (see ``docs/measures.md``), and tables ``silence_confusion``, ``label_confusion`` (every decided
        pair) and ``judge_confusion`` (pairs that both the run and gold answer).
    """
    cells = read_cells(tables)
    pairs, _ = read_pairs(cells, tables.comparisons)
    silence, missing = _silence(cells, gold.evidence)
    in_design, judged, undecided = _labels(cells, pairs, gold)
    metrics: dict[str, float | int] = {"gold_cells_missing": missing, "gold_pairs_undecided": undecided}
    metrics |= _silence_figures(silence)
    metrics |= section_figures(gold.gold_sections, gold.retrieved_sections)
    metrics |= in_design.figures("pair_label") | judged.figures("judge_gold")
    names = ("addressed", "silent")
    return Findings(
        metrics=metrics,
        tables={
            "silence_confusion": _matrix_table(silence, names, ("answered", "silent")),
            "label_confusion": _matrix_table(in_design.matrix, LABELS, LABELS),
            "judge_confusion": _matrix_table(judged.matrix, LABELS, LABELS),
        },
    )


def _silence(cells: Cells, evidence: Sequence[GoldEvidence]) -> tuple[Matrix, int]:
    """Return counts of (gold silent?, run silent?) and the number of gold cells that failed or aren't there."""
    at, there = _cell_positions(cells, [(row.question_id, row.document_id) for row in evidence])
    silent = np.array([row.silent for row in evidence], dtype=np.int64)
    state = cells.state[at[there]]
    usable = state != CellState.FAILED
    run_silent = (state[usable] != CellState.ANSWERED).astype(np.int64)
    return confusion(silent[there][usable], run_silent, 2), len(evidence) - int(usable.sum())


def _silence_figures(matrix: Matrix) -> dict[str, float | int]:
    (answered, false_silence), (invented, silence) = matrix.tolist()
    total = int(matrix.sum())
    metrics: dict[str, float | int] = {"absence_balanced_accuracy_n": total}
    balanced = balanced_accuracy(matrix)
    if balanced is not None:
        metrics["absence_balanced_accuracy"] = balanced
    return (
        metrics
        | _share("absence_accuracy", answered + silence, total)
        | _share("silence_precision", silence, silence + false_silence)
        | _share("silence_recall", silence, silence + invented)
        | _share("false_silence_rate", false_silence, answered + false_silence)
        | _share("invented_answer_rate", invented, silence + invented)
    )


def section_figures(gold: Sections, retrieved: Sections) -> dict[str, float | int]:
    """Return the mean share of gold sections retrieved, and the share of cells with one of them at least.

    Over cells with a gold section; a cell with nothing retrieved counts as zero, even when silence was decided there.
    """
    cells = [key for key in sorted(gold) if gold[key]]
    if not retrieved:
        cells = []
    found = [len(set(gold[key]) & set(retrieved.get(key, ()))) for key in cells]
    recall = sum(hits / len(set(gold[key])) for key, hits in zip(cells, found, strict=True))
    return _share("section_recall", recall, len(cells)) | _share("section_hit_rate", sum(map(bool, found)), len(cells))


@dataclass(frozen=True)
class _LabelAgreement:
    matrix: Matrix
    acceptable: int

    def figures(self, prefix: str) -> dict[str, float | int]:
        """Return accuracy, kappa, and recall and precision by label, named with the prefix."""
        total = int(self.matrix.sum())
        kappa = cohen_kappa(self.matrix)
        metrics = _share(f"{prefix}_accuracy", self.acceptable, total)
        metrics |= _share(f"{prefix}_primary_accuracy", int(np.trace(self.matrix)), total)
        metrics[f"{prefix}_kappa_n"] = total
        if kappa is not None:
            metrics[f"{prefix}_kappa"] = kappa
        for place, label in enumerate(LABELS):
            metrics |= _share(f"{prefix}_recall/{label}", int(self.matrix[place, place]), int(self.matrix[place].sum()))
            metrics |= _share(
                f"{prefix}_precision/{label}", int(self.matrix[place, place]), int(self.matrix[:, place].sum())
            )
        return metrics


def _labels(cells: Cells, pairs: Pairs, gold: GoldFacts) -> tuple[_LabelAgreement, _LabelAgreement, int]:
    """Return agreement over every decided pair, over those that the run and gold both answer, and the undecided."""
    at, there = _pair_positions(cells, pairs, gold.pairs)
    rows = np.flatnonzero(there)
    state = pairs.state[at[rows]]
    label = _LABEL_OF_STATE[state]
    decided = label >= 0
    rows, state, label = rows[decided], state[decided], label[decided]
    reference = np.array([LABELS.index(gold.pairs[row].label) for row in rows.tolist()], dtype=np.int64)
    accepted = np.array(
        [
            LABELS[given] in {gold.pairs[row].label, *gold.pairs[row].also_acceptable}
            for row, given in zip(rows.tolist(), label.tolist(), strict=True)
        ],
        dtype=np.bool_,
    )
    judged = np.isin(state, [*VISIBLE, *JUDGED_ABSENT]) & (reference != LABELS.index(Label.ABSENT))
    everything = _LabelAgreement(confusion(reference, label, len(LABELS)), int(accepted.sum()))
    both = _LabelAgreement(confusion(reference[judged], label[judged], len(LABELS)), int(accepted[judged].sum()))
    return everything, both, len(gold.pairs) - len(rows)


def _cell_positions(cells: Cells, keys: Sequence[CellKey]) -> tuple[IntArray, Mask]:
    question, document = _places(cells)
    stride = len(cells.document_ids)
    wanted = np.array([_key(question.get(q, -1), stride, document.get(d, -1)) for q, d in keys], dtype=np.int64)
    return find(cells.keys, wanted)


def _pair_positions(cells: Cells, pairs: Pairs, gold: Sequence[GoldPair]) -> tuple[IntArray, Mask]:
    question, document = _places(cells)
    stride = len(cells.document_ids)
    wanted = []
    for row in gold:
        a, b = sorted((document.get(row.document_a, -1), document.get(row.document_b, -1)))
        wanted.append(_key(_key(question.get(row.question_id, -1), stride, a), stride, b))
    return find(cells.pair_keys(pairs.question, pairs.a, pairs.b), np.array(wanted, dtype=np.int64))


def _places(cells: Cells) -> tuple[dict[str, int], dict[str, int]]:
    questions = {name: place for place, name in enumerate(cells.question_ids)}
    return questions, {name: place for place, name in enumerate(cells.document_ids)}


def _key(first: int, stride: int, second: int) -> int:
    return -1 if first < 0 or second < 0 else first * stride + second


def _share(name: str, events: float, units: int) -> dict[str, float | int]:
    return {f"{name}_n": units} | ({name: events / units} if units else {})


def _matrix_table(matrix: Matrix, rows: Sequence[str], columns: Sequence[str]) -> pa.Table:
    return pa.table(
        {
            "gold": pa.array([str(row) for row in rows for _ in columns], pa.string()),
            "run": pa.array([str(column) for _ in rows for column in columns], pa.string()),
            "count": pa.array(matrix.ravel().tolist(), pa.int64()),
        }
    )
