"""How well a retriever finds what a person quoted, and tells silent documents from addressing ones."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from transplantqa.corpus.gold import quotes_in_sections
from transplantqa.records import Evidence, GoldEvidence, Outcome, Section

RECALL_DEPTHS = (1, 3, 5, 10)


@dataclass(frozen=True, slots=True)
class Measure:
    """A mean and how many cells or pairs it is over; ``value`` is None over none."""

    value: float | None
    n: int


@dataclass(frozen=True, slots=True)
class RetrievalCell:
    """One evidence beside its gold.

    ``holders`` and ``shown`` are, for each quote that some section holds, the ids of those sections, and whether a
    passage shows it; ``located`` is, for every quote, whether some section holds it.
    """

    evidence: Evidence
    silent: bool
    holders: tuple[frozenset[str], ...]
    shown: tuple[bool, ...]
    located: tuple[bool, ...]
    sections: tuple[str, ...]
    """The sections of the candidates, best first, each once."""

    def recall(self, depth: int) -> float:
        """Share of quotes held by one of the ``depth`` best sections."""
        best = set(self.sections[:depth])
        return float(np.mean([not best.isdisjoint(holders) for holders in self.holders]))

    def reciprocal_rank(self) -> float:
        """One over the rank of the first section that holds a quote, 0 if none does."""
        wanted = frozenset().union(*self.holders)
        return next((1 / rank for rank, section in enumerate(self.sections, start=1) if section in wanted), 0.0)


def pair_with_gold(
    evidence: Iterable[Evidence],
    gold: Iterable[GoldEvidence],
    sections: Mapping[str, Sequence[Section]],
    chunk_sections: Mapping[str, str],
) -> list[RetrievalCell]:
    """Put each evidence that has gold beside it; failed evidence is left out.

    Args:
        evidence: of any retriever.
        gold: of the same questions and documents.
        sections: document id to its sections.
        chunk_sections: chunk id to section id.
    """
    wanted = {(one.question_id, one.document_id): one for one in gold}
    cells = []
    for one in evidence:
        cell = wanted.get((one.question_id, one.document_id))
        if cell is not None and one.outcome is not Outcome.ENGINE_ERROR:
            cells.append(_cell(one, cell, sections[one.document_id], chunk_sections))
    return cells


def measure_retrieval(cells: Sequence[RetrievalCell]) -> dict[str, Measure]:
    """Return the measures by name.

    ``section_recall_at_k`` and ``section_mrr`` are over addressed cells that were searched: what ranking found,
    whatever was shown of it. ``evidence_recall`` is the share of quotes shown, over all addressed cells, so that
    silence decided wrongly costs it. ``silence_auc`` is the chance that an addressed cell's top score is above a silent
    one's (a tie is half), over pairs of one each; ``silence_accuracy`` the share of cells where the retriever's verdict
    is gold's. ``quotes_located`` is the share of gold's quotes that some section holds; the others are in no recall.
    """
    addressed = [cell for cell in cells if not cell.silent and cell.holders]
    searched = [cell for cell in addressed if cell.sections]
    silent = [cell for cell in cells if cell.silent]
    measures = {f"section_recall_at_{k}": _mean(cell.recall(k) for cell in searched) for k in RECALL_DEPTHS}
    return measures | {
        "section_mrr": _mean(cell.reciprocal_rank() for cell in searched),
        "evidence_recall": _mean(float(np.mean(cell.shown)) for cell in addressed),
        "evidence_tokens": _mean(cell.evidence.tokens for cell in cells if cell.evidence.passages),
        "quotes_located": _mean(located for cell in cells for located in cell.located),
        "silence_auc": separation(_scores(cell for cell in cells if not cell.silent), _scores(silent)),
        "silence_accuracy": _mean(_is_empty(cell) == cell.silent for cell in cells),
        "false_silence_rate": _mean(_is_empty(cell) for cell in cells if not cell.silent),
        "missed_silence_rate": _mean(not _is_empty(cell) for cell in silent),
        "routed_share": _mean(cell.evidence.route == "full_document" for cell in cells),
        "fallback_share": _mean(cell.evidence.route == "fallback" for cell in cells),
    }


def separation(higher: Sequence[float], lower: Sequence[float]) -> Measure:
    """Return the area under the ROC curve: the share of pairs in the right order, a tie counting half."""
    pairs = len(higher) * len(lower)
    if not pairs:
        return Measure(None, 0)
    difference = np.subtract.outer(np.asarray(higher), np.asarray(lower))
    return Measure(float(((difference > 0) + 0.5 * (difference == 0)).mean()), pairs)


def _cell(
    evidence: Evidence, gold: GoldEvidence, sections: Sequence[Section], chunk_sections: Mapping[str, str]
) -> RetrievalCell:
    by_id = {section.section_id: section for section in sections}
    shown = [
        replace(by_id[one.section_id], text=by_id[one.section_id].text[one.char_start : one.char_end])
        for one in evidence.passages
    ]
    in_document = quotes_in_sections(gold.quotes, sections)
    in_evidence = quotes_in_sections(gold.quotes, shown)
    found = [quote for quote in gold.quotes if in_document[quote]]
    return RetrievalCell(
        evidence,
        gold.silent,
        tuple(frozenset(in_document[quote]) for quote in found),
        tuple(bool(in_evidence[quote]) for quote in found),
        tuple(bool(in_document[quote]) for quote in gold.quotes),
        tuple(dict.fromkeys(chunk_sections[one.chunk_id] for one in evidence.candidates)),
    )


def _is_empty(cell: RetrievalCell) -> bool:
    return cell.evidence.outcome is Outcome.EMPTY_RETRIEVAL


def _scores(cells: Iterable[RetrievalCell]) -> list[float]:
    return [cell.evidence.top_score for cell in cells if cell.evidence.top_score is not None]


def _mean(values: Iterable[float]) -> Measure:
    listed = list(values)
    return Measure(float(np.mean(listed)) if listed else None, len(listed))
