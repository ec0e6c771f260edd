"""A judge's validation written down: figures, labels, pictures, and the disputes left for a third annotator."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from transplantqa.store.atomic import json_bytes, refusals, write_atomically
from transplantqa.store.run_folder import RunFolder
from transplantqa.store.tables import HUMAN_LABELS
from transplantqa.validation.agreement import Figure, agreement, confusion
from transplantqa.validation.assess import SCALE, Assessed
from transplantqa.validation.bias import BiasFigure, bias
from transplantqa.validation.headline import flat
from transplantqa.validation.items import items_of, spreadsheet
from transplantqa.validation.page import annotation_page
from transplantqa.validation.picture import confusion_pictures
from transplantqa.validation.record import RECORD_FILE, Validation, against_judge, judges_folder
from transplantqa.validation.reference import REFERENCE_FILE, reference_table
from transplantqa.validation.resampling import Bootstrap
from transplantqa.validation.sample_folder import SampleFolder

DISPUTES_PAGE, DISPUTES_SHEET = "disputes.html", "disputes.csv"


@dataclass(frozen=True)
class Findings:
    """Every figure of one validation."""

    labels: list[Figure]
    severities: list[Figure]
    bias: list[BiasFigure]


def measure(run: RunFolder, assessed: Assessed, bootstrap: Bootstrap) -> Findings:
    """Return every figure."""
    documents = run.table("documents", ["document_id", "institution"]).to_pylist()
    institutions = {row["document_id"]: row["institution"] for row in documents}
    return Findings(
        agreement(assessed.labels, bootstrap),
        agreement(assessed.severities, bootstrap),
        bias(assessed, institutions, bootstrap),
    )


def write_record(
    artifacts: Path, run: RunFolder, sample: SampleFolder, assessed: Assessed, bootstrap: Bootstrap
) -> Validation:
    """Measure a judge and write its record over an earlier one of the same sample; ``record.json`` comes last.

    Raises:
        StoreError: the disk refuses.
    """
    findings = measure(run, assessed, bootstrap)
    judge = str(run.section("fingerprints")["compare"])
    folder = judges_folder(artifacts) / judge / sample.sample_id
    matrix = confusion(assessed.labels, "decided")
    tables = {
        "human_labels": pa.Table.from_pylist(assessed.human_labels(), schema=HUMAN_LABELS.schema),
        Path(REFERENCE_FILE).stem: reference_table(assessed.reference()),
        "agreement": _figures(findings),
        "bias": pa.Table.from_pylist([asdict(one) for one in findings.bias], schema=_schema(BiasFigure)),
    }
    with refusals("write", folder):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / RECORD_FILE).unlink(missing_ok=True)
        for name, table in tables.items():
            pq.write_table(table, folder / f"{name}.parquet", compression="zstd")
    title = f"Judge against people, {int(matrix.sum())} pairs that people decided"
    for kind, content in confusion_pictures(matrix, SCALE, title).items():
        write_atomically(folder / f"confusion.{kind}", content)
    _write_disputes(folder, run, sample, assessed)
    record = _record(run, sample, assessed, findings, bootstrap)
    record["confusion"] = {"rows": "people", "columns": "judge", "labels": list(SCALE), "counts": matrix.tolist()}
    write_atomically(folder / RECORD_FILE, json_bytes(record))
    return Validation(folder)


def _record(
    run: RunFolder, sample: SampleFolder, assessed: Assessed, findings: Findings, bootstrap: Bootstrap
) -> dict[str, Any]:
    metrics = flat(findings.labels, findings.severities)
    wrote = assessed.annotations
    labelled = {name: sum(one.label is not None for one in said.values()) for name, said in wrote.said.items()}
    return {
        "judge": str(run.section("fingerprints")["compare"]),
        "run_id": run.run_id,
        "system": run.system,
        "sample_id": sample.sample_id,
        "sample_run_id": str(sample.record["run_id"]),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "annotators": list(assessed.annotators),
        "adjudicator": assessed.adjudicator,
        "labelled": dict(sorted(labelled.items())),
        "counts": assessed.counts(),
        "strata": sample.record["strata"],
        "unknown_labels": _counted(wrote.unknown),
        "unknown_significances": _counted(wrote.unknown_significances),
        "significances_without_conflict": wrote.unplaced,
        "bootstrap": bootstrap.identity(),
        "metrics": metrics,
        "not_an_instrument": list(against_judge(run, metrics)),
    }


def _counted(found: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(found.items()))


def _figures(findings: Findings) -> pa.Table:
    rows = [
        {"about": about, **asdict(figure)}
        for about, figures in (("label", findings.labels), ("significance", findings.severities))
        for figure in figures
    ]
    return figure_table(rows, "about")


def figure_table(rows: Sequence[Mapping[str, Any]], *first: str) -> pa.Table:
    """Return figures as a table, these text columns first; what is undefined is null and says why."""
    columns = [pa.field(name, pa.string(), nullable=False) for name in first]
    return pa.Table.from_pylist([dict(row) for row in rows], schema=pa.schema([*columns, *_schema(Figure)]))


def _schema(record: type) -> pa.Schema:
    kinds = {"str": pa.string(), "int": pa.int64(), "float": pa.float64()}
    facts = record.__annotations__
    return pa.schema(
        [(name, kinds[getattr(kind, "__name__", str(kind)).removesuffix(" | None")]) for name, kind in facts.items()]
    )


def _write_disputes(folder: Path, run: RunFolder, sample: SampleFolder, assessed: Assessed) -> None:
    """Write the undecided pairs for a third annotator, or take an earlier record's away."""
    disputed = {row["item"] for row in assessed.disputed()}
    if not disputed:
        for name in (DISPUTES_PAGE, DISPUTES_SHEET):
            (folder / name).unlink(missing_ok=True)
        return
    pairs = [row for row in sample.pairs if row["item"] in disputed]
    items = items_of(run, pairs, sample.record["design"])
    write_atomically(folder / DISPUTES_PAGE, annotation_page(items, sample.sample_id, run.config))
    write_atomically(folder / DISPUTES_SHEET, spreadsheet(items, sample.sample_id))
