"""Builds the folder of a release: whole, or not at all."""

import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from transplantqa.errors import InputError
from transplantqa.release.card import card, fill
from transplantqa.release.croissant import CROISSANT_FILE, croissant
from transplantqa.release.facts import CardFacts, SplitFile
from transplantqa.release.features import OPTIONAL_CONFIGS, SHARED_SPLIT, SYSTEM_CONFIGS, features
from transplantqa.release.manifests import manifest, manifest_bytes
from transplantqa.release.names import DocumentNames, Pseudonyms, split_names
from transplantqa.release.publish import Publisher
from transplantqa.release.record import RECORD_FILE, listed_files, make_record, table_path
from transplantqa.release.scan import contacts
from transplantqa.release.settings import ReleaseSettings
from transplantqa.release.sources import Sources, gather, source_texts
from transplantqa.store.atomic import json_bytes, refusals, write_atomically
from transplantqa.store.run_folder import RunFolder
from transplantqa.validation import reference_labels

if TYPE_CHECKING:
    from datasets import Features

PAGES = ("datasheet.md", "schema.md", "DATA_LICENSE")
_BATCH_ROWS = {"evidence": 2_048}
_DEFAULT_BATCH_ROWS = 65_536


@dataclass(frozen=True)
class ReleaseSummary:
    """What was built: the folder, rows by config and split, split names by system, documents without their text."""

    folder: Path
    rows: Mapping[str, Mapping[str, int]]
    splits: Mapping[str, str]
    withheld_documents: int


def build_release(runs: Mapping[str, RunFolder], target: Path, settings: ReleaseSettings) -> ReleaseSummary:
    """Build a dataset folder that ``datasets.load_dataset`` opens, from finished runs by system name.

    An earlier release at ``target`` is replaced once the new one is complete.

    Raises:
        InputError: if there is no run, a run isn't finished, runs contradict, or ``target`` holds something else.
        StoreError: if the folder can't be written.
    """
    if not runs:
        raise InputError("There is no run to release.\nName at least one: transplantqa release runs=[…].")
    _check_target(target, settings)
    splits = split_names(runs)
    building = target.with_name(f".{target.name}.building")
    shutil.rmtree(building, ignore_errors=True)
    try:
        with refusals("write the release", target):
            building.mkdir(parents=True)
            summary = _build(dict(sorted(runs.items())), building, settings, splits)
            _put_in_place(building, target)
    finally:
        shutil.rmtree(building, ignore_errors=True)
    return ReleaseSummary(target, summary.rows, summary.splits, summary.withheld_documents)


def _build(
    runs: Mapping[str, RunFolder], folder: Path, settings: ReleaseSettings, splits: Mapping[str, str]
) -> ReleaseSummary:
    schemas = features()
    sources = gather(runs.values())
    names = _document_names(settings)
    publisher = Publisher(names, sources.texts())
    written = _write_shared(folder, sources, names, schemas)
    for config in SYSTEM_CONFIGS:
        for system, run in runs.items():
            written.append(_write_system(folder, config, splits[system], run, publisher, schemas[config]))
    files = [file for file in written if file.rows]
    facts = CardFacts({splits[system]: run for system, run in runs.items()}, files, sources.withheld())
    for system, run in runs.items():
        content = manifest_bytes(manifest(run, splits[system], names))
        _write(folder / "manifests" / f"{splits[system]}.json", content)
    for page in PAGES:
        _write(folder / page, fill(page, settings, facts).encode())
    _write(folder / "README.md", card(settings, facts, schemas).encode())
    _write(folder / CROISSANT_FILE, json_bytes(croissant(settings, facts, schemas, listed_files(folder))))
    rows: dict[str, dict[str, int]] = {}
    for file in files:
        rows.setdefault(file.config, {})[file.split] = file.rows
    record = make_record(settings, schemas, rows, {split: system for system, split in splits.items()})
    own = contacts(folder, rows, source_texts(runs.values(), names))
    _write(folder / RECORD_FILE, replace(record, contacts=own, files=listed_files(folder)).content())
    _keep_names(names, settings)
    return ReleaseSummary(folder, rows, splits, sources.withheld())


