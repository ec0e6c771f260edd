"""Every table's Arrow schema and key: the contracts between stages. Fields follow ``transplantqa.records``."""

from dataclasses import dataclass

import pyarrow as pa

STRING_LIST = pa.list_(pa.string())


def _required(name: str, kind: pa.DataType) -> pa.Field:
    return pa.field(name, kind, nullable=False)


@dataclass(frozen=True)
class TableSpec:
    """A named schema and the columns that identify a unit of it (for stage tables ``attempt`` tells tries apart)."""

    name: str
    key: tuple[str, ...]
    schema: pa.Schema


DOCUMENT_FIELDS = [
    _required("document_id", pa.string()),
    _required("institution", pa.string()),
    _required("group", pa.string()),
    pa.field("phase", pa.string()),
    _required("title", pa.string()),
    pa.field("year", pa.int32()),
    _required("source_file", pa.string()),
    _required("sha256", pa.string()),
    _required("pages", pa.int32()),
    _required("characters", pa.int64()),
    _required("tokens", pa.int64()),
    pa.field("licence", pa.string()),
    _required("redistributable", pa.bool_()),
    _required("verdict", pa.string()),
    _required("reasons", STRING_LIST),
]
SECTION_FIELDS = [
    _required("section_id", pa.string()),
    _required("document_id", pa.string()),
    _required("order", pa.int32()),
    _required("level", pa.int32()),
    _required("heading", pa.string()),
    _required("heading_path", STRING_LIST),
    _required("page_start", pa.int32()),
    _required("page_end", pa.int32()),
    _required("text", pa.string()),
    _required("tokens", pa.int32()),
]
CHUNK_FIELDS = [
    _required("chunk_id", pa.string()),
    _required("document_id", pa.string()),
    _required("section_id", pa.string()),
    _required("order", pa.int32()),
    _required("page_start", pa.int32()),
    _required("page_end", pa.int32()),
    _required("char_start", pa.int32()),
    _required("char_end", pa.int32()),
    _required("text", pa.string()),
    _required("tokens", pa.int32()),
]
QUESTION_FIELDS = [
    _required("question_id", pa.string()),
    _required("text", pa.string()),
    _required("groups", STRING_LIST),
    _required("topics", STRING_LIST),
    _required("subtopics", STRING_LIST),
    pa.field("source", pa.string()),
]
PASSAGE = pa.struct(
    [
        ("section_id", pa.string()),
        ("char_start", pa.int32()),
        ("char_end", pa.int32()),
        ("text_sha256", pa.string()),
        ("page_start", pa.int32()),
        ("page_end", pa.int32()),
        ("tokens", pa.int32()),
        ("rank", pa.int32()),
    ]
)
RANKER_SCORE = pa.struct([("ranker", pa.string()), ("rank", pa.int32()), ("score", pa.float64())])
CANDIDATE = pa.struct(
    [
        ("chunk_id", pa.string()),
        ("rankers", pa.list_(RANKER_SCORE)),
        ("fused_score", pa.float64()),
        ("rerank_score", pa.float64()),
        ("kept", pa.bool_()),
        ("why", pa.string()),
    ]
)
CITATION = pa.struct([("heading", pa.string()), ("page", pa.int32()), ("valid", pa.bool_())])
REMOVED_COUNT = pa.struct([("kind", pa.string()), ("count", pa.int32())])
SPAN = pa.struct([("start", pa.int32()), ("end", pa.int32())])
REMOVED_TEXT = pa.struct(
    [
        ("page", pa.int32()),
        ("kind", pa.string()),
        ("text", pa.string()),
        ("became", pa.string()),
        ("spans", pa.list_(SPAN)),
    ]
)
PAGE = pa.struct(
    [
        ("page", pa.int32()),
        ("characters", pa.int32()),
        ("text_from", pa.string()),
        ("verdict", pa.string()),
        ("reasons", STRING_LIST),
        ("text", pa.string()),
    ]
)
STAGE_FIELDS = [_required("attempt", pa.int32()), _required("inputs_sha256", pa.string())]
USAGE_FIELDS = [
    _required("raw", pa.string()),
    _required("prompt_tokens", pa.int32()),
    _required("cached_tokens", pa.int32()),
    _required("completion_tokens", pa.int32()),
    _required("seconds", pa.float64()),
]

DOCUMENTS = TableSpec("documents", ("document_id",), pa.schema(DOCUMENT_FIELDS))
SECTIONS = TableSpec("sections", ("section_id",), pa.schema(SECTION_FIELDS))
CHUNKS = TableSpec("chunks", ("chunk_id",), pa.schema(CHUNK_FIELDS))
QUESTIONS = TableSpec("questions", ("question_id",), pa.schema(QUESTION_FIELDS))

