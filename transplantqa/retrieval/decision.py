"""What becomes of the candidates: silence, chosen passages, or a failure, with the reason beside each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from transplantqa.records import Outcome, Passage, Route
from transplantqa.retrieval.found import Found, Positions
from transplantqa.retrieval.indexed import IndexedDocument
from transplantqa.retrieval.passages import (
    CUT,
    REASONS,
    PassagePolicy,
    Shown,
    Spans,
    assemble,
    cut,
    fitting_sections,
    focus_on,
    passage_lists,
    whole_document,
)
from transplantqa.retrieval.table import SCHEMA
from transplantqa.retrieval.terms import TermAnalyzer
from transplantqa.retrieval.trail import Words, candidate_lists

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


class Decision:
    """The evidence of questions asked of one document, decided row by row and given as rows of the evidence table.

    Every row is to be decided by one method: rows that are not given the route ``retrieved`` and no passages.

    Args:
        found: the candidates.
        document: where they are.
    """

    def __init__(self, found: Found, document: IndexedDocument) -> None:
        self._found = found
        self._document = document
        self._spans = Spans()
        self._words = Words(found)
        self._shown: list[Shown] = []
        count = len(found.questions)
        self._routes: list[Route] = ["retrieved"] * count
        self._outcomes = [Outcome.OK] * count
        self._errors: list[str | None] = [None] * count
        self.rows: Positions = np.arange(count)

    def settle(self, silence_below: float) -> Positions:
        """Decide the questions that get no passages, failed or silent; return the rows of the others."""
        found = self._found
        for row, reason in found.errors.items():
            self._end(row, Outcome.ENGINE_ERROR, reason)
        failed = np.isin(self.rows, list(found.errors))
        empty = ~failed & (found.counts == 0)
        self.silence(self.rows[empty], NOTHING_FOUND)
        left: Positions = self.rows[~failed & ~empty]
        if found.confidence is None:
            return left
        weak = found.confidence[left] < silence_below
        for row in left[weak].tolist():
            reason = f"the document seems silent: confidence {found.confidence[row]:.3f} is below {silence_below:g}"
            self.silence(np.array([row]), reason)
        strong: Positions = left[~weak]
        return strong

    def silence(self, rows: Positions, reason: str) -> None:
        """Give these questions the retriever's verdict that the document doesn't address them."""
        for row in rows.tolist():
            self._end(row, Outcome.EMPTY_RETRIEVAL, reason)
        self._words.say(rows, [f"dropped: {reason}"] * len(rows))

    def show_chosen(self, rows: Positions, policy: ChoicePolicy, analyzer: TermAnalyzer) -> None:
        """Show these questions the passages of their ``top_k`` best candidates, as far as the budget goes."""
        chosen = self._found.order[rows, : policy.top_k].copy()
        chosen[np.arange(chosen.shape[1]) >= self._found.counts[rows, None]] = -1
        assembly = assemble(self._document, chosen, policy.passages, self._spans)
        shown = assembly.shown
        self._shown.append(Shown(rows[shown.rows], shown.spans, shown.ranks))
        self._words.say(rows, [f"dropped: below the top {policy.top_k}"] * len(rows))
        numbers = np.array([self._words.number(reason) for reason in REASONS])
        self._words.numbers[rows, : chosen.shape[1]] = np.where(
            chosen >= 0, numbers[assembly.why], self._words.numbers[rows, : chosen.shape[1]]
        )
        bare = np.setdiff1d(np.arange(len(rows)), shown.rows)
        for row in rows[bare[chosen[bare, 0] >= 0]].tolist():
            self._show_cut(row, policy.passages.evidence_tokens, analyzer)

    def _show_cut(self, row: int, limit: int, analyzer: TermAnalyzer) -> None:
        focus = focus_on(self._found.questions[row].text, analyzer)
        passage = cut(self._document, int(self._found.order[row, 0]), limit, focus)
        self._show(np.array([row]), (passage,))
        self._words.numbers[row, 0] = self._words.number(CUT)

    def show_whole(self, rows: Positions, reason: str) -> None:
        """Show these questions every section of the document."""
        self._route(rows, "full_document")
        self._show(rows, whole_document(self._document.source))
        self._words.say(rows, [f"kept: {reason}"] * len(rows))

    def show_nothing(self, rows: Positions) -> None:
        """Give these questions nothing to read, and no verdict of silence."""
        self._route(rows, "none")

    def fall_back(self, rows: Positions, limit: int, trigger: Callable[[int], str]) -> Positions:
        """Show these questions the document, or the largest set of its sections that fits; return those with no room.

        Args:
            rows: the questions.
            limit: most tokens shown.
            trigger: from a row to what made its evidence weak, in words.
        """
        found = self._found
        fitting = fitting_sections(self._document, found.order[rows], found.counts[rows], limit)
        fits = fitting.ranks > 0
        some = fits.any(axis=1)
        rows, without, fits, ranks = rows[some], rows[~some], fits[some], fitting.ranks[some]
        self._route(rows, "fallback")
        spans = np.array([self._number(passage) for passage in fitting.passages], dtype=np.intp)
        at, sections = np.nonzero(fits)
        self._shown.append(Shown(rows[at], spans[sections], ranks[at, sections]))
        column = {passage.section_id: number for number, passage in enumerate(fitting.passages)}
        section_of = np.array([column[chunk.section_id] for chunk in self._document.chunks], dtype=np.intp)
        for row, inside in zip(rows.tolist(), fits, strict=True):
            what = "the document is" if inside.all() else f"the {inside.sum()} sections that fit are"
            kept, dropped = (self._words.number(f"{word}: {trigger(row)}, so {what} shown") for word in _FATES)
            self._words.numbers[row] = np.where(inside[section_of[found.order[row]]], kept, dropped)
        return without

    def batch(self) -> pa.RecordBatch:
        """Return the rows of the evidence table, in the order of the questions."""
        count = len(self.rows)
        passages, tokens = passage_lists(self._shown, count, self._spans)
        failed = np.array([outcome is Outcome.ENGINE_ERROR for outcome in self._outcomes], dtype=np.bool_)
        confidence = self._found.confidence
        columns = {
            "question_id": pa.array([question.question_id for question in self._found.questions], pa.string()),
            "document_id": pa.array([self._document.document_id] * count, pa.string()),
            "route": pa.array(self._routes, pa.string()),
            "passages": passages,
            "candidates": candidate_lists(self._found, self._document, self._words),
            "top_score": pa.nulls(count, pa.float64()) if confidence is None else pa.array(confidence, mask=failed),
            "tokens": pa.array(tokens, pa.int32()),
            "outcome": pa.array([str(outcome) for outcome in self._outcomes], pa.string()),
            "error": pa.array([_storable(error) for error in self._errors], pa.string()),
        }
        return pa.RecordBatch.from_arrays([columns[name] for name in SCHEMA.names], schema=SCHEMA)

    def _number(self, passage: Passage) -> int:
        return self._spans.number((passage.section_id, passage.char_start, passage.char_end, passage.tokens), passage)

    def _end(self, row: int, outcome: Outcome, reason: str) -> None:
        self._outcomes[row], self._errors[row] = outcome, reason

    def _route(self, rows: Positions, route: Route) -> None:
        for row in rows.tolist():
            self._routes[row] = route

    def _show(self, rows: Positions, passages: Sequence[Passage]) -> None:
        spans = [self._number(passage) for passage in passages]
        self._shown.append(Shown.of(rows, spans, [one.rank for one in passages]))


_FATES = ("kept", "dropped")


def _storable(text: str | None) -> str | None:
    """Replace lone surrogates, which UTF-8 can't hold and a backend's message may have."""
    return None if text is None else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