def _write_shared(
    folder: Path, sources: Sources, names: DocumentNames, schemas: Mapping[str, "Features"]
) -> list[SplitFile]:
    documents = sorted(
        (_document(row, sources, names) for row in sources.documents), key=lambda row: row["document_id"]
    )
    tables = {"questions": sources.questions, "documents": documents}
    written = []
    for config, rows in tables.items():
        schema = schemas[config].arrow_schema
        batches = pa.Table.from_pylist([dict(row) for row in rows], schema=schema).to_batches()
        written.append(_write_split(folder, config, SHARED_SPLIT, batches, schema))
    return written


def _document(row: Mapping[str, Any], sources: Sources, names: DocumentNames) -> dict[str, Any]:
    sections = sources.sections.get(row["document_id"], ()) if row["redistributable"] else ()
    published = [{**section, "section_id": names.part(section["section_id"])} for section in sections]
    return {**names.row(row), "sections": published}


def _write_system(
    folder: Path, config: str, split: str, run: RunFolder, publisher: Publisher, schema: "Features"
) -> SplitFile:
    arrow_schema = schema.arrow_schema
    source = _source(config, run)
    batches = (publisher.publish(config, batch, arrow_schema) for batch in source)
    return _write_split(folder, config, split, batches, arrow_schema)


def _source(config: str, run: RunFolder) -> Iterable[pa.RecordBatch]:
    if config in OPTIONAL_CONFIGS and not run.has_table(config):
        labels = reference_labels(run) if config == "judge_validation" else None
        return () if labels is None else labels.to_batches()
    return run.batches(config, _BATCH_ROWS.get(config, _DEFAULT_BATCH_ROWS))


def _write_split(
    folder: Path, config: str, split: str, batches: Iterable[pa.RecordBatch], schema: pa.Schema
) -> SplitFile:
    relative = table_path(config, split)
    path = folder / relative
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = size_bytes = 0
    with pq.ParquetWriter(path, schema, compression="zstd", write_page_index=True) as writer:
        for batch in batches:
            writer.write_batch(batch)
            rows += batch.num_rows
            size_bytes += batch.nbytes
    if not rows:
        path.unlink()  # datasets can't load a split without rows: one that isn't there says the same
        if not any(path.parent.iterdir()):
            path.parent.rmdir()
    return SplitFile(config, split, relative, rows, size_bytes)


def _document_names(settings: ReleaseSettings) -> DocumentNames:
    return Pseudonyms.load(Path(settings.pseudonym_map)) if settings.names == "pseudonyms" else DocumentNames()


def _keep_names(names: DocumentNames, settings: ReleaseSettings) -> None:
    if isinstance(names, Pseudonyms):
        write_atomically(Path(settings.pseudonym_map), names.content())


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _check_target(target: Path, settings: ReleaseSettings) -> None:
    if settings.names == "pseudonyms" and Path(settings.pseudonym_map).resolve().is_relative_to(target.resolve()):
        raise InputError(
            f"{settings.pseudonym_map}: the map of pseudonyms must stay private, and {target} is what gets published.\n"
            "Choose a pseudonym_map outside of it."
        )
    if target.exists() and not target.is_dir():
        raise InputError(f"{target}: is a file, so no release can be built there.\nChoose another folder=…")
    if target.is_dir() and any(target.iterdir()) and not (target / RECORD_FILE).is_file():
        raise InputError(
            f"{target}: holds something that isn't an earlier release, so it is left alone.\nChoose another folder=…"
        )


def _put_in_place(building: Path, target: Path) -> None:
    replaced = target.with_name(f".{target.name}.replaced")
    shutil.rmtree(replaced, ignore_errors=True)
    if target.exists():
        target.rename(replaced)
    building.rename(target)
    shutil.rmtree(replaced, ignore_errors=True)
