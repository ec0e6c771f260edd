"""Controls: evidence that is right by construction, that is another document's, or that isn't there."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cached_property
from typing import Annotated

import numpy as np
import pyarrow as pa
from pydantic import Field

from transplantqa.corpus.gold import load_gold, quotes_in_sections
from transplantqa.corpus.paths import located
from transplantqa.errors import ConfigError, InputError
from transplantqa.models.protocols import Identity
from transplantqa.records import GoldEvidence, Question
from transplantqa.retrieval.chunk_retrievers import Count
from transplantqa.retrieval.decision import NO_TEXT, ChoicePolicy, Decision
from transplantqa.retrieval.found import Found, Placed
from transplantqa.retrieval.indexed import IndexedDocument, index_document
from transplantqa.retrieval.passages import PassagePolicy
from transplantqa.retrieval.protocols import Retriever, SourceDocument
from transplantqa.retrieval.terms import Language, TermAnalyzer
from transplantqa.store.hashing import file_sha256, text_sha256

UNLOCATED = "no section holds the quotes that gold gives for this question"
SILENT_IN_GOLD = "gold says that the document is silent"


class Oracle:
    """The sections that people quoted: an upper bound on what any retriever can do for a generator.

    Chunks that hold a quote come first, then the others of their sections, as far as ``evidence_tokens`` go. Where gold
    is silent the evidence is empty; where no section holds a quote the unit fails and says so. ``top_score`` is 1 or 0.

    Args:
        gold: the file of gold (a path, or ``package:NAME/FILE``).
        language: stemmer and stop words, to cut a chunk larger than the budget around the question's words.
        evidence_tokens: most tokens shown.

    Raises:
        ConfigError: if there is no gold.
    """

    def __init__(self, *, gold: str | None, language: Language = "english", evidence_tokens: Count = 3000) -> None:
        if gold is None:
            raise ConfigError("retriever.gold: the oracle needs gold.\nGive its file: questions.gold=FILE")
        self._gold = located(gold)
        self._analyzer = TermAnalyzer(language)
        passages = PassagePolicy(evidence_tokens, "chunk", evidence_tokens, "document")
        self._policy = ChoicePolicy(top_k=1_000_000, silence_below=0.0, passages=passages)

    def identity(self) -> Identity:
        """The content of gold and the budget."""
        return {
            "retriever": type(self).__name__,
            "gold_sha256": self._gold_sha256,
            "language": self._analyzer.language,
            **asdict(self._policy.passages),
        }

    def retrieve(self, questions: Sequence[Question], source: SourceDocument) -> Iterator[pa.RecordBatch]:
        """Yield rows of evidence, one a question, in the order given.

        Raises:
            InputError: if gold doesn't cover a question or the document.
        """
        document = index_document(source)
        gold = {one.question_id: one for one in load_gold(self._gold, questions, [source.document]).evidence}
        held = [_gold_chunks(gold[question.question_id], document) for question in questions]
        found = _found(questions, [gold[question.question_id].silent for question in questions], held, document)
        decision = Decision(found, document)
        quiet = np.array([gold[question.question_id].silent for question in questions], dtype=np.bool_)
        rows = decision.settle(silence_below=0.0)
        decision.silence(decision.rows[quiet], SILENT_IN_GOLD)
        decision.show_chosen(rows, self._policy, self._analyzer)
        yield decision.batch()

    @cached_property
    def _gold_sha256(self) -> str:
        if not self._gold.is_file():
            raise InputError(f"retriever.gold: there is no file {self._gold}.\nGive another: questions.gold=FILE")
        return file_sha256(self._gold)


class Shuffled:
    """Another document's evidence: what is left of an answer that doesn't depend on the document it is said to be from.

    The other document is of the same group and another institution where there is one, else of another institution,
    else any other. It is drawn by hashing, so that documents added to a corpus change few of the draws.

    Args:
        of: the retriever that searches the other document.
        seed: of the draw.
    """

    def __init__(self, *, of: Retriever, seed: Annotated[int, Field(ge=0)] = 0) -> None:
        self._of = of
        self._seed = seed

    def identity(self) -> Identity:
        """The searching retriever's identity and the seed."""
        return {"retriever": type(self).__name__, "of": dict(self._of.identity()), "seed": self._seed}

    def source_of(self, document_id: str, sources: Mapping[str, SourceDocument]) -> str:
        """Return the document that stands in for ``document_id``.

        Raises:
            InputError: if there is no other document.
        """
        own = sources[document_id].document
        others = [source.document for name, source in sources.items() if name != document_id]
        if not others:
            raise InputError("retriever=shuffled: there is only one document.\nIt needs at least two that can be read.")
        foreign = [other for other in others if other.institution != own.institution]
        near = [other for other in foreign if other.group == own.group]
        names = [other.document_id for other in near or foreign or others]
        return min(names, key=lambda name: text_sha256(f"{self._seed}\n{document_id}\n{name}"))

    def retrieve(self, questions: Sequence[Question], source: SourceDocument) -> Iterator[pa.RecordBatch]:
        """Yield what the searching retriever finds in ``source``, which is the other document."""
        return self._of.retrieve(questions, source)


