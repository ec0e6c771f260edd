"""Alarms over a table of evidence: told when there is cause, silent when there is none."""

from collections.abc import Sequence

import pyarrow as pa

from transplantqa.records import Candidate, Evidence, Outcome, Passage, RankerScore, Route
from transplantqa.retrieval.alarms import evidence_alarms
from transplantqa.retrieval.decision import NOTHING_FOUND
from transplantqa.retrieval.passages import CUT, KEPT, OVER_BUDGET
from transplantqa.store.tables import EVIDENCE


def evidence(
    number: int,
    chunks: Sequence[str] = ("c0",),
    *,
    why: Sequence[str] = (),
    section: str | None = None,
    route: Route = "retrieved",
    rankers: Sequence[str] = ("bm25",),
) -> Evidence:
    """Make the evidence of question ``number``, chunks best first; without chunks nothing was found."""
    if not chunks:
        return Evidence(f"q{number}", "d", route, (), (), None, 0, Outcome.EMPTY_RETRIEVAL, NOTHING_FOUND)
    words = [*why, *[KEPT] * (len(chunks) - len(why))]
    places = tuple(RankerScore(name, 1, 1.0) for name in rankers)
    candidates = tuple(
        Candidate(chunk, places, 1.0, None, word.startswith("kept"), word)
        for chunk, word in zip(chunks, words, strict=True)
    )
    passage = Passage(section or f"s{number % 4}", 0, 9, "0" * 64, 1, 1, 3, 1)
    return Evidence(f"q{number}", "d", route, (passage,), candidates, 0.5, 3, Outcome.OK)


def alarms(found: Sequence[Evidence], rankers: Sequence[str] = ()) -> tuple[str, ...]:
    rows = [{**one.row(), "attempt": 1, "inputs_sha256": "0"} for one in found]
    return evidence_alarms(pa.Table.from_pylist(rows, schema=EVIDENCE.schema), rankers)


def usual(count: int = 10) -> list[Evidence]:
    return [evidence(number, (f"c{number % 4}", "c9")) for number in range(count)]


def test_evidence_as_it_should_be_gives_no_alarm() -> None:
    assert alarms(usual(), ["bm25"]) == ()


def test_no_evidence_at_all_gives_no_alarm() -> None:
    assert alarms([]) == ()


def test_one_chunk_first_for_most_questions_is_told_with_the_worst_document() -> None:
    found = [evidence(number, ("c7",) if number < 6 else (f"c1{number}",)) for number in range(10)]
    assert alarms(found) == (
        "same top hit: in 1 document, most of all in d, where chunk c7 comes first for 6 of 10 questions",
    )


def test_few_questions_show_no_pattern() -> None:
    assert alarms([evidence(number, ("c7",), section="s1") for number in range(4)]) == ()


def test_a_document_that_stays_silent_is_named() -> None:
    found = [evidence(number, ()) for number in range(5)]
    first, second = alarms(found)
    assert "every question came back empty from d" in first
    assert "nothing at all was found in 5 of 5 cells" in second


def test_a_section_shown_for_most_questions_is_told() -> None:
    found = [evidence(number, (f"c{number}",), section="s1" if number < 9 else "s2") for number in range(10)]
    assert [one.split(":")[0] for one in alarms(found)] == ["one section dominates"]


def test_the_only_section_of_a_document_dominates_nothing() -> None:
    assert alarms([evidence(number, (f"c{number}",), section="s1") for number in range(10)]) == ()


def test_whole_documents_show_every_section_without_alarm() -> None:
    found = [evidence(number, (f"c{number}",), section="s1", route="full_document") for number in range(9)]
    assert alarms([*found, evidence(9, ("c9",), section="s2", route="full_document")]) == ()


def test_a_ranker_that_proposed_nothing_is_told_by_name() -> None:
    assert alarms(usual(), ["bm25", "dense"]) == (
        "ranker dense contributes nothing: it proposed 0 of 20 chunks that were kept",
    )


def test_a_ranker_is_judged_by_the_chunks_that_were_kept() -> None:
    found = [evidence(n, (f"c{n % 4}", "c9"), why=(KEPT, "dropped: below the top 1")) for n in range(10)]
    assert alarms(found, ["bm25"]) == ()


def test_evidence_cut_or_dropped_for_its_budget_is_counted_by_cell() -> None:
    found = [
        *usual(8),
        evidence(8, ("c8",), why=(CUT,)),
        evidence(9, ("c5", "c6", "c7"), why=(KEPT, *[OVER_BUDGET] * 2)),
    ]
    assert alarms(found) == (
        "evidence truncated: in 1 of 10 searched cells not even the best chunk fits the token budget",
        "evidence truncated: in 1 of 10 searched cells chosen chunks don't fit the token budget",
    )


def test_failed_cells_are_in_no_count() -> None:
    failed = [Evidence(f"f{n}", "d", "retrieved", (), (), None, 0, Outcome.ENGINE_ERROR, "no memory") for n in range(9)]
    assert alarms([*usual(), *failed]) == ()
