"""Gold: what a careful reader found in each document, and the relation of every pair that follows from it.

A person authors one stance per (question, document) cell, with quotes, and one relation per pair of stances that meet.
Pair labels are derived from these, so that a label can't disagree with the evidence it rests on.
"""

import re
import unicodedata
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from transplantqa.errors import InputError
from transplantqa.records import (
    CONFLICT_LABELS,
    Document,
    GoldEvidence,
    GoldPair,
    Label,
    Question,
    Section,
    Significance,
)

_SHINGLE_WORDS = 3
_MIN_SHARE = 0.3
_MIN_SHINGLES = 2


@dataclass(frozen=True, slots=True)
class Gold:
    """Gold of one selection: a row per applicable cell (silent ones included) and per applicable unordered pair."""

    evidence: tuple[GoldEvidence, ...]
    pairs: tuple[GoldPair, ...]


class _Authored(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Relation(_Authored):
    between: tuple[str, str]
    label: Label
    also_acceptable: tuple[Label, ...] = ()
    topic: str | None = None
    significance: Significance | None = None


class _Cell(_Authored):
    stance: str
    quotes: tuple[str, ...] = Field(min_length=1)


class _Entry(_Authored):
    stances: dict[str, str]
    relations: tuple[_Relation, ...] = ()
    cells: dict[str, _Cell]

    def relation(self, stance_a: str, stance_b: str) -> _Relation | None:
        """Return the authored relation of two stances, whichever is named first."""
        return next((r for r in self.relations if {*r.between} == {stance_a, stance_b}), None)


class _GoldFile(_Authored):
    documents: tuple[str, ...]
    questions: dict[str, _Entry]


class _UniqueKeyLoader(yaml.SafeLoader):
    """Refuses a key given twice, of which YAML would silently keep the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key.value, str):
                raise yaml.MarkedYAMLError(problem="a key is no text", problem_mark=key.start_mark)
            if key.value in seen:
                raise yaml.MarkedYAMLError(problem=f'key "{key.value}" is given twice', problem_mark=key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep=deep)


def load_gold(path: Path, questions: Sequence[Question], documents: Sequence[Document]) -> Gold:
    """Read authored gold and derive its rows for the given selection.

    The file may cover more than the selection (its ``documents`` list and its question keys say what it covers); what
    is outside the selection is left out. A covered, applicable document that a question doesn't list is silent.

    Args:
        path: YAML with ``documents`` (ids covered) and ``questions``: id to ``stances``, ``relations`` and ``cells``.
        questions: the selection; a question without groups applies to every document.
        documents: the selection; rejected documents are asked nothing and get no rows.

    Returns:
        Rows ordered by question, then document ids. A pair is ABSENT when a side is silent, CONSISTENT when both take
        the same stance, else what the author said of the two stances.

    Raises:
        InputError: every problem found, in the order of the file, each with its question and remedy.
    """
    authored = _read(path)
    problems = [*_selection_problems(authored, questions, documents)]
    for question_id, entry in authored.questions.items():
        problems += [f"question {question_id}: {problem}" for problem in _entry_problems(entry, authored.documents)]
    if problems:
        raise InputError("\n\n".join(f"{path}, {problem}" for problem in problems))
    return _derive(authored, questions, documents)


def quotes_in_sections(quotes: Sequence[str], sections: Sequence[Section]) -> dict[str, list[str]]:
    """Map each quote to the ids of the sections that hold it, heading or text, in section order.

    Text is compared as letters and digits alone (NFKC, case folded), so line breaks, hyphenation, ligatures, bullets
    and table rules don't matter. A quote found whole in no section, because a boundary cuts it or a running head is
    in the way, is mapped to every section holding at least 30 % of its three-word shingles, and no fewer than two
    (ours).

    Returns:
        Every quote given; an empty list where no section holds it.
    """
    squeezed = [(section.section_id, _squeeze(f"{section.heading} {section.text}")) for section in sections]
    return {quote: _holders(quote, squeezed) for quote in quotes}


def _read(path: Path) -> _GoldFile:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: can't be read ({error}). Give the path of a UTF-8 gold file.") from error
    try:
        content = yaml.load(text, Loader=_UniqueKeyLoader)  # noqa: S506 - derived from SafeLoader
    except yaml.YAMLError as error:
        raise InputError(f"{path}: not valid YAML: {error}. Mend the line named.") from error
    try:
        return _GoldFile.model_validate(content)
    except ValidationError as error:
        lines = (
            f"{path}, {'.'.join(map(str, detail['loc'])) or 'top level'}: {detail['msg']}. Mend this entry."
            for detail in error.errors()
        )
        raise InputError("\n\n".join(lines)) from error


def _selection_problems(
    authored: _GoldFile, questions: Sequence[Question], documents: Sequence[Document]
) -> Iterator[str]:
    for question in questions:
        if question.question_id not in authored.questions:
            yield f"question {question.question_id}: no gold. Add an entry, or leave the question out of the selection."
    for document in documents:
        if document.document_id not in authored.documents:
            yield (
                f'documents: "{document.document_id}" is not covered. Add it to the list once all its cells are read,'
                " or leave it out of the selection."
            )


def _entry_problems(entry: _Entry, covered: Sequence[str]) -> Iterator[str]:
    for relation in entry.relations:
        yield from _relation_problems(relation, entry)
    for document_id, cell in entry.cells.items():
        if document_id not in covered:
            yield f'unknown document "{document_id}". Correct the id, or add it to "documents".'
        if cell.stance not in entry.stances:
            yield f'{document_id} takes unknown stance "{cell.stance}". Use one of {", ".join(entry.stances)}.'
        if any(not _squeeze(quote) for quote in cell.quotes):
            yield f"{document_id} has an empty quote. Quote the passage that takes the stance."
    yield from _missing_relations(entry)


def _relation_problems(relation: _Relation, entry: _Entry) -> Iterator[str]:
    names = " - ".join(relation.between)
    first, second = relation.between
    for stance in relation.between:
        if stance not in entry.stances:
            yield f'relation {names} names unknown stance "{stance}". Use one of {", ".join(entry.stances)}.'
    if first == second:
        yield f"relation {names} is of a stance with itself, which is always CONSISTENT. Remove it."
    if sum({*other.between} == {first, second} for other in entry.relations) > 1:
        yield f"relation {names} is given more than once. Keep one."
    if relation.label is Label.ABSENT:
        yield f"relation {names} is ABSENT, which only silence makes. Choose another label."
    complete = relation.topic is not None and relation.significance is not None
    empty = relation.topic is None and relation.significance is None
    if relation.label in CONFLICT_LABELS and not complete:
        yield f"relation {names} is {relation.label} without topic and significance. Add both."
    if relation.label not in CONFLICT_LABELS and not empty:
        yield f"relation {names} is {relation.label}, which has no topic or significance. Remove them."


def _missing_relations(entry: _Entry) -> Iterator[str]:
    taken = sorted({cell.stance for cell in entry.cells.values()} & entry.stances.keys())
    for first, second in combinations(taken, 2):
        if entry.relation(first, second) is None:
            yield f"stances {first} and {second} meet but have no relation. Add one with their label."
    for stance in sorted(entry.stances.keys() - set(taken)):
        yield f"stance {stance} is taken by no document. Remove it, or give it a cell."


def _derive(authored: _GoldFile, questions: Sequence[Question], documents: Sequence[Document]) -> Gold:
    readable = sorted((d for d in documents if d.verdict != "reject"), key=lambda d: d.document_id)
    evidence: list[GoldEvidence] = []
    pairs: list[GoldPair] = []
    for question in sorted(questions, key=lambda q: q.question_id):
        entry = authored.questions[question.question_id]
        asked = [d.document_id for d in readable if not question.groups or d.group in question.groups]
        evidence += [_evidence(question.question_id, document_id, entry.cells) for document_id in asked]
        pairs += [_pair(question.question_id, a, b, entry) for a, b in combinations(asked, 2)]
    return Gold(tuple(evidence), tuple(pairs))


def _evidence(question_id: str, document_id: str, cells: Mapping[str, _Cell]) -> GoldEvidence:
    cell = cells.get(document_id)
    if cell is None:
        return GoldEvidence(question_id, document_id, silent=True)
    return GoldEvidence(question_id, document_id, silent=False, stance=cell.stance, quotes=cell.quotes)


def _pair(question_id: str, document_a: str, document_b: str, entry: _Entry) -> GoldPair:
    cell_a, cell_b = entry.cells.get(document_a), entry.cells.get(document_b)
    if cell_a is None or cell_b is None:
        return GoldPair(question_id, document_a, document_b, Label.ABSENT)
    if cell_a.stance == cell_b.stance:
        return GoldPair(question_id, document_a, document_b, Label.CONSISTENT)
    relation = entry.relation(cell_a.stance, cell_b.stance)
    if relation is None:  # pragma: no cover - refused when loaded
        raise AssertionError((question_id, cell_a.stance, cell_b.stance))
    return GoldPair(
        question_id,
        document_a,
        document_b,
        relation.label,
        relation.also_acceptable,
        relation.topic,
        relation.significance,
    )


def _holders(quote: str, squeezed: Sequence[tuple[str, str]]) -> list[str]:
    needle = _squeeze(quote)
    if not needle:
        return []
    whole = [section_id for section_id, text in squeezed if needle in text]
    if whole:
        return whole
    words = [squeezed_word for word in quote.split() if (squeezed_word := _squeeze(word))]
    shingles = ["".join(words[i : i + _SHINGLE_WORDS]) for i in range(len(words) - _SHINGLE_WORDS + 1)]
    needed = max(_MIN_SHINGLES, _MIN_SHARE * len(shingles))
    return [section_id for section_id, text in squeezed if sum(s in text for s in shingles) >= needed]


def _squeeze(text: str) -> str:
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text).casefold())