INGEST = TableSpec(
    "ingest",
    ("document_id",),
    pa.schema(
        [
            *DOCUMENT_FIELDS,
            _required("outcome", pa.string()),
            _required("sections", pa.list_(pa.struct(SECTION_FIELDS))),
            _required("chunks", pa.list_(pa.struct(CHUNK_FIELDS))),
            pa.field("headings_from", pa.string()),
            pa.field("removed", pa.list_(REMOVED_COUNT)),
            pa.field("removed_texts", pa.list_(REMOVED_TEXT)),
            pa.field("page_labels", STRING_LIST),
            pa.field("page_facts", pa.list_(PAGE)),
            *STAGE_FIELDS,
        ]
    ),
)
"""The stage table of ingestion: a document with its sections and chunks, so that one file is one unit.

``removed`` counts what cleaning changed and took out, ``removed_texts`` is each piece of that, with what stands in its
place and where it stood in the page's text. ``page_labels`` has one label a page, null where it is the page's place in
the file, counted from 1. ``page_facts`` has each page's own verdict and its text as the file gives it; ``text_from`` is
"file", "ocr" or "none".
"""

EMBED = TableSpec(
    "embed",
    ("text_sha256",),
    pa.schema(
        [
            _required("text_sha256", pa.string()),
            _required("vector", pa.list_(pa.float32())),
            _required("outcome", pa.string()),
            *STAGE_FIELDS,
        ]
    ),
)
"""Passage vectors by content, shared by every retriever that uses the same embedder."""

EVIDENCE = TableSpec(
    "evidence",
    ("question_id", "document_id"),
    pa.schema(
        [
            _required("question_id", pa.string()),
            _required("document_id", pa.string()),
            _required("route", pa.string()),
            _required("passages", pa.list_(PASSAGE)),
            _required("candidates", pa.list_(CANDIDATE)),
            pa.field("top_score", pa.float64()),
            _required("tokens", pa.int32()),
            _required("outcome", pa.string()),
            pa.field("error", pa.string()),
            *STAGE_FIELDS,
        ]
    ),
)
ANSWERS = TableSpec(
    "answers",
    ("question_id", "document_id", "variant"),
    pa.schema(
        [
            _required("question_id", pa.string()),
            _required("document_id", pa.string()),
            _required("variant", pa.string()),
            _required("outcome", pa.string()),
            _required("text", pa.string()),
            _required("citations", pa.list_(CITATION)),
            pa.field("reasoning", pa.string()),
            pa.field("finish_reason", pa.string()),
            *USAGE_FIELDS,
            pa.field("error", pa.string()),
            *STAGE_FIELDS,
        ]
    ),
)
JUDGEMENTS = TableSpec(
    "judgements",
    ("question_id", "document_a", "document_b", "variant", "shown_first", "replicate"),
    pa.schema(
        [
            _required("question_id", pa.string()),
            _required("document_a", pa.string()),
            _required("document_b", pa.string()),
            _required("variant", pa.string()),
            _required("shown_first", pa.string()),
            _required("replicate", pa.int32()),
            _required("outcome", pa.string()),
            pa.field("label", pa.string()),
            pa.field("silent_side", pa.string()),
            pa.field("reasoning", pa.string()),
            pa.field("divergence_topic", pa.string()),
            pa.field("significance", pa.string()),
            *USAGE_FIELDS,
            pa.field("error", pa.string()),
            *STAGE_FIELDS,
        ]
    ),
)
COMPARISONS = TableSpec(
    "comparisons",
    ("question_id", "document_a", "document_b"),
    pa.schema(
        [
            _required("question_id", pa.string()),
            _required("document_a", pa.string()),
            _required("document_b", pa.string()),
            _required("outcome", pa.string()),
            pa.field("label", pa.string()),
            pa.field("silent_side", pa.string()),
            pa.field("decided_by", pa.string()),
            pa.field("consistent", pa.bool_()),
            pa.field("reasoning", pa.string()),
            pa.field("divergence_topic", pa.string()),
            pa.field("significance", pa.string()),
        ]
    ),
)
"""Derived from answers and judgements, never a stage table. ``consistent`` is null where only one order was judged."""

HUMAN_LABELS = TableSpec(
    "human_labels",
    ("annotator", "question_id", "document_a", "document_b"),
    pa.schema(
        [
            _required("annotator", pa.string()),
            _required("question_id", pa.string()),
            _required("document_a", pa.string()),
            _required("document_b", pa.string()),
            _required("answer_a_sha256", pa.string()),
            _required("answer_b_sha256", pa.string()),
            _required("stratum", pa.string()),
            _required("inclusion_probability", pa.float64()),
            pa.field("label", pa.string()),
            pa.field("significance", pa.string()),
            pa.field("note", pa.string()),
        ]
    ),
)
"""What people said of a sample's pairs; a null label is missing and is never filled in."""
