"""How well a retriever finds what a person quoted, and tells silent documents from addressing ones."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from transplantqa.corpus.gold import quotes_in_sections
from transplantqa.records import Evidence, GoldEvidence, Outcome, Section

RANKING: Mapping[str, str] = {
    **{f"section_recall_at_{depth}": f"R@{depth}" for depth in (1, 3, 5, 10)},
    "section_ndcg_at_10": "nDCG@10",
    "section_mrr": "RR",
}
"""Measures of ranked sections, and what ir-measures calls them."""
SEPARATION = "silence_auc"
"""The one measure that is over pairs of cells and not over cells."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A mean and how many cells or pairs it is over; ``value`` is None over none."""

    value: float | None
    n: int


@dataclass(frozen=True, slots=True)
class RetrievalCell:
    """One evidence beside its gold.

    ``holders`` and ``shown`` are, for each quote that some section holds, the ids of those sections, and whether a
    passage shows it; ``located`` is, for every quote, whether some section holds it. ``ranking`` has ir-measures's
    figures of its sections, by measure; it is empty where none were ranked, and before ``with_ranking``.
    """

    evidence: Evidence
    silent: bool
    holders: tuple[frozenset[str], ...]
    shown: tuple[bool, ...]
    located: tuple[bool, ...]
    sections: tuple[str, ...]
    """The sections of the candidates, best first, each once."""
    ranking: Mapping[str, float] = field(default_factory=dict)

    @property
    def relevant(self) -> frozenset[str]:
        """The sections that hold a quote."""
        return frozenset().union(*self.holders)

    @property
    def key(self) -> tuple[str, str]:
        """Question id and document id."""
        return self.evidence.question_id, self.evidence.document_id

    @property
    def is_addressed(self) -> bool:
        """Whether gold has quotes that some section holds."""
        return not self.silent and bool(self.holders)

    @property
    def is_searched(self) -> bool:
        """Whether it is addressed, and its sections were ranked."""
        return self.is_addressed and bool(self.sections)

    @property
    def is_empty(self) -> bool:
        """Whether the retriever says that the document is silent."""
        return self.evidence.outcome is Outcome.EMPTY_RETRIEVAL


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
        sections: document id to its sections, of every document that evidence is taken from.
        chunk_sections: chunk id to section id, likewise.
    """
    by_id = {section.section_id: section for listed in sections.values() for section in listed}
    wanted = {(one.question_id, one.document_id): one for one in gold}
    cells = []
    for one in evidence:
        cell = wanted.get((one.question_id, one.document_id))
        if cell is not None and one.outcome is not Outcome.ENGINE_ERROR:
            cells.append(_cell(one, cell, sections[one.document_id], by_id, chunk_sections))
    return with_ranking(cells)


def with_ranking(cells: Sequence[RetrievalCell]) -> list[RetrievalCell]:
    """Return the cells with ir-measures's figures of how their sections were ranked, where some were.

    A section is relevant when it holds a quote.
    """
    from ir_measures import Qrel, ScoredDoc, iter_calc, parse_measure  # noqa: PLC0415

    searched = {str(at): cell for at, cell in enumerate(cells) if cell.is_searched}
    wanted = [Qrel(at, name, 1) for at, cell in searched.items() for name in sorted(cell.relevant)]
    ranked = [
        ScoredDoc(at, name, -float(rank)) for at, cell in searched.items() for rank, name in enumerate(cell.sections)
    ]
    measures = {parse_measure(word): name for name, word in RANKING.items()}
    found: dict[str, dict[str, float]] = {at: {} for at in searched}
    for metric in iter_calc(list(measures), wanted, ranked) if searched else ():
        found[metric.query_id][measures[metric.measure]] = float(metric.value)
    return [replace(cell, ranking=found.get(str(at), {})) for at, cell in enumerate(cells)]


Part = Callable[[RetrievalCell], tuple[float, float] | None]
"""What a cell adds to a measure's numerator and denominator; none where the measure isn't over it."""


def _one(value: Callable[[RetrievalCell], float], of: Callable[[RetrievalCell], bool]) -> Part:
    return lambda cell: (float(value(cell)), 1.0) if of(cell) else None


def _ranked(name: str) -> Part:
    return _one(lambda cell: cell.ranking[name], lambda cell: cell.is_searched)


def _located(cell: RetrievalCell) -> tuple[float, float] | None:
    return (float(sum(cell.located)), float(len(cell.located))) if cell.located else None


def _any(_cell: RetrievalCell) -> bool:
    return True


PARTS: Mapping[str, Part] = {
    **{name: _ranked(name) for name in RANKING},
    "evidence_recall": _one(lambda cell: float(np.mean(cell.shown)), lambda cell: cell.is_addressed),
    "evidence_tokens": _one(lambda cell: cell.evidence.tokens, lambda cell: bool(cell.evidence.passages)),
    "quotes_located": _located,
    "silence_accuracy": _one(lambda cell: cell.is_empty == cell.silent, _any),
    "false_silence_rate": _one(lambda cell: cell.is_empty, lambda cell: not cell.silent),
    "missed_silence_rate": _one(lambda cell: not cell.is_empty, lambda cell: cell.silent),
    "routed_share": _one(lambda cell: cell.evidence.route == "full_document", _any),
    "fallback_share": _one(lambda cell: cell.evidence.route == "fallback", _any),
}
"""Measure to what each cell adds to it; a measure is the sum of numerators over the sum of denominators.

``section_*`` are over addressed cells that were searched: what ranking found, whatever was shown of it.
``evidence_recall`` is the share of quotes shown, over all addressed cells, so that silence decided wrongly costs it.
``silence_accuracy`` is the share of cells where the retriever's verdict is gold's. ``quotes_located`` is the share of
gold's quotes that some section holds; the others are in no recall.
"""


def measure_retrieval(cells: Sequence[RetrievalCell]) -> dict[str, Measure]:
    """Return the measures of ``PARTS`` by name, and ``silence_auc``.

    That is the chance that an addressed cell's top score is above a silent one's (a tie is half), over pairs of one
    each; cells without a score are in none.
    """
    measures = {}
    for name, part in PARTS.items():
        parts = [added for cell in cells if (added := part(cell)) is not None]
        whole = sum(denominator for _, denominator in parts)
        value = sum(numerator for numerator, _ in parts) / whole if parts else None
        measures[name] = Measure(value, round(whole))
    return {**measures, SEPARATION: separation(*scores(cells))}


def scores(cells: Iterable[RetrievalCell]) -> tuple[list[float], list[float]]:
    """Return the top scores of cells that gold calls addressed, and of those it calls silent."""
    found: tuple[list[float], list[float]] = ([], [])
    for cell in cells:
        if cell.evidence.top_score is not None:
            found[cell.silent].append(cell.evidence.top_score)
    return found


def separation(higher: Sequence[float], lower: Sequence[float]) -> Measure:
    """Return the area under the ROC curve: the share of pairs in the right order, a tie counting half."""
    pairs = len(higher) * len(lower)
    if not pairs:
        return Measure(None, 0)
    difference = np.subtract.outer(np.asarray(higher), np.asarray(lower))
    return Measure(float(((difference > 0) + 0.5 * (difference == 0)).mean()), pairs)


def _cell(
    evidence: Evidence,
    gold: GoldEvidence,
    sections: Sequence[Section],
    by_id: Mapping[str, Section],
    chunk_sections: Mapping[str, str],
) -> RetrievalCell:
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
