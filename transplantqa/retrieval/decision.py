"""What becomes of the candidates: silence, chosen passages, or a failure, with the reason beside each."""

from collections.abc import Mapping
from dataclasses import dataclass

from transplantqa.records import Candidate, Evidence, Outcome, Passage, Question, Route
from transplantqa.retrieval.indexed import IndexedDocument
from transplantqa.retrieval.passages import PassagePolicy, assemble, focus_on
from transplantqa.retrieval.search import Found
from transplantqa.retrieval.terms import TermAnalyzer

NO_TEXT = "the document has no text to search"
NOTHING_FOUND = "no chunk matches the question"


@dataclass(frozen=True)
class ChoicePolicy:
    """How many candidates are chosen and when none is.

    Args:
        top_k: chunks chosen.
        silence_below: confidence under which the document counts as silent; 0 never does.
        passages: what is shown of the chosen chunks.
    """

    top_k: int
    silence_below: float
    passages: PassagePolicy


def decide(found: Found, document: IndexedDocument, policy: ChoicePolicy, analyzer: TermAnalyzer) -> Evidence:
    """Return the evidence: the failure's reason, silence, or the passages of the ``top_k`` best candidates."""
    return without_passages(found, document, policy.silence_below) or retrieved(found, document, policy, analyzer)


def without_passages(found: Found, document: IndexedDocument, silence_below: float) -> Evidence | None:
    """Return the evidence of a question that gets no passages, failed or silent; None for one that does."""
    name = document.document_id
    if found.error is not None:
        return failed(found.question, name, found.error)
    if not found.positions:
        return silent(found.question, name, NOTHING_FOUND, confidence=found.confidence)
    if found.confidence is not None and found.confidence < silence_below:
        why = f"the document seems silent: confidence {found.confidence:.3f} is below {silence_below:g}"
        return silent(found.question, name, why, audit(found, document, {}, f"dropped: {why}"), found.confidence)
    return None


def retrieved(found: Found, document: IndexedDocument, policy: ChoicePolicy, analyzer: TermAnalyzer) -> Evidence:
    """Return the passages of the ``top_k`` best candidates, as far as the budget goes."""
    chosen = found.positions[: policy.top_k]
    assembly = assemble(document, chosen, policy.passages, focus_on(found.question.text, analyzer))
    trail = audit(found, document, assembly.why, f"dropped: below the top {policy.top_k}")
    name = document.document_id
    return answerable(found.question, name, "retrieved", assembly.passages, trail, found.confidence)


def answerable(
    question: Question,
    document_id: str,
    route: Route,
    passages: tuple[Passage, ...],
    trail: tuple[Candidate, ...] = (),
    confidence: float | None = None,
) -> Evidence:
    """Return evidence for the generator to read."""
    return Evidence(
        question_id=question.question_id,
        document_id=document_id,
        route=route,
        passages=passages,
        candidates=trail,
        top_score=confidence,
        tokens=sum(passage.tokens for passage in passages),
        outcome=Outcome.OK,
    )


def silent(
    question: Question,
    document_id: str,
    why: str,
    trail: tuple[Candidate, ...] = (),
    confidence: float | None = None,
) -> Evidence:
    """Return the retriever's verdict that the document doesn't address the question; ``error`` says why."""
    return Evidence(
        question.question_id, document_id, "retrieved", (), trail, confidence, 0, Outcome.EMPTY_RETRIEVAL, why
    )


def failed(question: Question, document_id: str, reason: str) -> Evidence:
    """Return a failed unit with its reason."""
    return Evidence(question.question_id, document_id, "retrieved", (), (), None, 0, Outcome.ENGINE_ERROR, reason)


def audit(found: Found, document: IndexedDocument, why: Mapping[int, str], otherwise: str) -> tuple[Candidate, ...]:
    """Return the candidates best first; those without a word of their own get ``otherwise``."""
    words = [why.get(position, otherwise) for position in found.positions]
    return tuple(
        Candidate(
            chunk_id=document.chunks[position].chunk_id,
            rankers=rankers,
            fused_score=fused,
            rerank_score=found.reranked.get(position),
            kept=word.startswith("kept"),
            why=word,
        )
        for position, fused, rankers, word in zip(found.positions, found.fused, found.rankers, words, strict=True)
    )
