"""What evidence is made from: the hash of the question's text and the document's content."""

from collections.abc import Callable
from pathlib import Path

from transplantqa.records import Question
from transplantqa.retrieval import BM25, SourceDocument
from transplantqa.signals import StopRequest
from transplantqa.stages import Readings, content_sha256, plan_evidence
from transplantqa.store import WHOLE, digest
from transplantqa.workshop import Workshop


def test_a_cell_is_made_from_its_question_and_its_documents_content(
    guide: SourceDocument, make_source: Callable[..., SourceDocument], tmp_path: Path
) -> None:
    questions = {"q": Question("q", 'Is "2 mg" \u00e9nough?\n'), "r": Question("r", "Travel?")}
    sources = {"doc": guide, "other": make_source([("Food", ["Eat well."])], "other")}
    shop = Workshop(tmp_path, frozenset(), WHOLE, (), StopRequest())
    stage = plan_evidence(shop, BM25(), [("q", "doc"), ("r", "other")], Readings(sources, questions))
    expected = [
        digest([questions[question].text, content_sha256(sources[document])])
        for question, document in (("q", "doc"), ("r", "other"))
    ]
    assert stage.planned["inputs_sha256"].to_pylist() == expected