class NoEvidence:
    """No evidence, and not as a verdict of silence: the generator is asked with nothing to read."""

    def __init__(self) -> None:
        pass

    def identity(self) -> Identity:
        """Nothing but the method."""
        return {"retriever": type(self).__name__}

    def retrieve(self, questions: Sequence[Question], source: SourceDocument) -> Iterator[pa.RecordBatch]:
        """Yield evidence without passages for each question; a document without text stays silent."""
        document = index_document(source)
        decision = Decision(Found.nothing(questions, len(document.chunks)), document)
        if any(section.text.strip() for section in source.sections):
            decision.show_nothing(decision.rows)
        else:
            decision.silence(decision.rows, NO_TEXT)
        yield decision.batch()


def _found(
    questions: Sequence[Question],
    silent: Sequence[bool],
    held: Sequence[Mapping[int, bool]],
    document: IndexedDocument,
) -> Found:
    """Return the chunks of gold's sections as what a ranker named ``gold`` found: score 1 for those with a quote."""
    found = Found.nothing(questions, len(document.chunks))
    order, counts = found.order.copy(), found.counts.copy()
    scores, ranks = np.zeros(order.shape), np.zeros(order.shape, dtype=np.int32)
    errors = {}
    for row, positions in enumerate(held):
        if not positions and not silent[row]:
            errors[row] = UNLOCATED
        chosen = list(positions)
        order[row, : len(chosen)], counts[row] = chosen, len(chosen)
        scores[row, chosen], ranks[row, chosen] = list(positions.values()), np.arange(1, len(chosen) + 1)
    return replace(
        found,
        order=order,
        counts=counts,
        fused=scores,
        placed=[Placed("gold", ranks, scores)],
        confidence=(counts > 0).astype(np.float64),
        errors=errors,
    )


def _gold_chunks(gold: GoldEvidence, document: IndexedDocument) -> dict[int, bool]:
    """Return the positions of the gold sections' chunks and whether each holds a quote: holders first, else as read."""
    held = quotes_in_sections(gold.quotes, document.source.sections)
    wanted = {name for names in held.values() for name in names}
    inside = [at for name, siblings in document.siblings.items() if name in wanted for at in siblings]
    inside.sort(key=lambda at: document.chunks[at].order)
    pieces = [
        replace(document.sections[chunk.section_id], section_id=chunk.chunk_id, heading="", text=chunk.text)
        for chunk in (document.chunks[at] for at in inside)
    ]
    in_chunks = quotes_in_sections(gold.quotes, pieces)
    holders = {name for names in in_chunks.values() for name in names}
    holds = {at: document.chunks[at].chunk_id in holders for at in inside}
    return dict(sorted(holds.items(), key=lambda item: not item[1]))
