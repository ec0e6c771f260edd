"""Controls give what they promise: gold's sections, another document's evidence, or nothing to read."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from transplantqa.corpus.gold import load_gold
from transplantqa.errors import ConfigError, InputError
from transplantqa.records import Evidence, Outcome, Question
from transplantqa.retrieval import BM25, NoEvidence, Oracle, Shuffled, SourceDocument
from transplantqa.retrieval.elsewhere import source_read
from transplantqa.retrieval.evaluation import pair_with_gold
from transplantqa.retrieval.table import read_evidence
from transplantqa.stages import resolve

MakeSource = Callable[..., SourceDocument]
MakeQuestions = Callable[..., list[Question]]
GOLD = """
documents: [doc]
questions:
  q0: {stances: {five: 5 mg}, cells: {doc: {stance: five, quotes: ["Take aspirin 5 mg in the morning."]}}}
  q1: {stances: {}, cells: {}}
  q2: {stances: {odd: odd}, cells: {doc: {stance: odd, quotes: ["A sentence that nobody ever wrote down anywhere"]}}}
"""


@pytest.fixture
def gold(tmp_path: Path) -> str:
    path = tmp_path / "gold.yaml"
    path.write_text(GOLD, encoding="utf-8")
    return str(path)


def shown(evidence: Evidence, source: SourceDocument) -> list[str]:
    sections = {section.section_id: section for section in source.sections}
    return [passage.text for passage in resolve(evidence, sections)]


def test_the_oracle_shows_the_section_that_holds_the_quote(
    gold: str, guide: SourceDocument, make_questions: MakeQuestions
) -> None:
    (evidence,) = read_evidence(Oracle(gold=gold).retrieve(make_questions("Aspirin?"), guide))
    assert shown(evidence, guide) == ["Take tacrolimus 2 mg twice a day.\nTake aspirin 5 mg in the morning."]


def test_a_small_budget_leaves_the_oracle_the_chunk_with_the_quote(
    gold: str, guide: SourceDocument, make_questions: MakeQuestions
) -> None:
    (evidence,) = read_evidence(Oracle(gold=gold, evidence_tokens=7).retrieve(make_questions("Aspirin?"), guide))
    assert shown(evidence, guide) == ["Take aspirin 5 mg in the morning."]


def test_the_oracle_says_silence_where_gold_does_and_fails_where_no_section_holds_the_quote(
    gold: str, guide: SourceDocument, make_questions: MakeQuestions
) -> None:
    found = read_evidence(Oracle(gold=gold).retrieve(make_questions("Aspirin?", "Travel?", "Odd?"), guide))
    assert [one.outcome for one in found] == [Outcome.OK, Outcome.EMPTY_RETRIEVAL, Outcome.ENGINE_ERROR]
    assert "no section holds the quotes" in str(found[2].error)


def test_another_gold_is_another_oracle(gold: str, tmp_path: Path) -> None:
    other = tmp_path / "other.yaml"
    other.write_text(GOLD + "# read again\n", encoding="utf-8")
    assert Oracle(gold=gold).identity() != Oracle(gold=str(other)).identity()


def test_an_oracle_without_gold_is_a_configuration_error() -> None:
    with pytest.raises(ConfigError, match=r"questions\.gold=FILE"):
        Oracle(gold=None)


def corpus(make_source: MakeSource, *places: tuple[str, str]) -> dict[str, SourceDocument]:
    """Make a document for each (institution, group)."""
    sources = {}
    for number, (institution, group) in enumerate(places):
        source = make_source([("Medicines", ["Take aspirin."])], f"d{number}")
        facts = replace(source.document, institution=institution, group=group)
        sources[f"d{number}"] = replace(source, document=facts)
    return sources


def test_the_other_document_is_of_the_same_group_and_another_institution(make_source: MakeSource) -> None:
    sources = corpus(make_source, ("a", "heart"), ("a", "heart"), ("b", "liver"), ("b", "heart"))
    assert {Shuffled(of=BM25(), seed=seed).source_of("d0", sources) for seed in range(20)} == {"d3"}


def test_another_institution_goes_before_the_same_group(make_source: MakeSource) -> None:
    sources = corpus(make_source, ("a", "heart"), ("a", "heart"), ("b", "liver"))
    assert Shuffled(of=BM25()).source_of("d0", sources) == "d2"


def test_the_other_document_does_not_depend_on_the_order_of_the_corpus(make_source: MakeSource) -> None:
    sources = corpus(make_source, *((name, "heart") for name in "abcdef"))
    back = dict(reversed(sources.items()))
    shuffled = Shuffled(of=BM25(), seed=3)
    assert all(shuffled.source_of(name, sources) == shuffled.source_of(name, back) for name in sources)


def test_a_single_document_cannot_be_shuffled(make_source: MakeSource) -> None:
    with pytest.raises(InputError, match="only one document"):
        Shuffled(of=BM25()).source_of("d0", corpus(make_source, ("a", "heart")))


def test_a_shuffled_retriever_reads_the_other_document_and_any_other_its_own(make_source: MakeSource) -> None:
    sources = corpus(make_source, ("a", "heart"), ("b", "heart"))
    assert source_read(Shuffled(of=BM25()), "d0", sources) is sources["d1"]
    assert source_read(BM25(), "d0", sources) is sources["d0"]


def test_no_evidence_is_no_verdict_of_silence(guide: SourceDocument, make_questions: MakeQuestions) -> None:
    (evidence,) = read_evidence(NoEvidence().retrieve(make_questions("Aspirin?"), guide))
    assert (evidence.outcome, evidence.passages, evidence.route) == (Outcome.OK, (), "none")


def test_the_evidence_of_another_document_is_measured_without_its_own(
    gold: str, guide: SourceDocument, make_source: MakeSource, make_questions: MakeQuestions
) -> None:
    questions = make_questions("Aspirin?")
    other = make_source([("Diet", ["Take no aspirin at all."])], "other")
    (found,) = read_evidence(BM25().retrieve(questions, other))
    sections = {"doc": guide.sections, "other": other.sections}
    chunk_sections = {chunk.chunk_id: chunk.section_id for chunk in (*guide.chunks, *other.chunks)}
    facts = load_gold(Path(gold), questions, [guide.document])
    (cell,) = pair_with_gold([replace(found, document_id="doc")], facts.evidence, sections, chunk_sections)
    assert (cell.ranking["section_recall_at_1"], cell.shown) == (0.0, (False,))
