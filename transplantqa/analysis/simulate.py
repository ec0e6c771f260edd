"""Audits with known truth: stances planted per (institution, question), never independent pairs."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from transplantqa.analysis.counts import SIGNIFICANCES
from transplantqa.analysis.tables import AuditTables
from transplantqa.store.tables import ANSWERS, COMPARISONS, DOCUMENTS, QUESTIONS

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Plan:
    """What is planted.

    An institution addresses a question with a chance that varies by question and institution, and takes the common
    stance or one of its own with a chance that varies by question. Its documents take its stance; each may leave the
    question out. Equal stances are CONSISTENT or COMPLEMENTARY, different ones DIVERGENT.

    Attributes:
        silence: mean chance that an institution doesn't address a question.
        dissent: mean chance that an institution takes a stance of its own.
        omission: chance that a document leaves out what its institution addresses.
        question_spread: how much silence and dissent vary by question: the beta distribution's ``a + b`` is its
        inverse.
        institution_spread: standard deviation, on the probability scale, of institutions' silence.
        failures: chance that a cell fails.
    """

    questions: int = 100
    institutions: int = 5
    documents_per_institution: int = 2
    silence: float = 0.4
    dissent: float = 0.15
    omission: float = 0.1
    question_spread: float = 0.3
    institution_spread: float = 0.1
    failures: float = 0.0
    topics: int = 5
    seed: int = 0


@dataclass(frozen=True)
class Planted:
    """Tables of an audit and what they were made from.

    Attributes:
        stance: (questions, institutions); 0 is the common stance.
        answered: (questions, documents), before failures.
        failed: (questions, documents).
        institution: (documents,).
        silence: (questions, institutions), the chance that was drawn from.
        dissent: (questions,), the chance that was drawn from.
    """

    tables: AuditTables
    stance: Ints
    answered: Bools
    failed: Bools
    institution: Ints
    silence: NDArray[np.float64]
    dissent: NDArray[np.float64]


def plant(plan: Plan) -> Planted:
    """Draw an audit; the same plan gives the same tables."""
    rng = np.random.default_rng(plan.seed)
    shape = (plan.questions, plan.institutions)
    silence = _chances(rng, plan.silence, plan.question_spread, plan.questions)[:, None]
    silence = np.clip(silence + rng.normal(0.0, plan.institution_spread, plan.institutions)[None, :], 0.0, 1.0)
    dissent = _chances(rng, plan.dissent, plan.question_spread, plan.questions)
    own = np.arange(1, plan.institutions + 1)
    stance = np.where(rng.random(shape) < dissent[:, None], own[None, :], 0)
    addressed = rng.random(shape) >= silence
    institution = np.repeat(np.arange(plan.institutions), plan.documents_per_institution)
    cells = (plan.questions, len(institution))
    answered = addressed[:, institution] & (rng.random(cells) >= plan.omission)
    failed = rng.random(cells) < plan.failures
    topic = rng.integers(plan.topics, size=plan.questions)
    tables = AuditTables(
        documents=_documents(institution),
        questions=_questions(topic),
        answers=_answers(answered, failed),
        comparisons=_comparisons(answered & ~failed, failed, stance[:, institution], rng),
    )
    return Planted(tables, stance, answered, failed, institution, silence, dissent)


def _chances(rng: np.random.Generator, mean: float, spread: float, size: int) -> NDArray[np.float64]:
    if spread <= 0 or mean in (0.0, 1.0):
        return np.full(size, mean)
    return rng.beta(mean / spread, (1.0 - mean) / spread, size)


def _ids(prefix: str, size: int) -> pa.Array:
    return pa.array([f"{prefix}{place:05d}" for place in range(size)], pa.string())


def _documents(institution: Ints) -> pa.Table:
    size = len(institution)
    return _filled(
        DOCUMENTS.schema,
        size,
        document_id=_ids("d", size),
        institution=_ids("i", int(institution.max(initial=-1)) + 1).take(pa.array(institution)),
        group=pa.array(["general"] * size),
        verdict=pa.array(["accept"] * size),
    )


def _questions(topic: Ints) -> pa.Table:
    size = len(topic)
    topics = pa.array([[f"topic {place}"] for place in topic.tolist()], pa.list_(pa.string()))
    return _filled(QUESTIONS.schema, size, question_id=_ids("q", size), topics=topics)


def _answers(answered: Bools, failed: Bools) -> pa.Table:
    questions, documents = answered.shape
    outcome = np.where(failed, 2, np.where(answered, 0, 1)).ravel()
    question, document = np.divmod(np.arange(answered.size), documents)
    return _filled(
        ANSWERS.schema,
        answered.size,
        question_id=_ids("q", questions).take(pa.array(question)),
        document_id=_ids("d", documents).take(pa.array(document)),
        variant=pa.array(["default"] * answered.size),
        outcome=pa.array(["ok", "abstained", "engine_error"]).take(pa.array(outcome)),
    )


def _comparisons(answered: Bools, failed: Bools, stance: Ints, rng: np.random.Generator) -> pa.Table:
    """Return a row for each pair that isn't failed: by the pre-screen where a side is silent, else by the judge."""
    questions, documents = answered.shape
    first, second = np.triu_indices(documents, 1)
    question = np.repeat(np.arange(questions), len(first))
    a, b = np.tile(first, questions), np.tile(second, questions)
    kept = ~(failed[question, a] | failed[question, b])
    question, a, b = question[kept], a[kept], b[kept]
    left, right = answered[question, a], answered[question, b]
    visible = left & right
    conflict = visible & (stance[question, a] != stance[question, b])
    agreement = rng.integers(1, 3, size=len(question))
    label = np.where(conflict, 3, np.where(visible, agreement, 0))
    side = np.where(left, 1, np.where(right, 0, 2))
    rating = rng.integers(len(SIGNIFICANCES), size=len(question))
    labels = pa.array(["ABSENT", "CONSISTENT", "COMPLEMENTARY", "DIVERGENT"])
    return _filled(
        COMPARISONS.schema,
        len(question),
        question_id=_ids("q", questions).take(pa.array(question)),
        document_a=_ids("d", documents).take(pa.array(a)),
        document_b=_ids("d", documents).take(pa.array(b)),
        outcome=pa.array(["ok"]).take(pa.array(np.zeros(len(question), np.int64))),
        label=labels.take(pa.array(label)),
        silent_side=pa.array(["a", "b", "both"]).take(pa.array(side, mask=visible)),
        decided_by=pa.array(["prescreen", "judge"]).take(pa.array(visible.astype(np.int64))),
        significance=pa.array(SIGNIFICANCES).take(pa.array(rating, mask=~conflict)),
    )


def _filled(schema: pa.Schema, size: int, **columns: pa.Array) -> pa.Table:
    """Return a table with ``schema``: the given columns, and empty text, zero, false or null for the others."""
    return pa.table([columns.get(field.name, _blank(field, size)) for field in schema], schema=schema)


def _blank(field: pa.Field, size: int) -> pa.Array:
    if field.nullable:
        return pa.nulls(size, field.type)
    if pa.types.is_list(field.type):
        return pa.ListArray.from_arrays(pa.array([0] * (size + 1), pa.int32()), pa.array([], field.type.value_type))
    blank = "" if pa.types.is_string(field.type) else 0
    return pa.array([blank] * size).cast(field.type)
