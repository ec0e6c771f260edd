"""Experiment tracking: a projection of finished run folders that can be made again at any time."""

from transplantqa.tracking.mlflow_tracker import MLflow
from transplantqa.tracking.protocols import NoTracking, TrackedRun, Tracker

__all__ = ["MLflow", "NoTracking", "TrackedRun", "Tracker"]
