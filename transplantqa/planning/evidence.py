"""How long the evidence of a cell will be, before anything was retrieved: from the retriever's own limits."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from transplantqa.records import Document


@dataclass(frozen=True)
class Expected:
    """Tokens (word pieces) of a document's evidence at most, and whether each question is shown the same."""

    tokens: float
    is_whole_document: bool


def expected_evidence(retriever: Mapping[str, Any], chunk_tokens: int, document: Document | None) -> Expected | None:
    """Return what a retriever may show of a document at most; null where nothing limits it and the length is unknown.

    Args:
        retriever: its configuration: ``evidence_tokens``, ``top_k``, ``passage``, ``passage_tokens`` and
            ``route_max_chars`` are understood; one without them shows the document whole.
        chunk_tokens: of the corpus' chunks.
        document: null where it was not read yet.
    """
    budget = _number(retriever, "evidence_tokens")
    if document is not None and _goes_whole(retriever, budget, document):
        return Expected(document.tokens, is_whole_document=True)
    limits = [limit for limit in (budget, _ranked(retriever, chunk_tokens)) if limit is not None]
    if document is not None:
        limits.append(document.tokens)
    return Expected(min(limits), is_whole_document=False) if limits else None


def _goes_whole(retriever: Mapping[str, Any], budget: int | None, document: Document) -> bool:
    if budget is None and _number(retriever, "top_k") is None:
        return True
    longest = _number(retriever, "route_max_chars")
    return longest is not None and document.characters <= longest and document.tokens <= (budget or document.tokens)


def _ranked(retriever: Mapping[str, Any], chunk_tokens: int) -> int | None:
    """Return the most tokens of the best chunks, each as it is or expanded to its section."""
    chunks = _number(retriever, "top_k")
    if chunks is None:
        return None
    expands = retriever.get("passage", "section") == "section"
    each = _number(retriever, "passage_tokens") if expands else None
    return chunks * (each or chunk_tokens)


def _number(config: Mapping[str, Any], key: str) -> int | None:
    value = config.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
