"""The published schema: one ``datasets.Features`` a config, the same for every split."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from transplantqa.records import Label

if TYPE_CHECKING:
    from datasets import Features

LABELS: tuple[str, ...] = tuple(label.value for label in Label)
"""Class names in their published order: coverage-agreement order. It never changes."""

SHARED_SPLIT = "shared"
"""The one split of what all systems share; ``datasets`` keeps the name ``all`` for itself."""

SHARED_CONFIGS = ("questions", "documents")
"""Configs that are the same for every system, with the one split ``shared``."""

SYSTEM_CONFIGS = ("answers", "evidence", "comparisons", "judgements", "themes", "judge_validation")
"""Configs with a split for every system."""

OPTIONAL_CONFIGS = ("judgements", "themes", "judge_validation")
"""Configs without a split for a system without a call of its judge, without themes, or whose judge nobody validated."""


def features() -> dict[str, "Features"]:
    """Return config to its features. Every column may be null; lists may be empty."""
    from datasets import Features  # noqa: PLC0415

    builders: Mapping[str, Callable[[], dict[str, Any]]] = {
        "questions": _questions,
        "documents": _documents,
        "answers": _answers,
        "evidence": _evidence,
        "comparisons": _comparisons,
        "judgements": _judgements,
        "themes": _themes,
        "judge_validation": _judge_validation,
    }
    return {config: Features(build()) for config, build in builders.items()}


def _values(**kinds: str) -> dict[str, Any]:
    from datasets import Value  # noqa: PLC0415

    return {name: Value(kind) for name, kind in kinds.items()}


def _list(kind: str | Mapping[str, Any]) -> Any:
    from datasets import List, Value  # noqa: PLC0415

    return List(Value(kind) if isinstance(kind, str) else dict(kind))


def _questions() -> dict[str, Any]:
    return {
        **_values(question_id="string", text="string"),
        "groups": _list("string"),
        "topics": _list("string"),
        "subtopics": _list("string"),
        **_values(source="string"),
    }


def _documents() -> dict[str, Any]:
    section = {
        **_values(section_id="string", order="int32", level="int32", heading="string"),
        "heading_path": _list("string"),
        **_values(page_start="int32", page_end="int32", text="string", tokens="int32"),
    }
    return {
        **_values(document_id="string", institution="string", group="string", phase="string", title="string"),
        **_values(year="int32", source_file="string", sha256="string", pages="int32", characters="int64"),
        **_values(tokens="int64", licence="string", redistributable="bool", verdict="string"),
        "reasons": _list("string"),
        "sections": _list(section),
    }


def _answers() -> dict[str, Any]:
    return {
        **_values(question_id="string", document_id="string", variant="string", outcome="string", text="string"),
        "citations": _list(_values(heading="string", page="int32", valid="bool")),
        **_values(reasoning="string", finish_reason="string", prompt_tokens="int32", cached_tokens="int32"),
        **_values(completion_tokens="int32", seconds="float64", attempt="int32", inputs_sha256="string"),
        **_values(error="string"),
    }


def _evidence() -> dict[str, Any]:
    passage = {
        **_values(section_id="string", char_start="int32", char_end="int32", text_sha256="string"),
        **_values(page_start="int32", page_end="int32", tokens="int32", rank="int32", text="string"),
    }
    candidate = {
        **_values(chunk_id="string"),
        "rankers": _list(_values(ranker="string", rank="int32", score="float64")),
        **_values(fused_score="float64", rerank_score="float64", kept="bool", why="string"),
    }
    return {
        **_values(question_id="string", document_id="string", route="string"),
        "passages": _list(passage),
        "candidates": _list(candidate),
        **_values(top_score="float64", tokens="int32", outcome="string", attempt="int32", inputs_sha256="string"),
        **_values(error="string"),
    }


def _comparisons() -> dict[str, Any]:
    from datasets import ClassLabel  # noqa: PLC0415

    return {
        **_values(question_id="string", document_a="string", document_b="string", outcome="string"),
        "label": ClassLabel(names=list(LABELS)),
        **_values(silent_side="string", decided_by="string", consistent="bool", reasoning="string"),
        **_values(divergence_topic="string", significance="string"),
    }


def _judgements() -> dict[str, Any]:
    from datasets import ClassLabel  # noqa: PLC0415

    return {
        **_values(question_id="string", document_a="string", document_b="string", variant="string"),
        **_values(shown_first="string", replicate="int32", outcome="string"),
        "label": ClassLabel(names=list(LABELS)),
        **_values(silent_side="string", divergence_topic="string", significance="string"),
        **_values(prompt_tokens="int32", cached_tokens="int32", completion_tokens="int32", seconds="float64"),
        **_values(attempt="int32", inputs_sha256="string"),
    }


def _themes() -> dict[str, Any]:
    return {
        **_values(theme="string", instances="int64", strings="int64", questions="int64", documents="int64"),
        **_values(rated="int64", high="int64", high_share="float64", stability="float64"),
        "paraphrases": _list("string"),
    }


def _judge_validation() -> dict[str, Any]:
    from datasets import ClassLabel  # noqa: PLC0415

    return {
        **_values(question_id="string", document_a="string", document_b="string"),
        **_values(answer_a_sha256="string", answer_b_sha256="string", stratum="string"),
        **_values(inclusion_probability="float64", stratum_pairs="int64"),
        "judge_label": ClassLabel(names=list(LABELS)),
        **_values(judge_significance="string", decided_by="string"),
        "label": ClassLabel(names=list(LABELS)),
        **_values(significance="string", decided="string", ratings="int64"),
    }
