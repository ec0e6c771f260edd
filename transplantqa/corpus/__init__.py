"""From files to documents, sections and chunks with a verdict; questions; which question is asked of which document.

Names load when they are asked for, so that the process that reads documents stays small and quick to start.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from transplantqa.corpus.plan import plan

if TYPE_CHECKING:
    from transplantqa.corpus.folder import Folder
    from transplantqa.corpus.hub_questions import HubQuestions
    from transplantqa.corpus.ingested import IngestedDocument, SourceFile
    from transplantqa.corpus.protocols import Corpus, QuestionSource
    from transplantqa.corpus.questions import QuestionFile
    from transplantqa.corpus.stage_rows import from_row, to_row

__all__ = [
    "Corpus",
    "Folder",
    "HubQuestions",
    "IngestedDocument",
    "QuestionFile",
    "QuestionSource",
    "SourceFile",
    "from_row",
    "plan",
    "to_row",
]

_HOMES = {
    "Corpus": "protocols",
    "Folder": "folder",
    "HubQuestions": "hub_questions",
    "IngestedDocument": "ingested",
    "QuestionFile": "questions",
    "QuestionSource": "protocols",
    "SourceFile": "ingested",
    "from_row": "stage_rows",
    "to_row": "stage_rows",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
