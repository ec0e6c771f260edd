"""Search of a built release for personal data and secrets, batch by batch."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from transplantqa.errors import InputError
from transplantqa.redaction import redact
from transplantqa.release.personal_data import ANY, ANY_CASE, key, personal_data
from transplantqa.release.record import ReleaseRecord, table_path

SCANNED: Mapping[str, tuple[str, ...]] = {
    "questions": ("text",),
    "answers": ("text", "reasoning"),
    "comparisons": ("reasoning", "divergence_topic"),
}
"""Config to the columns written by people or models, which may speak of a person."""

_KEYS = ("question_id", "document_id", "document_a", "document_b")
_BATCH_ROWS = 16_384


@dataclass(frozen=True, slots=True)
class Suspect:
    """One value that looks like personal data: where (config/split), in which row, of which documents."""

    config: str
    split: str
    unit: str
    documents: tuple[str, ...]
    kind: str
    value: str


def suspects(folder: Path, rows: Mapping[str, Mapping[str, Any]]) -> Iterator[Suspect]:
    """Yield everything that looks like personal data in a release's questions, answers and judge's words.

    Args:
        folder: the release.
        rows: config to its splits, as ``ReleaseRecord.rows``.
    """
    for config, columns in SCANNED.items():
        for split in rows.get(config, {}):
            for row, column in _sifted(folder, config, split, columns):
                unit = ", ".join(str(row[name]) for name in _KEYS if name in row)
                documents = tuple(str(row[name]) for name in _KEYS[1:] if name in row)
                for kind, value in personal_data(row[column]):
                    yield Suspect(config, split, unit, documents, kind, value)


def contacts(folder: Path, rows: Mapping[str, Mapping[str, Any]], texts: Mapping[str, str]) -> list[str]:
    """Return the values that a document itself publishes: an institution's own telephone number in its answer.

    Args:
        folder: the release.
        rows: config to its splits.
        texts: published document id to the document's whole text.
    """
    squeezed: dict[str, str] = {}
    found = set()
    for suspect in suspects(folder, rows):
        for document in suspect.documents:
            if document not in squeezed:
                squeezed[document] = key(texts.get(document, ""))
            if key(suspect.value) in squeezed[document]:
                found.add(suspect.value)
    return sorted(found)


def secret_places(folder: Path, record: ReleaseRecord) -> Iterator[str]:
    """Yield where something looks like a token or a password: files, and columns of tables."""
    for path in record.files:
        if not path.endswith(".parquet") and _holds_secret(
            (folder / path).read_text(encoding="utf-8", errors="replace")
        ):
            yield path
    for config, split in record.tables():
        texts = [item.name for item in pq.read_schema(folder / table_path(config, split)) if _is_text(item.type)]
        found = {
            column
            for batch in read_batches(folder, config, split, texts)
            for column in texts
            if _holds_secret("\n".join(filter(None, batch[column].unique().to_pylist())))
        }
        yield from (f"{config}/{split}, {column}" for column in sorted(found))


def read_batches(folder: Path, config: str, split: str, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Read columns of one split.

    Raises:
        InputError: the file can't be read.
    """
    path = folder / table_path(config, split)
    try:
        with pq.ParquetFile(path) as file:
            yield from file.iter_batches(batch_size=_BATCH_ROWS, columns=list(columns))
    except (pa.ArrowException, OSError) as error:
        raise InputError(
            f"{path}: can't be read as Parquet ({error}).\nBuild the release again, or pull it again."
        ) from error


def _sifted(folder: Path, config: str, split: str, columns: Sequence[str]) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield (row, column) wherever a sieve finds something."""
    names = pq.read_schema(folder / table_path(config, split)).names
    keys = [name for name in _KEYS if name in names]
    for batch in read_batches(folder, config, split, [*keys, *columns]):
        for column in columns:
            hit = pc.or_(*(pc.match_substring_regex(batch[column], sieve) for sieve in (ANY, ANY_CASE)))
            chosen = batch.filter(pc.fill_null(hit, fill_value=False))
            yield from ((row, column) for row in chosen.select([*keys, column]).to_pylist())


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind))


def _holds_secret(text: str) -> bool:
    if redact(text) != text:
        return True
    try:
        content = json.loads(text)
    except ValueError:
        return False
    return isinstance(content, dict) and redact(content) != content
