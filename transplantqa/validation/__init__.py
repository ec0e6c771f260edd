"""Whether the judge is an instrument: pairs sampled for people, what people said, and how far the judge agrees."""

from transplantqa.validation.record import (
    NOT_VALIDATED,
    Validation,
    describe,
    describe_run,
    flat_metrics,
    measured,
    of_run,
    record_of,
    reference_labels,
)
from transplantqa.validation.resampling import Bootstrap
from transplantqa.validation.sampling import SampleDesign

__all__ = [
    "NOT_VALIDATED",
    "Bootstrap",
    "SampleDesign",
    "Validation",
    "describe",
    "describe_run",
    "flat_metrics",
    "measured",
    "of_run",
    "record_of",
    "reference_labels",
]
