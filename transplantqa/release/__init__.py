"""The release: finished runs as a Hugging Face dataset folder."""

from transplantqa.release.build import ReleaseSummary, build_release
from transplantqa.release.settings import ReleaseSettings

__all__ = ["ReleaseSettings", "ReleaseSummary", "build_release"]
