"""Themes of disagreement: what the judge says that conflicting pairs are about, gathered by meaning."""

import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from transplantqa.analysis.linkage import average_linkage, cut
from transplantqa.analysis.tables import Findings
from transplantqa.models.protocols import Embedder
from transplantqa.records import CONFLICT_LABELS, Outcome

MOST_PARAPHRASES = 10
"""Strings of a theme that its row shows; all are in ``theme_strings``."""
THEMES = pa.schema(
    [
        pa.field("theme", pa.string(), nullable=False),
        pa.field("instances", pa.int64(), nullable=False),
        pa.field("strings", pa.int64(), nullable=False),
        pa.field("questions", pa.int64(), nullable=False),
        pa.field("documents", pa.int64(), nullable=False),
        pa.field("rated", pa.int64(), nullable=False),
        pa.field("high", pa.int64(), nullable=False),
        pa.field("high_share", pa.float64()),
        pa.field("stability", pa.float64()),
        pa.field("paraphrases", pa.list_(pa.string()), nullable=False),
    ]
)
"""``instances``: conflicting pairs; ``strings``: distinct topics; ``stability``: see ``theme_findings``."""
STRINGS = pa.schema(
    [
        pa.field("string", pa.string(), nullable=False),
        pa.field("theme", pa.string(), nullable=False),
        pa.field("instances", pa.int64(), nullable=False),
    ]
)
_COLUMNS = ["question_id", "document_a", "document_b", "divergence_topic", "significance"]
Labels = NDArray[np.int64]


@dataclass
class _Topic:
    """One distinct topic string: how it is written, and the conflicts it is said of."""

    spellings: Counter[str] = field(default_factory=Counter)
    questions: set[str] = field(default_factory=set)
    documents: set[str] = field(default_factory=set)
    rated: int = 0
    high: int = 0

    @property
    def name(self) -> str:
        """The most frequent spelling; of equals the first in order."""
        return min(self.spellings, key=lambda text: (-self.spellings[text], text))

    def add(self, row: Mapping[str, str | None], spelling: str) -> None:
        """Count a conflicting pair that is said to be about it."""
        self.spellings[spelling] += 1
        self.questions.add(str(row["question_id"]))
        self.documents |= {str(row["document_a"]), str(row["document_b"])}
        self.rated += row["significance"] is not None
        self.high += row["significance"] == "high"


def theme_findings(
    comparisons: pa.Table, embedder: Embedder, distance: float, other_distances: Sequence[float]
) -> Findings:
    """Cluster the divergence topics of all conflicting pairs, of every scope.

    Topics that differ only in case, spacing or Unicode form are one string. Strings are joined by average linkage of
    their vectors' cosine distance up to ``distance``; a theme is named by its most frequent string.

    Returns:
        Tables ``themes`` (most instances first) and ``theme_strings``; figures ``themes``, ``theme_strings``,
        ``theme_instances``, and for each other distance ``themes_at/<distance>`` and ``theme_agreement_at/<distance>``,
        the adjusted Rand index with the themes. A theme's ``stability`` is the least, over the other distances, of its
        largest overlap (Jaccard, of strings) with a theme there: 1 where it is the same at all of them.
    """
    topics = _topics(comparisons)
    names = [topic.name for topic in topics]
    vectors = embedder.embed_passages(names) if names else np.zeros((0, 1), np.float32)
    merges = average_linkage(vectors, max(distance, *other_distances, 0.0))
    label = cut(merges, distance)
    others = {other: cut(merges, other) for other in other_distances}
    themes, strings = _tables(topics, label, _stability(label, list(others.values())))
    metrics: dict[str, float | int] = {
        "themes": themes.num_rows,
        "theme_strings": len(topics),
        "theme_instances": sum(topic.spellings.total() for topic in topics),
    }
    for other, there in others.items():
        metrics[f"themes_at/{other:g}"] = len(np.unique(there))
        if len(topics) > 1:
            metrics[f"theme_agreement_at/{other:g}"] = _adjusted_rand(label, there)
    return Findings(metrics, {"themes": themes, "theme_strings": strings})


def _topics(comparisons: pa.Table) -> list[_Topic]:
    """Return the distinct topics in the order of their folded text."""
    conflict = pc.is_in(comparisons["label"], value_set=pa.array(sorted(CONFLICT_LABELS), pa.string()))
    chosen = pc.and_(conflict, pc.equal(comparisons["outcome"], str(Outcome.OK)))
    found: dict[str, _Topic] = {}
    for row in comparisons.select(_COLUMNS).filter(chosen).to_pylist():
        spelling = " ".join(unicodedata.normalize("NFC", row["divergence_topic"] or "").split())
        if spelling:
            found.setdefault(spelling.casefold(), _Topic()).add(row, spelling)
    return [found[key] for key in sorted(found)]


def _stability(label: Labels, others: Sequence[Labels]) -> dict[int, float]:
    """Return each theme's label to its stability; empty without other distances."""
    if not others:
        return {}
    least = dict.fromkeys(np.unique(label).tolist(), 1.0)
    for there in others:
        sizes = [
            dict(zip(*(part.tolist() for part in np.unique(one, return_counts=True)), strict=True))
            for one in (label, there)
        ]
        shared, counts = np.unique(np.stack([label, there]), axis=1, return_counts=True)
        best = dict.fromkeys(least, 0.0)
        for here, over, count in zip(*shared.tolist(), counts.tolist(), strict=True):
            best[here] = max(best[here], count / (sizes[0][here] + sizes[1][over] - count))
        least = {theme: min(value, best[theme]) for theme, value in least.items()}
    return least


def _tables(topics: Sequence[_Topic], label: Labels, stability: Mapping[int, float]) -> tuple[pa.Table, pa.Table]:
    members: dict[int, list[_Topic]] = {}
    for topic, theme in zip(topics, label.tolist(), strict=True):
        members.setdefault(theme, []).append(topic)
    themes, strings = [], []
    for theme, found in members.items():
        found.sort(key=lambda topic: (-topic.spellings.total(), topic.name))
        row = _row(found, stability.get(theme))
        themes.append(row)
        strings += [
            {"string": topic.name, "theme": row["theme"], "instances": topic.spellings.total()} for topic in found
        ]
    themes.sort(key=lambda row: (-row["instances"], row["theme"]))
    strings.sort(key=lambda row: (row["theme"], -row["instances"], row["string"]))
    return pa.Table.from_pylist(themes, schema=THEMES), pa.Table.from_pylist(strings, schema=STRINGS)


def _row(found: Sequence[_Topic], stability: float | None) -> dict[str, Any]:
    rated, high = sum(topic.rated for topic in found), sum(topic.high for topic in found)
    return {
        "theme": found[0].name,
        "instances": sum(topic.spellings.total() for topic in found),
        "strings": len(found),
        "questions": len(set[str]().union(*(topic.questions for topic in found))),
        "documents": len(set[str]().union(*(topic.documents for topic in found))),
        "rated": rated,
        "high": high,
        "high_share": high / rated if rated else None,
        "stability": stability,
        "paraphrases": [topic.name for topic in found[:MOST_PARAPHRASES]],
    }


def _adjusted_rand(first: Labels, second: Labels) -> float:
    from sklearn.metrics import adjusted_rand_score  # noqa: PLC0415 - heavy

    return float(adjusted_rand_score(first, second))
