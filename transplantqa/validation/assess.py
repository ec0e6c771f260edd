"""People's labels beside a run's: the tables that are kept, and the ratings that figures are made of."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from transplantqa.records import Label
from transplantqa.store.run_folder import RunFolder
from transplantqa.validation.annotations import Annotation, Annotations
from transplantqa.validation.judged import Judged, PairKey, judged_pairs, key_of
from transplantqa.validation.page import SIGNIFICANCES
from transplantqa.validation.ratings import DECIDED, Codes, Consensus, Ratings, coded, consensus
from transplantqa.validation.sample_folder import SampleFolder

SCALE = tuple(str(label) for label in Label)
SEVERITIES = tuple(SIGNIFICANCES)
NOBODY = Annotation(None, None, None)
BEFORE_THE_JUDGE = frozenset({"prescreen", "identical"})


@dataclass(frozen=True)
class Assessed:
    """A sample's pairs whose answers the run still has, with what everybody said of them.

    Args:
        pairs: rows of the sample's key, in order of question and documents.
        judged: what the run says of each.
        annotations: what people wrote.
        adjudicator: who of them decides disputes, if anybody.
        population: stratum to the number of its pairs.
        changed: sampled pairs left out, because the run has other answers or none.
    """

    pairs: Sequence[Mapping[str, Any]]
    judged: Mapping[PairKey, Judged]
    annotations: Annotations
    adjudicator: str | None
    population: Mapping[str, int]
    changed: int

    @cached_property
    def annotators(self) -> tuple[str, ...]:
        """The people whose labels are compared, sorted."""
        return tuple(sorted(name for name in self.annotations.said if name != self.adjudicator))

    @cached_property
    def labels(self) -> Ratings:
        """Labels of all pairs."""
        judge = [self.judged[key_of(row)] for row in self.pairs]
        screened = np.array([one.decided_by in BEFORE_THE_JUDGE for one in judge], dtype=np.bool_)
        said = coded([one.label for one in judge], SCALE)
        return self._ratings("label", SCALE, said, screened=screened, absent=SCALE.index(Label.ABSENT))

    @cached_property
    def severities(self) -> Ratings:
        """Significances; nobody has one of a pair they don't call a conflict."""
        judge = [self.judged[key_of(row)].significance for row in self.pairs]
        return self._ratings("significance", SEVERITIES, coded(judge, SEVERITIES))

    @cached_property
    def people(self) -> Consensus:
        """What people together say of each pair."""
        return consensus(self.labels.labels, len(SCALE), self.labels.adjudicator)

    def counts(self) -> dict[str, int]:
        """Return how pairs were decided, and what was left out and why."""
        ways = Counter(DECIDED[code] for code in self.people.decided)
        return {
            "pairs": len(self.pairs),
            "answers_changed": self.changed,
            "without_judge_label": int((self.labels.judge < 0).sum()),
            **{way: ways[way] for way in DECIDED},
        }

    def disputed(self) -> list[Mapping[str, Any]]:
        """Return the pairs that nobody has decided."""
        return [row for row, yes in zip(self.pairs, self.people.is_decided("disputed"), strict=True) if yes]

    def human_labels(self) -> list[dict[str, Any]]:
        """Return rows of ``store.tables.HUMAN_LABELS``: every annotator's of every pair, missing ones as null."""
        shared = ("question_id", "document_a", "document_b", "answer_a_sha256", "answer_b_sha256", "stratum")
        return [
            {
                "annotator": annotator,
                **{name: row[name] for name in (*shared, "inclusion_probability")},
                **{name: getattr(items.get(row["item"], NOBODY), name) for name in ("label", "significance", "note")},
            }
            for annotator, items in sorted(self.annotations.said.items())
            for row in self.pairs
        ]

    def reference(self) -> list[dict[str, Any]]:
        """Return one row a pair: what people together say, beside what the run says."""
        severity = consensus(self.severities.labels, len(SEVERITIES), self.severities.adjudicator)
        ratings = (self.labels.labels >= 0).sum(axis=1)
        kept = ("question_id", "document_a", "document_b", "answer_a_sha256", "answer_b_sha256", "stratum")
        return [
            {
                **{name: row[name] for name in (*kept, "inclusion_probability")},
                "stratum_pairs": self.population[row["stratum"]],
                "judge_label": self.judged[key_of(row)].label,
                "judge_significance": self.judged[key_of(row)].significance,
                "decided_by": self.judged[key_of(row)].decided_by,
                "label": _name(SCALE, self.people.codes[place]),
                "significance": _name(SEVERITIES, severity.codes[place]),
                "decided": DECIDED[self.people.decided[place]],
                "ratings": int(ratings[place]),
            }
            for place, row in enumerate(self.pairs)
        ]

    def _ratings(self, part: str, scale: tuple[str, ...], judge: Codes, **facts: Any) -> Ratings:
        strata = sorted(self.population)
        questions = sorted({row["question_id"] for row in self.pairs})
        columns = [self._codes(name, part, scale) for name in self.annotators]
        return Ratings(
            scale=scale,
            annotators=self.annotators,
            labels=np.stack(columns, axis=1) if columns else np.zeros((len(self.pairs), 0), np.int64),
            judge=judge,
            clusters=coded([row["question_id"] for row in self.pairs], questions),
            strata=coded([row["stratum"] for row in self.pairs], strata),
            population=np.array([self.population[name] for name in strata], dtype=np.float64),
            adjudicator=None if self.adjudicator is None else self._codes(self.adjudicator, part, scale),
            **facts,
        )

    def _codes(self, annotator: str, part: str, scale: tuple[str, ...]) -> Codes:
        items = self.annotations.said.get(annotator, {})
        said = (getattr(items.get(row["item"], NOBODY), part) for row in self.pairs)
        return coded([None if value is None else str(value) for value in said], scale)


def assess(run: RunFolder, sample: SampleFolder, annotations: Annotations, adjudicator: str | None) -> Assessed:
    """Put people's labels beside a run's."""
    judged = judged_pairs(run, sample.pairs)
    kept = sorted((row for row in sample.pairs if key_of(row) in judged), key=key_of)
    return Assessed(kept, judged, annotations, adjudicator, sample.population, len(sample.pairs) - len(kept))


def _name(scale: Sequence[str], code: int) -> str | None:
    return None if code < 0 else scale[code]
