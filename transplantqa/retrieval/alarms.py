"""What looks wrong in a whole table of evidence, in sentences for the run's summary."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from transplantqa.records import Outcome
from transplantqa.retrieval.decision import NO_TEXT, NOTHING_FOUND
from transplantqa.retrieval.passages import CUT, OVER_BUDGET

MIN_QUESTIONS = 5
"""Fewer questions of a document show no pattern; ours."""
SAME_TOP_SHARE = 0.5
"""Share of a document's questions with one chunk first above which it is told; ours."""
DOMINANT_SHARE = 0.8
"""Share of a document's questions shown one section above which it is told; ours."""
NOTHING_FOUND_SHARE = 0.05
"""Share of cells in which nothing was found above which it is told; ours."""
CONTRIBUTION_SHARE = 0.01
"""Share of kept chunks that a ranker proposed under which it is told; ours."""
TRUNCATED_SHARE = 0.05
"""Share of cells whose evidence lost something to the budget above which it is told; ours."""
COLUMNS = ["question_id", "document_id", "route", "passages", "candidates", "outcome", "error"]

_BATCH_ROWS = 4096
Place = tuple[str, str]


@dataclass
class _Counts:
    """What a table of evidence comes to; cells that failed are in none."""

    cells: int = 0
    nothing_found: int = 0
    cut: int = 0
    over_budget: int = 0
    kept: int = 0
    asked: Counter[str] = field(default_factory=Counter)
    empty: Counter[str] = field(default_factory=Counter)
    searched: Counter[str] = field(default_factory=Counter)
    top: Counter[Place] = field(default_factory=Counter)
    retrieved: Counter[str] = field(default_factory=Counter)
    shown: Counter[Place] = field(default_factory=Counter)
    proposed: Counter[str] = field(default_factory=Counter)


def evidence_alarms(evidence: pa.Table, rankers: Sequence[str] = ()) -> tuple[str, ...]:
    """Return a sentence for each alarm that a table of evidence gives cause for, most basic first.

    - *empty*: a document in which every question came back empty, or many cells in which nothing was found;
    - *same top hit*: one chunk comes first for most of a document's questions;
    - *one section*: one section is shown for most of a document's retrieved questions, though it isn't the only one;
    - *idle ranker*: a ranker that proposed next to none of the chunks that were kept;
    - *truncated*: evidence that lost chunks, or parts of one, to the token budget.

    Args:
        evidence: rows of the evidence table, with at least ``COLUMNS``.
        rankers: names of the rankers that took part, so that one which never proposed a chunk is noticed.
    """
    counts = _Counts()
    for batch in evidence.select(COLUMNS).to_batches(max_chunksize=_BATCH_ROWS):
        _add(counts, batch.filter(pc.not_equal(batch["outcome"], str(Outcome.ENGINE_ERROR))))
    return (*_empty(counts), *_same_top(counts), *_dominant(counts), *_idle(counts, rankers), *_truncated(counts))


def _add(counts: _Counts, batch: pa.RecordBatch) -> None:
    documents = batch["document_id"]
    is_empty = pc.equal(batch["outcome"], str(Outcome.EMPTY_RETRIEVAL))
    has_candidates = pc.greater(pc.list_value_length(batch["candidates"]), 0)
    counts.cells += len(batch)
    counts.asked.update(documents.to_pylist())
    counts.empty.update(documents.filter(is_empty).to_pylist())
    counts.nothing_found += int(pc.sum(pc.is_in(batch["error"], pa.array([NO_TEXT, NOTHING_FOUND]))).as_py() or 0)
    _add_passages(counts, batch.filter(pc.equal(batch["route"], "retrieved")))
    _add_candidates(counts, batch.filter(has_candidates))


def _add_passages(counts: _Counts, batch: pa.RecordBatch) -> None:
    shown = batch.filter(pc.greater(pc.list_value_length(batch["passages"]), 0))
    counts.retrieved.update(shown["document_id"].to_pylist())
    sections = pc.struct_field(pc.list_flatten(shown["passages"]), "section_id").to_pylist()
    rows = pc.list_parent_indices(shown["passages"]).to_pylist()
    documents = shown["document_id"].to_pylist()
    counts.shown.update((documents[row], section) for row, section in dict.fromkeys(zip(rows, sections, strict=True)))


