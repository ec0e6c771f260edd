"""From a run's rows to published rows: Arrow in, Arrow out, batch by batch."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from transplantqa.errors import InputError
from transplantqa.redaction import redact
from transplantqa.release.features import LABELS
from transplantqa.release.names import DocumentNames

Columns = dict[str, pa.Array]

_PATH = re.compile(r"(?:~|/[\w.~-]+)(?:/[\w.~-]+)*/([\w.~-]+)")


@dataclass(frozen=True)
class Publisher:
    """Publishes rows of one run.

    ``texts`` maps a section id to its text for documents that may be redistributed, and only those.
    """

    names: DocumentNames
    texts: Mapping[str, str]

    def publish(self, config: str, batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
        """Return the published form of a batch of one of ``SYSTEM_CONFIGS``.

        Raises:
            InputError: if the batch lacks a column or holds a label that isn't one.
        """
        shape: Callable[[Columns], Columns] = {
            "answers": self._answers,
            "evidence": self._evidence,
            "comparisons": self._comparisons,
            "judgements": self._judgements,
            "themes": lambda columns: columns,
            "judge_validation": self._judge_validation,
        }[config]
        columns = shape(dict(zip(batch.schema.names, batch.columns, strict=True)))
        missing = [name for name in schema.names if name not in columns]
        if missing:
            raise InputError(
                f"{config}: the run has no column {', '.join(missing)}; it was made by another version.\n"
                "Run it again: finished work is reused."
            )
        return pa.RecordBatch.from_arrays([columns[field.name].cast(field.type) for field in schema], schema=schema)

    def _answers(self, columns: Columns) -> Columns:
        return {
            **columns,
            "document_id": mapped(columns["document_id"], self.names.document),
            "error": mapped(columns["error"], self._reason),
        }

    def _comparisons(self, columns: Columns) -> Columns:
        pair, turned = self._pair(columns)
        sides = {"silent_side": _turned(columns["silent_side"], turned)}
        return {**columns, **pair, **sides, "label": _class_labels(columns["label"])}

    def _judgements(self, columns: Columns) -> Columns:
        pair, turned = self._pair(columns)
        sides = {name: _turned(columns[name], turned) for name in ("silent_side", "shown_first")}
        return {**columns, **pair, **sides, "label": _class_labels(columns["label"])}

    def _judge_validation(self, columns: Columns) -> Columns:
        pair, turned = self._pair(columns)
        labels = {name: _class_labels(columns[name]) for name in ("judge_label", "label")}
        first, second = columns["answer_a_sha256"], columns["answer_b_sha256"]
        hashes = {
            "answer_a_sha256": pc.if_else(turned, second, first),
            "answer_b_sha256": pc.if_else(turned, first, second),
        }
        return {**columns, **pair, **labels, **hashes}

    def _pair(self, columns: Columns) -> tuple[Columns, pa.Array]:
        """Return a pair's published ids, and where they were turned: pairs are kept with a < b under any names."""
        left = mapped(columns["document_a"], self.names.document)
        right = mapped(columns["document_b"], self.names.document)
        turned = pc.greater(left, right)
        pair = {"document_a": pc.if_else(turned, right, left), "document_b": pc.if_else(turned, left, right)}
        return pair, turned

    def _evidence(self, columns: Columns) -> Columns:
        return {
            **columns,
            "document_id": mapped(columns["document_id"], self.names.document),
            "passages": within(columns["passages"], self._passages),
            "candidates": within(columns["candidates"], self._candidates),
            "error": mapped(columns["error"], self._reason),
        }

    def _reason(self, error: str | None) -> str | None:
        """Return why a unit ended as it did, without secrets and local paths."""
        return None if error is None else self.names.reason(_PATH.sub(r"\1", redact(error)))

    def _passages(self, passages: Columns) -> Columns:
        spans = (passages[name].to_pylist() for name in ("section_id", "char_start", "char_end"))
        texts = [self._span(*span) for span in zip(*spans, strict=True)]
        return {
            **passages,
            "section_id": mapped(passages["section_id"], self.names.part),
            "text": pa.array(texts, pa.string()),
        }

    def _span(self, section_id: str, start: int, end: int) -> str | None:
        text = self.texts.get(section_id)
        return None if text is None else text[start:end]

    def _candidates(self, candidates: Columns) -> Columns:
        return {**candidates, "chunk_id": mapped(candidates["chunk_id"], self.names.part)}


def mapped(column: pa.Array, rename: Callable[[str], str | None]) -> pa.Array:
    """Return a text column with each different value renamed once; nulls stay."""
    encoded = column.dictionary_encode()
    renamed = pa.array([rename(value) for value in encoded.dictionary.to_pylist()], pa.string())
    return renamed.take(encoded.indices)


def within(column: pa.Array, change: Callable[[Columns], Columns]) -> pa.Array:
    """Return a list-of-struct column with ``change`` applied to the structs' fields; null lists become empty."""
    structs = column.flatten()
    fields = {kind.name: array for kind, array in zip(structs.type, structs.flatten(), strict=True)}
    changed = change(fields)
    lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())
    return pa.ListArray.from_arrays(offsets, pa.StructArray.from_arrays(list(changed.values()), list(changed)))


def _turned(sides: pa.Array, turned: pa.Array) -> pa.Array:
    """Return sides of pairs with a and b exchanged where the pair was turned."""
    other = mapped(sides, lambda side: {"a": "b", "b": "a"}.get(side, side))
    return pc.if_else(turned, other, sides)


def _class_labels(labels: pa.Array) -> pa.Array:
    indices = pc.index_in(labels, value_set=pa.array(LABELS, pa.string()))
    unknown = labels.filter(pc.and_(pc.is_valid(labels), pc.is_null(indices)))
    if len(unknown):
        found = ", ".join(sorted(set(unknown.to_pylist())))
        raise InputError(
            f"{found} is not a label; labels are {', '.join(LABELS)}.\n"
            "The run was made by another version. Run it again: finished work is reused."
        )
    return indices
