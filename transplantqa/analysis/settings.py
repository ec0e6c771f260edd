"""What an analysis can be told."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from transplantqa.models.protocols import Embedder

Share = Annotated[float, Field(ge=0.0, le=1.0)]
CosineDistance = Annotated[float, Field(ge=0.0, le=2.0)]
SeverityWeights = dict[Literal["low", "medium", "high"], Annotated[float, Field(ge=0.0, le=1.0)]]

DEFAULT_SEVERITY_WEIGHTS: Mapping[str, float] = {"low": 1 / 3, "medium": 2 / 3, "high": 1.0}


class Analysis:
    """The settings of the measures; ``conf/analysis/default.yaml`` says where each value comes from.

    Args:
        bootstrap_replicates: resamples of the questions behind each interval; 0 computes none.
        confidence: coverage aimed at by intervals.
        seed: of every random draw.
        exploratory_below_clusters: intervals over fewer questions (or institutions) are labelled exploratory.
        rarefaction_pairs: visible pairs drawn from each question for the rarefied any-divergence.
        severity_weights: significance to weight in the severity-weighted divergence; one left out keeps its default.
        broad_agreement_min_questions: questions both documents address before their broad agreement is computed.
        permutations: relabellings of institutions in the test of broad agreement; 0 makes none.
        spanning_phases: phases compatible with every other.
        embedder: embeds divergence topics; none: no themes are made.
        theme_distance: cosine distance up to which topics are joined to a theme.
        theme_other_distances: at which the themes' stability is shown.
        prediction_min_visible_pairs: of a question whose divergence is to be predicted.
        prediction_min_questions: below so many of them nothing is predicted.
        min_absence_balanced_accuracy: below it the answers are no instrument.
        min_judge_kappa: below it the judge is no instrument.
        min_support_rate: share of answers supported by their evidence; below it the answers are no instrument.
        min_parse_success_rate: below it the judge is no instrument.
        max_failure_rate: share of failed units above which the run is no instrument.
    """

    def __init__(  # noqa: PLR0913 - a configuration's keys
        self,
        *,
        bootstrap_replicates: Annotated[int, Field(ge=0, le=1_000_000)] = 1000,
        confidence: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.95,
        seed: Annotated[int, Field(ge=0)] = 0,
        exploratory_below_clusters: Annotated[int, Field(ge=2)] = 30,
        rarefaction_pairs: Annotated[int, Field(ge=1)] = 5,
        severity_weights: SeverityWeights | None = None,
        broad_agreement_min_questions: Annotated[int, Field(ge=1)] = 20,
        permutations: Annotated[int, Field(ge=0, le=1_000_000)] = 1000,
        spanning_phases: tuple[str, ...] = (),
        embedder: Embedder | None = None,
        theme_distance: CosineDistance = 0.35,
        theme_other_distances: tuple[CosineDistance, ...] = (0.3, 0.4),
        prediction_min_visible_pairs: Annotated[int, Field(ge=1)] = 30,
        prediction_min_questions: Annotated[int, Field(ge=20)] = 100,
        min_absence_balanced_accuracy: Share = 0.8,
        min_judge_kappa: Annotated[float, Field(ge=-1.0, le=1.0)] = 0.6,
        min_support_rate: Share = 0.9,
        min_parse_success_rate: Share = 0.95,
        max_failure_rate: Share = 0.05,
    ) -> None:
        self.bootstrap_replicates = bootstrap_replicates
        self.confidence = confidence
        self.seed = seed
        self.exploratory_below_clusters = exploratory_below_clusters
        self.rarefaction_pairs = rarefaction_pairs
        self.severity_weights: dict[str, float] = dict(DEFAULT_SEVERITY_WEIGHTS)
        self.severity_weights |= {str(name): weight for name, weight in (severity_weights or {}).items()}
        self.broad_agreement_min_questions = broad_agreement_min_questions
        self.permutations = permutations
        self.spanning_phases = tuple(spanning_phases)
        self.embedder = embedder
        self.theme_distance = theme_distance
        self.theme_other_distances = tuple(theme_other_distances)
        self.prediction_min_visible_pairs = prediction_min_visible_pairs
        self.prediction_min_questions = prediction_min_questions
        self.min_absence_balanced_accuracy = min_absence_balanced_accuracy
        self.min_judge_kappa = min_judge_kappa
        self.min_support_rate = min_support_rate
        self.min_parse_success_rate = min_parse_success_rate
        self.max_failure_rate = max_failure_rate

    def identity(self) -> dict[str, Any]:
        """Return every setting: each can change a figure or what is said of it."""
        told = {name: list(value) if isinstance(value, tuple) else value for name, value in vars(self).items()}
        return told | {"embedder": None if self.embedder is None else dict(self.embedder.identity())}
