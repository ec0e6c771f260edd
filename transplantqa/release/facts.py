"""What the card and the Croissant metadata say of a release beyond its settings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from transplantqa.store.run_folder import RunFolder


@dataclass(frozen=True)
class SplitFile:
    """One written file: rows and the bytes they take in memory."""

    config: str
    split: str
    path: str
    rows: int
    size_bytes: int


@dataclass(frozen=True)
class CardFacts:
    """What a card says beyond the settings: systems by split name, files, documents listed without text."""

    systems: Mapping[str, RunFolder]
    split_files: Sequence[SplitFile]
    withheld_documents: int
