"""A finished run of the papers' size with made-up rows, as the stages would write it: what benchmarks.release reads."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from transplantqa.records import Label
from transplantqa.store import tables as t

GROUP_SIZES = {"heart": 26, "lung": 26, "kidney": 22, "liver": 17, "pancreas": 11}  # the papers' documents by organ
GENERAL, OF_A_GROUP = 311, 804  # the papers' questions
SECTIONS, PASSAGES, CANDIDATES = 100, 6, 30
ANSWERED = 0.3
VOCABULARY = 4_000
RANKERS = ("dense", "bm25", "section_body", "section_title")


@dataclass(frozen=True)
class Size:
    """How many answers and comparisons a run has."""

    answers: int
    comparisons: int


def write_run(folder: Path, share: float) -> Size:
    """Write a run with a share of the papers' questions, and return its size."""
    rng = np.random.default_rng(0)
    folder.mkdir(parents=True)
    documents = [f"{group}_{place:02}" for group, size in GROUP_SIZES.items() for place in range(size)]
    groups = [name.partition("_")[0] for name in documents]
    questions, cells = _design(documents, groups, share)
    answered = rng.random(len(cells)) < ANSWERED
    comparisons = _comparisons(cells, answered, rng)
    made = {
        "documents": _documents(documents, groups),
        "sections": _sections(documents, rng),
        "questions": _from_rows(t.QUESTIONS, questions),
        "evidence": _evidence(cells, rng),
        "answers": _answers(cells, answered, rng),
        "comparisons": comparisons,
    }
    for name, table in made.items():
        pq.write_table(table, folder / f"{name}.parquet", compression="zstd")
    record = {"run_id": "made-up", "system": "made_up", "config": {}, "fingerprints": {}}
    (folder / "run.json").write_text(json.dumps(record), encoding="utf-8")
    measured = {"metrics": {"absence_rate": 1 - ANSWERED, "absence_rate_n": len(cells)}, "gold": {}}
    (folder / "metrics.json").write_text(json.dumps(measured), encoding="utf-8")
    return Size(len(cells), comparisons.num_rows)


def _design(
    documents: Sequence[str], groups: Sequence[str], share: float
) -> tuple[list[dict[str, Any]], list[tuple[str, str]]]:
    """Return the questions, and every (question, document) cell in the order of questions."""
    names = list(GROUP_SIZES)
    asked = [("general", documents)] * round(GENERAL * share)
    for place in range(round(OF_A_GROUP * share)):
        group = names[place % len(names)]
        asked.append((group, [name for name, own in zip(documents, groups, strict=True) if own == group]))
    questions, cells = [], []
    for place, (group, own) in enumerate(asked):
        name = f"q{place:05}"
        of = [] if group == "general" else [group]
        fields = {"topics": ["Lifestyle"], "subtopics": [], "source": None}
        questions.append({"question_id": name, "text": f"May I do thing {place}?", "groups": of, **fields})
        cells += [(name, document) for document in own]
    return questions, cells


def _from_rows(spec: t.TableSpec, rows: Sequence[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), schema=spec.schema)


def _documents(documents: Sequence[str], groups: Sequence[str]) -> pa.Table:
    facts: dict[str, Any] = {
        "phase": None,
        "year": None,
        "sha256": "0" * 64,
        "pages": 60,
        "characters": 150_000,
        "tokens": 40_000,
    }
    facts |= {"licence": "CC-BY-4.0", "redistributable": True, "verdict": "accept", "reasons": []}
    rows = [
        {"document_id": name, "institution": f"Center {place % 23}", "group": group, "title": name, **facts}
        | {"source_file": f"{name}.pdf"}
        for place, (name, group) in enumerate(zip(documents, groups, strict=True))
    ]
    return _from_rows(t.DOCUMENTS, rows)