def _add_candidates(counts: _Counts, batch: pa.RecordBatch) -> None:
    if not len(batch):
        return
    documents = batch["document_id"].to_pylist()
    first = pc.struct_field(pc.list_element(batch["candidates"], 0), "chunk_id").to_pylist()
    counts.searched.update(documents)
    counts.top.update(zip(documents, first, strict=True))
    candidates = pc.list_flatten(batch["candidates"])
    rows = pc.list_parent_indices(batch["candidates"])
    why = pc.struct_field(candidates, "why")
    counts.cut += _cells(rows, pc.equal(why, CUT))
    counts.over_budget += _cells(rows, pc.equal(why, OVER_BUDGET))
    kept = candidates.filter(pc.struct_field(candidates, "kept"))
    counts.kept += len(kept)
    names = pc.struct_field(pc.list_flatten(pc.struct_field(kept, "rankers")), "ranker")
    counts.proposed.update({str(row["values"]): int(row["counts"]) for row in pc.value_counts(names).to_pylist()})


def _cells(rows: Any, mask: Any) -> int:
    """Return of how many cells some candidate is in the mask."""
    return int(pc.count_distinct(rows.filter(mask)).as_py())


def _empty(counts: _Counts) -> Iterator[str]:
    silent = sorted(
        name for name, asked in counts.asked.items() if asked >= MIN_QUESTIONS and counts.empty[name] == asked
    )
    if silent:
        yield (
            f"empty evidence: every question came back empty from {_listed(silent)}; "
            "read what retrieval saw of it with `transplantqa show`"
        )
    if counts.nothing_found > NOTHING_FOUND_SHARE * counts.cells:
        yield f"empty evidence: nothing at all was found in {counts.nothing_found:,} of {counts.cells:,} cells"


def _same_top(counts: _Counts) -> Iterator[str]:
    yield from _repeated(counts.top, counts.searched, SAME_TOP_SHARE, "same top hit", "chunk {0} comes first")


def _dominant(counts: _Counts) -> Iterator[str]:
    sections = Counter(document for document, _ in counts.shown)
    several = Counter({name: asked for name, asked in counts.retrieved.items() if sections[name] > 1})
    yield from _repeated(counts.shown, several, DOMINANT_SHARE, "one section dominates", "section {0} is shown")


def _repeated(found: Counter[Place], asked: Counter[str], share: float, title: str, words: str) -> Iterator[str]:
    """Yield one sentence when something recurs in more than ``share`` of a document's questions, with the worst."""
    most: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for (document, thing), count in found.items():
        if asked[document] >= MIN_QUESTIONS and count > share * asked[document]:
            most[document].append((count, thing))
    if not most:
        return
    worst = min(most, key=lambda name: (-max(most[name])[0] / asked[name], name))
    count, thing = min(most[worst], key=lambda item: (-item[0], item[1]))
    documents = "document" if len(most) == 1 else "documents"
    yield (
        f"{title}: in {len(most):,} {documents}, most of all in {worst}, where {words.format(thing)} "
        f"for {count:,} of {asked[worst]:,} questions"
    )


def _idle(counts: _Counts, rankers: Sequence[str]) -> Iterator[str]:
    if not counts.kept:
        return
    for name in sorted({*rankers, *counts.proposed}):
        if counts.proposed[name] < CONTRIBUTION_SHARE * counts.kept:
            share = f"{counts.proposed[name]:,} of {counts.kept:,}"
            yield f"ranker {name} contributes nothing: it proposed {share} chunks that were kept"


def _truncated(counts: _Counts) -> Iterator[str]:
    searched = counts.searched.total()
    for count, what in ((counts.cut, "not even the best chunk fits"), (counts.over_budget, "chosen chunks don't fit")):
        if count > TRUNCATED_SHARE * searched:
            yield f"evidence truncated: in {count:,} of {searched:,} searched cells {what} the token budget"


def _listed(names: Sequence[str], most: int = 5) -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
