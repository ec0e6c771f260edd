"""The strata figures are given for, each as counts of states by question and member."""

from dataclasses import dataclass

import numpy as np

from transplantqa.analysis.counts import CELL_STATES, PAIR_STATES, Cells, IntArray, Mask, Pairs, count
from transplantqa.analysis.tables import AuditTables

GENERAL = "general"
HEADLINE_SCOPE = "cross_institution"
SCOPES = (HEADLINE_SCOPE, "cross_phase", "same_institution")


@dataclass(frozen=True)
class Facet:
    """A way to cut the audit: member names, and counts of (questions, members, states)."""

    name: str
    members: tuple[str, ...]
    counts: IntArray


@dataclass(frozen=True)
class Attributes:
    """Which member of each attribute a document is of (-1: none), and which questions are in each group and topic."""

    institutions: tuple[str, ...]
    groups: tuple[str, ...]
    phases: tuple[str, ...]
    institution: IntArray
    group: IntArray
    phase: IntArray
    question_group: dict[str, Mask]
    topic: dict[str, Mask]
    subtopic: dict[str, Mask]


def read_attributes(tables: AuditTables, cells: Cells) -> Attributes:
    """Look up the attributes of the readable documents and of the questions, in the order of ``cells``."""
    rows = {row["document_id"]: row for row in tables.documents.to_pylist()}
    documents = [rows[document] for document in cells.document_ids]
    asked = {row["question_id"]: row for row in tables.questions.to_pylist()}
    questions = [asked[question] for question in cells.question_ids]
    institutions, institution = _encode([row["institution"] for row in documents])
    groups, group = _encode([row["group"] for row in documents])
    phases, phase = _encode([row["phase"] for row in documents])
    return Attributes(
        institutions,
        groups,
        phases,
        institution,
        group,
        phase,
        _members([row["groups"] or [GENERAL] for row in questions]),
        _members([row["topics"] for row in questions]),
        _members([row["subtopics"] for row in questions]),
    )


def _encode(values: list[str | None]) -> tuple[tuple[str, ...], IntArray]:
    names = tuple(sorted({value for value in values if value is not None}))
    at = {name: place for place, name in enumerate(names)}
    return names, np.array([-1 if value is None else at[value] for value in values], dtype=np.int32)


def _members(values: list[list[str]]) -> dict[str, Mask]:
    names = sorted({name for row in values for name in row})
    return {name: np.array([name in row for row in values], dtype=np.bool_) for name in names}


def scope_of(pairs: Pairs, attributes: Attributes, spanning_phases: tuple[str, ...]) -> IntArray:
    """Return the position in ``SCOPES`` of each pair.

    Phases are compatible when equal, when one is unknown, or when one is in ``spanning_phases``.
    """
    phase = attributes.phase
    spans = np.array([attributes.phases[place] in spanning_phases if place >= 0 else True for place in phase], np.bool_)
    same_institution = attributes.institution[pairs.a] == attributes.institution[pairs.b]
    compatible = (phase[pairs.a] == phase[pairs.b]) | spans[pairs.a] | spans[pairs.b]
    return np.where(same_institution, 2, np.where(compatible, 0, 1)).astype(np.int8)


def select(pairs: Pairs, mask: Mask) -> Pairs:
    """Return the pairs where ``mask`` holds."""
    return Pairs(pairs.question[mask], pairs.a[mask], pairs.b[mask], pairs.state[mask])


def cell_facets(cells: Cells, attributes: Attributes) -> list[Facet]:
    """Count cell states for the whole, each document and each document attribute, then for question strata."""
    questions = len(cells.question_ids)

    def by(name: str, members: tuple[str, ...], member: IntArray) -> Facet:
        shape = (questions, len(members), CELL_STATES)
        return Facet(name, members, count(cells.question, member, cells.state, shape))

    everything = by("all", ("",), np.zeros_like(cells.document))
    return [
        everything,
        *_question_facets(everything.counts[:, 0], attributes),
        by("institution", attributes.institutions, attributes.institution[cells.document]),
        by("document_group", attributes.groups, attributes.group[cells.document]),
        by("phase", attributes.phases, attributes.phase[cells.document]),
        by("document", cells.document_ids, cells.document),
    ]


def pair_facets(cells: Cells, pairs: Pairs, scope: IntArray, attributes: Attributes) -> list[Facet]:
    """Count pair states of the headline scope for the whole and every stratum, and of each scope.

    A pair belongs to both its documents and both its institutions (once where they are the same); to a document group
    or phase only where both its documents are of it.
    """
    questions = len(cells.question_ids)
    headline = select(pairs, scope == SCOPES.index(HEADLINE_SCOPE))

    def by(name: str, members: tuple[str, ...], chosen: Pairs, member: IntArray) -> Facet:
        shape = (questions, len(members), PAIR_STATES)
        return Facet(name, members, count(chosen.question, member, chosen.state, shape))

    def touching(name: str, members: tuple[str, ...], of: IntArray) -> Facet:
        first, second = of[headline.a], of[headline.b]
        other = np.where(first == second, -1, second)
        sides = (by(name, members, headline, first), by(name, members, headline, other))
        return Facet(name, members, sides[0].counts + sides[1].counts)

    def within(name: str, members: tuple[str, ...], of: IntArray) -> Facet:
        first, second = of[headline.a], of[headline.b]
        return by(name, members, headline, np.where(first == second, first, -1))

    everything = by("all", ("",), headline, np.zeros_like(headline.a))
    scopes = by("scope", SCOPES, pairs, scope)
    summed = np.concatenate([scopes.counts, scopes.counts.sum(axis=1, keepdims=True)], axis=1)
    return [
        everything,
        *_question_facets(everything.counts[:, 0], attributes),
        Facet("scope", (*SCOPES, "all"), summed),
        touching("institution", attributes.institutions, attributes.institution),
        within("document_group", attributes.groups, attributes.group),
        within("phase", attributes.phases, attributes.phase),
        touching("document", cells.document_ids, np.arange(len(cells.document_ids), dtype=np.int32)),
    ]


def _question_facets(counts: IntArray, attributes: Attributes) -> list[Facet]:
    facets = []
    for name, members in (
        ("group", attributes.question_group),
        ("topic", attributes.topic),
        ("subtopic", attributes.subtopic),
    ):
        masks = [counts * mask[:, None] for mask in members.values()]
        if masks:
            facets.append(Facet(name, tuple(members), np.stack(masks, axis=1)))
    return facets