def _sections(documents: Sequence[str], rng: np.random.Generator) -> pa.Table:
    rows = []
    for document in documents:
        for place in range(SECTIONS):
            facts = {"section_id": f"{document}/s{place:03}", "document_id": document, "order": place, "level": 1}
            pages = {"page_start": place // 2 + 1, "page_end": place // 2 + 1, "tokens": 300}
            heading = {"heading": f"Section {place}", "heading_path": [f"Section {place}"]}
            rows.append({**facts, **heading, **pages, "text": _text(rng, 250)})
    return _from_rows(t.SECTIONS, rows)


@cache
def _words() -> np.ndarray:
    """Return made-up words of 2 to 9 letters."""
    rng = np.random.default_rng(1)
    letters = rng.integers(ord("a"), ord("z") + 1, (VOCABULARY, 9)).astype(np.uint8)
    return np.array([bytes(row[: 2 + place % 8]).decode() for place, row in enumerate(letters)])


def _text(rng: np.random.Generator, words: int) -> str:
    return " ".join(_words()[_places(rng, words)])


def _places(rng: np.random.Generator, count: int) -> np.ndarray:
    """Draw words, the first ones oftener than the last."""
    return np.asarray(rng.random(count) ** 3 * VOCABULARY, dtype=np.int64)


def _texts(rng: np.random.Generator, wanted: np.ndarray, words: int, otherwise: str | None) -> pa.Array:
    """Return a text of its own wherever one is wanted."""
    drawn = iter(_words()[_places(rng, int(wanted.sum()) * words)].reshape(-1, words).tolist())
    return pa.array([" ".join(next(drawn)) if want else otherwise for want in wanted.tolist()], pa.string())


def _answers(cells: Sequence[tuple[str, str]], answered: np.ndarray, rng: np.random.Generator) -> pa.Table:
    count = len(cells)
    texts = _texts(rng, answered, 90, "NOT ADDRESSED")
    citation = {"heading": "Section 3", "page": 2, "valid": True}
    columns: dict[str, Any] = {
        "question_id": [question for question, _ in cells],
        "document_id": [document for _, document in cells],
        "variant": ["default"] * count,
        "outcome": ["ok" if found else "abstained" for found in answered],
        "text": texts,
        "citations": [[citation] if found else [] for found in answered],
        "reasoning": [None] * count,
        "finish_reason": ["stop"] * count,
        "raw": texts,
        "error": [None] * count,
        "inputs_sha256": [f"{number:064x}" for number in range(count)],
        "seconds": rng.random(count),
        **{name: [7] * count for name in ("prompt_tokens", "cached_tokens", "completion_tokens", "attempt")},
    }
    return _table(t.ANSWERS.schema, columns)


def _table(schema: pa.Schema, columns: dict[str, Any]) -> pa.Table:
    arrays = [
        column if isinstance(column, pa.Array) else pa.array(column, field.type)
        for field in schema
        for column in (columns[field.name],)
    ]
    return pa.Table.from_arrays(
        [array.cast(field.type) for array, field in zip(arrays, schema, strict=True)], schema=schema
    )


def _strings(values: np.ndarray) -> pa.Array:
    """Return a NumPy array of texts as one Arrow array, which is in chunks where it is long."""
    made = pa.array(values)
    return made.combine_chunks() if isinstance(made, pa.ChunkedArray) else made


def _where(wanted: np.ndarray, values: pa.Array) -> pa.Array:
    return pc.if_else(pa.array(wanted), values, None)


def _comparisons(cells: Sequence[tuple[str, str]], answered: np.ndarray, rng: np.random.Generator) -> pa.Table:
    starts = [place for place, cell in enumerate(cells) if place == 0 or cell[0] != cells[place - 1][0]]
    bounds = [*starts, len(cells)]
    left, right = [], []
    for start, end in pairwise(bounds):
        pairs = np.array(list(combinations(range(start, end), 2)))
        left.append(pairs[:, 0])
        right.append(pairs[:, 1])
    first, second = np.concatenate(left), np.concatenate(right)
    names = np.array([document for _, document in cells])
    turned = names[first] > names[second]
    first, second = np.where(turned, second, first), np.where(turned, first, second)
    both = answered[first] & answered[second]
    count = len(first)
    labels = np.array([str(label) for label in Label])
    chosen = np.where(both, rng.choice(labels[1:], count, p=[0.07, 0.77, 0.15, 0.01]), "ABSENT")
    conflict = np.isin(chosen, ["DIVERGENT", "CONTRADICTORY"])
    question = np.array([name for name, _ in cells])
    columns = {
        "question_id": _strings(question[first]),
        "document_a": _strings(names[first]),
        "document_b": _strings(names[second]),
        "outcome": pa.repeat("ok", count),
        "label": _strings(chosen),
        "silent_side": _where(~both, _strings(np.where(answered[first], "b", np.where(answered[second], "a", "both")))),
        "decided_by": _strings(np.where(both, "judge", "prescreen")),
        "consistent": pa.nulls(count, pa.bool_()),
        "reasoning": _texts(rng, both, 35, None),
        "divergence_topic": _where(conflict, pa.repeat("timing of driving", count)),
        "significance": _where(conflict, pa.repeat("medium", count)),
    }
    return _table(t.COMPARISONS.schema, columns)


def _evidence(cells: Sequence[tuple[str, str]], rng: np.random.Generator) -> pa.Table:
    count = len(cells)
    documents = np.array([document for _, document in cells])
    columns: dict[str, Any] = {
        "question_id": [question for question, _ in cells],
        "document_id": _strings(documents),
        "route": ["retrieved"] * count,
        "passages": _passages(documents, rng),
        "candidates": _candidates(documents, rng),
        "top_score": rng.random(count),
        "tokens": [1500] * count,
        "outcome": ["ok"] * count,
        "error": [None] * count,
        "attempt": [1] * count,
        "inputs_sha256": [f"{number:064x}" for number in range(count)],
    }
    return _table(t.EVIDENCE.schema, columns)


def _lists(structs: pa.Array, size: int) -> pa.Array:
    offsets = pa.array(np.arange(0, len(structs) + 1, size), pa.int32())
    return pa.ListArray.from_arrays(offsets, structs)


def _passages(documents: np.ndarray, rng: np.random.Generator) -> pa.Array:
    owners = np.repeat(documents, PASSAGES)
    sections = rng.integers(0, SECTIONS, len(owners))
    names = [f"{owner}/s{place:03}" for owner, place in zip(owners, sections, strict=True)]
    fixed = {"char_start": 0, "char_end": 900, "page_start": 1, "page_end": 2, "tokens": 250, "rank": 1}
    columns = {
        "section_id": pa.array(names),
        "text_sha256": pa.repeat("0" * 64, len(owners)),
        **{name: pa.array(np.full(len(owners), value), pa.int32()) for name, value in fixed.items()},
    }
    return _lists(pa.StructArray.from_arrays([columns[f.name] for f in t.PASSAGE], fields=list(t.PASSAGE)), PASSAGES)


def _candidates(documents: np.ndarray, rng: np.random.Generator) -> pa.Array:
    owners = np.repeat(documents, CANDIDATES)
    places = rng.integers(0, SECTIONS, len(owners))
    count = len(owners)
    scores = {
        "ranker": _strings(np.tile(np.array(RANKERS), count)),
        "rank": pa.array(rng.integers(1, 50, count * len(RANKERS)), pa.int32()),
        "score": pa.array(rng.random(count * len(RANKERS))),
    }
    ranked = pa.StructArray.from_arrays([scores[f.name] for f in t.RANKER_SCORE], fields=list(t.RANKER_SCORE))
    columns = {
        "chunk_id": pa.array([f"{owner}/s{place:03}/c0" for owner, place in zip(owners, places, strict=True)]),
        "rankers": _lists(ranked, len(RANKERS)),
        "fused_score": pa.array(rng.random(count)),
        "rerank_score": pa.nulls(count, pa.float64()),
        "kept": pa.array(np.tile(np.arange(CANDIDATES) < PASSAGES, len(documents))),
        "why": pa.repeat("best fused rank", count),
    }
    return _lists(
        pa.StructArray.from_arrays([columns[f.name] for f in t.CANDIDATE], fields=list(t.CANDIDATE)), CANDIDATES
    )
