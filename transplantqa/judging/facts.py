"""What a run's judging was like, besides its judgements: what is recorded, measured and said of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from transplantqa.judging.families import family_of, family_warning
from transplantqa.judging.noise import steadiness
from transplantqa.judging.protocols import DisagreementPolicy, Prescreen


@dataclass(frozen=True)
class JudgingFacts:
    """How a run's pairs came to be decided.

    Attributes:
        prescreen: decided pairs before the judge.
        disagreement: what is done where the orders of a pair get different labels.
        generator_model: the configuration of the generator's model, if it has one.
        judge_model: that of the judge's model.
    """

    prescreen: Prescreen
    disagreement: DisagreementPolicy
    generator_model: Mapping[str, Any] | None
    judge_model: Mapping[str, Any] | None

    def identity(self) -> dict[str, Any]:
        """What can change a comparison besides the judge's own method."""
        return {"prescreen": dict(self.prescreen.identity()), "disagreement": self.disagreement}

    def record(self) -> dict[str, Any]:
        """Return what ``run.json`` keeps of it, with the families of both models."""
        return {
            **self.identity(),
            "generator_family": family_of(self.generator_model),
            "judge_family": family_of(self.judge_model),
            "same_family": self.warning() is not None,
        }

    def warning(self) -> str | None:
        """Return the sentence to show where judge and generator are of one family."""
        return family_warning(self.generator_model, self.judge_model)

    def figures(
        self, answers: pa.Table, pairs: pa.Table, judgements: pa.Table, comparisons: pa.Table
    ) -> dict[str, float]:
        """Return the pre-screen's audit and the judge's steadiness."""
        return {**self.prescreen.audit(answers, pairs), **steadiness(comparisons, judgements)}
