"""Pre-screens: which pairs are decided before a judge is asked, and an account of what they decided."""

from typing import Annotated

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pydantic import Field

from transplantqa.judging.pairs import IdenticalPolicy, enumerate_pairs
from transplantqa.judging.silence_classifier import SilenceClassifier
from transplantqa.models.protocols import Identity
from transplantqa.records import SILENT_OUTCOMES, Outcome

Verdicts = NDArray[np.bool_]


class RulePrescreen:
    """The rule: a cell's outcome says whether it is silent; a pair with a silent side and none failed is ABSENT.

    Args:
        identical: what is done with two answers of the same words: ``judge`` them, or call them ``consistent``.
    """

    def __init__(self, *, identical: IdenticalPolicy = "judge") -> None:
        self._identical: IdenticalPolicy = identical

    def identity(self) -> Identity:
        """The rule, and what is done with identical answers."""
        return {"prescreen": "rule", "identical": self._identical}

    def pairs(self, answers: pa.Table) -> pa.Table:
        """Return every pair with what is decided of it."""
        return enumerate_pairs(answers, identical=self._identical)

    def audit(self, answers: pa.Table, pairs: pa.Table) -> dict[str, float]:
        """Return the share of pairs decided, by silence and as identical, and of pairs with a failed side."""
        return decided_shares(answers, pairs)


class ClassifierPrescreen:
    """The rule, and beside it a binary classifier that finds silence in answers the rule takes for answers.

    An answered cell that the classifier calls silent makes its pairs ABSENT; the cell's own outcome stays, so that
    absence rates of cells are the rule's, and the audit counts where the two differ.

    Args:
        labels: CSV with columns ``text`` and ``silent`` (yes, no) that the classifier learns from, in any language.
        silent_from: probability of silence from which an answer counts as silent.
        identical: what is done with two answers of the same words.
    """

    def __init__(
        self,
        *,
        labels: str,
        silent_from: Annotated[float, Field(gt=0.0, le=1.0)] = 0.5,
        identical: IdenticalPolicy = "judge",
    ) -> None:
        self._classifier = SilenceClassifier(labels)
        self._silent_from = silent_from
        self._identical: IdenticalPolicy = identical

    def identity(self) -> Identity:
        """What the classifier learned from, its library, the threshold, and what is done with identical answers."""
        return {
            "prescreen": "classifier",
            **self._classifier.identity(),
            "silent_from": self._silent_from,
            "identical": self._identical,
        }

    def pairs(self, answers: pa.Table) -> pa.Table:
        """Return every pair with what is decided of it."""
        found = pc.if_else(pa.array(self._finds(answers)), str(Outcome.ABSTAINED), answers["outcome"])
        at = answers.schema.get_field_index("outcome")
        return enumerate_pairs(answers.set_column(at, "outcome", found), identical=self._identical)

    def audit(self, answers: pa.Table, pairs: pa.Table) -> dict[str, float]:
        """Return the rule's shares, and how often the classifier differs from the rule on answers and on silence."""
        figures = decided_shares(answers, pairs)
        answered = _has(answers, {Outcome.OK})
        abstained = _has(answers, {Outcome.ABSTAINED})
        silent = self._classifier.silence(answers["text"].to_pylist()) >= self._silent_from
        _share(figures, "prescreen_silence_found", int((answered & silent).sum()), int(answered.sum()))
        _share(figures, "prescreen_silence_doubted", int((abstained & ~silent).sum()), int(abstained.sum()))
        return figures

    def _finds(self, answers: pa.Table) -> Verdicts:
        """Say of each answered cell whether the classifier calls it silent."""
        answered = _has(answers, {Outcome.OK})
        found = np.zeros(len(answers), dtype=np.bool_)
        texts = answers["text"].filter(pa.array(answered)).to_pylist()
        found[answered] = self._classifier.silence(texts) >= self._silent_from
        return found


RULE = RulePrescreen()


def decided_shares(answers: pa.Table, pairs: pa.Table) -> dict[str, float]:
    """Return the shares that every pre-screen's audit begins with."""
    figures: dict[str, float] = {}
    for name in ("prescreen", "identical"):
        decided = pc.sum(pc.equal(pairs["decided_by"], name)).as_py() or 0
        _share(figures, f"{name}_pairs", decided, len(pairs))
    failed = pc.sum(pc.and_(pc.is_valid(pairs["outcome"]), pc.is_null(pairs["label"]))).as_py() or 0
    _share(figures, "prescreen_failed_pairs", failed, len(pairs))
    silent = int(_has(answers, SILENT_OUTCOMES).sum())
    _share(figures, "prescreen_silent_cells", silent, len(answers))
    return figures


def _has(answers: pa.Table, outcomes: frozenset[Outcome] | set[Outcome]) -> Verdicts:
    wanted = pa.array(sorted(str(outcome) for outcome in outcomes))
    return np.asarray(pc.is_in(answers["outcome"].combine_chunks(), value_set=wanted), dtype=np.bool_)


def _share(figures: dict[str, float], name: str, count: int, of: int) -> None:
    figures[f"{name}_n"] = of
    if of:
        figures[name] = count / of
