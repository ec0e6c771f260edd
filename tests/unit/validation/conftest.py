"""Ratings made by hand."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from transplantqa.records import Label
from transplantqa.store.run_folder import RunFolder
from transplantqa.store.tables import COMPARISONS, JUDGEMENTS
from transplantqa.validation.ratings import Ratings

SCALE = tuple(str(label) for label in Label)
PAPER = np.array(
    [
        [39, 0, 0, 0, 0],
        [0, 17, 1, 0, 0],
        [0, 6, 20, 8, 0],
        [0, 0, 2, 12, 0],
        [0, 0, 0, 1, 40],
    ]
)
"""Published validation of the original judge: rows people, columns judge, in the order of ``Label``."""


def make_ratings(labels: Any, judge: Any, **changes: Any) -> Ratings:
    """Return ratings in which every pair is a question of its own and the judge's label its stratum."""
    said = np.asarray(judge)
    given = np.asarray(labels)
    given = given[:, None] if given.ndim == 1 else given
    scale: Sequence[str] = changes.pop("scale", SCALE)
    facts: dict[str, Any] = {
        "scale": tuple(scale),
        "annotators": tuple(f"r{place + 1}" for place in range(given.shape[1])),
        "labels": given,
        "judge": said,
        "clusters": np.arange(len(said)),
        "strata": np.maximum(said, 0),
        "population": np.ones(len(scale)),
    }
    return Ratings(**{**facts, **changes})


def unfolded(matrix: Any) -> tuple[Any, Any]:
    """Return the two label sequences of a confusion matrix."""
    rows, columns = np.nonzero(matrix)
    times = np.asarray(matrix)[rows, columns]
    return np.repeat(rows, times), np.repeat(columns, times)


@pytest.fixture
def rated() -> Callable[..., Ratings]:
    """A maker of ratings: labels by pair and annotator, the judge's labels, and any other field."""
    return make_ratings


@pytest.fixture
def paper_ratings() -> Ratings:
    """Two annotators who agree on the published 146 pairs, and dispute the other 54 of 40 pairs a judge's label."""
    people, judge = unfolded(PAPER)
    left = 40 - PAPER.sum(axis=0)
    disputed = np.repeat(np.arange(5), left)
    first = np.concatenate([people, disputed])
    second = np.concatenate([people, (disputed + 1) % 5])
    return make_ratings(np.stack([first, second], axis=1), np.concatenate([judge, disputed]), absent=0)


INSTITUTIONS = ("Alpha Clinic", "Beta Hospital", "Gamma Center")
CYCLE = ("CONSISTENT", "COMPLEMENTARY", "DIVERGENT", "CONTRADICTORY")


@dataclass(frozen=True)
class Audit:
    """A finished run in an artifacts folder: every question answered by every document, but the last of each silent."""

    artifacts: Path
    write: Any
    questions: int
    documents: int

    def __call__(self, system: str = "baseline", judge: str = "c" * 64, shift: int = 0, **texts: str) -> RunFolder:
        """Write a run; ``shift`` changes the judge's labels, ``texts`` the answer of a cell ``q1__doc0``."""
        names = [f"doc{place}" for place in range(self.documents)]
        asked = [f"q{place + 1}" for place in range(self.questions)]
        document, question = self.write.rows["documents"][0], self.write.rows["questions"][1]
        answer = self.write.rows["answers"][1]
        documents = [
            {**document, "document_id": name, "title": f"Guide {name}", "institution": INSTITUTIONS[place % 3]}
            for place, name in enumerate(names)
        ]
        answers = [
            {
                **answer,
                "question_id": q,
                "document_id": d,
                "text": texts.get(f"{q}__{d}", self._text(q, d)),
                "outcome": "ok",
            }
            for q in asked
            for d in names
        ]
        comparisons, judgements = [], []
        for place, (q, (a, b)) in enumerate((q, pair) for q in asked for pair in combinations(names, 2)):
            silent = b == names[-1]
            label = "ABSENT" if silent else CYCLE[(place + shift) % 4]
            rated = "high" if label in {"DIVERGENT", "CONTRADICTORY"} else None
            facts = {"question_id": q, "document_a": a, "document_b": b, "outcome": "ok", "label": label}
            decided = {"decided_by": "prescreen" if silent else "judge", "significance": rated}
            comparisons.append({**dict.fromkeys(COMPARISONS.schema.names), **facts, **decided})
            if not silent:
                calls = {"seconds": 2.0, "prompt_tokens": 100, "cached_tokens": 10, "completion_tokens": 20, "raw": ""}
                unit = {
                    "variant": "default",
                    "shown_first": "a",
                    "replicate": 0,
                    "attempt": 1,
                    "inputs_sha256": "0" * 64,
                }
                judgements.append({**dict.fromkeys(JUDGEMENTS.schema.names), **facts, **calls, **unit})
        rows = {
            "documents": documents,
            "questions": [{**question, "question_id": q, "text": f"Question {q}?"} for q in asked],
            "answers": answers,
            "comparisons": comparisons,
            "judgements": judgements,
        }
        run = self.write(system, run_id=f"{system}-run", rows=rows)
        facts = {"created": "2026-01-01T00:00:00+00:00", "plan_sha256": "0" * 64}
        record = {**run.record, **facts, "fingerprints": {"generate": "f" * 64, "compare": judge}}
        (run.path / "run.json").write_text(json.dumps(record), encoding="utf-8")
        return RunFolder(run.path)

    def _text(self, question: str, document: str) -> str:
        return f"Alpha Clinic says {document} of {question}." + " More words." * int(document[3:])


@pytest.fixture
def audit(tmp_path: Path, write_run: Any) -> Audit:
    """A writer of finished runs of 8 questions and 6 documents of 3 institutions, in an artifacts folder."""
    write_run.folder = tmp_path / "artifacts" / "runs"
    return Audit(tmp_path / "artifacts", write_run, 8, 6)
