"""The gates: everything that speaks against a release leaving this machine, found in the built folder, all at once."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from transplantqa.errors import InputError
from transplantqa.release.features import SHARED_SPLIT
from transplantqa.release.personal_data import key
from transplantqa.release.record import ReleaseRecord, changed_files, read_record
from transplantqa.release.scan import read_batches, secret_places, suspects
from transplantqa.store.json_record import read_json_record

CONTRADICTING_LICENCES = (
    "all rights reserved",
    "proprietary",
    "confidential",
    "unknown",
    "not redistributable",
    "no licence",
)
"""Words of a licence that contradict passing a text on; ours."""

SHOWN = 50
"""Findings of one gate that a message lists."""

REMEDIES: Mapping[str, str] = {
    "licence": "State the document's licence in the manifest, or set its redistributable to false, and build again.",
    "personal data": (
        "Take it out of the questions or documents and run again; or, where a person found it public, name it in "
        "release.reviewed=[...] and build again."
    ),
    "judge": (
        "Validate the judge (transplantqa validate), or say in release.waiver='...' why its labels are published "
        "all the same; the card prints it."
    ),
    "failures": "Try the failed units again (transplantqa run retry=[...]), or raise release.max_failure_rate.",
    "secrets": "Take the secret out of the configuration or the text, revoke it, and build again.",
    "integrity": "Build the release again: what was built is what is published.",
}
"""Gate to what can be done."""


@dataclass(frozen=True, order=True)
class Finding:
    """One reason not to publish: the gate, where in the release, what was found."""

    gate: str
    where: str
    what: str


def findings(folder: Path) -> list[Finding]:
    """Return everything that speaks against publishing a built release, sorted; empty when nothing does.

    A release changed after it was built is not looked into further.

    Raises:
        InputError: the folder isn't a release, or a table of it can't be read.
    """
    record = read_record(folder)
    changes = [Finding("integrity", record.name, words) for words in changed_files(folder, record)]
    if changes:
        return changes
    gates: Sequence[Callable[[Path, ReleaseRecord], Iterator[Finding]]] = (
        _licences,
        _personal_data,
        _judges,
        _failures,
        _secrets,
    )
    return sorted({finding for gate in gates for finding in gate(folder, record)})


def require_no_findings(found: Sequence[Finding]) -> None:
    """Refuse to let a release leave.

    Raises:
        InputError: with every finding, by gate, and the remedy of each gate.
    """
    if found:
        raise InputError("\n\n".join(["This release may not leave:", *paragraphs(found)]))


def paragraphs(found: Sequence[Finding]) -> list[str]:
    """Return one paragraph a gate: what was found, where, and the remedy."""
    texts = []
    for gate in dict.fromkeys(finding.gate for finding in found):
        own = [f"  {finding.where}: {finding.what}" for finding in found if finding.gate == gate]
        more = [f"  and {len(own) - SHOWN:,} more"] if len(own) > SHOWN else []
        texts.append("\n".join([f"{gate} ({len(own):,})", *own[:SHOWN], *more, REMEDIES[gate]]))
    return texts


def manifest_of(folder: Path, split: str) -> dict[str, Any]:
    """Return a system's manifest as data.

    Raises:
        InputError: it is missing or isn't a JSON object.
    """
    return read_json_record(folder / "manifests" / f"{split}.json", REMEDIES["integrity"])


def numbers(value: object) -> dict[str, float]:
    """Return the entries of a mapping that are numbers."""
    if not isinstance(value, Mapping):
        return {}
    return {
        str(name): float(number)
        for name, number in value.items()
        if isinstance(number, int | float) and not isinstance(number, bool)
    }


def _licences(folder: Path, record: ReleaseRecord) -> Iterator[Finding]:
    closed = set()
    columns = ["document_id", "licence", "redistributable", "sections"]
    for batch in read_batches(folder, "documents", SHARED_SPLIT, columns):
        counts = pc.list_value_length(batch["sections"]).to_pylist()
        for row, count in zip(batch.select(columns[:3]).to_pylist(), counts, strict=True):
            if not row["redistributable"]:
                closed.add(row["document_id"])
            problem = _licence_problem(row)
            if count and problem:
                yield Finding("licence", row["document_id"], f"its text is included, and {problem}")
    for split in record.rows.get("evidence", {}):
        for document in _in_evidence(folder, split, closed):
            yield Finding("licence", document, f"evidence/{split} has its text, and it may not be passed on")


def _licence_problem(row: Mapping[str, Any]) -> str | None:
    if not row["redistributable"]:
        return "it may not be passed on"
    licence = str(row["licence"] or "").strip()
    if not licence:
        return "no licence is stated"
    contradicts = any(word in licence.casefold() for word in CONTRADICTING_LICENCES)
    return f"its licence is {licence[:80]!r}" if contradicts else None


def _in_evidence(folder: Path, split: str, documents: set[str]) -> list[str]:
    """Return those of some documents whose text is in a system's evidence, sorted."""
    names = pa.array(sorted(documents), pa.string())
    found = set()
    for batch in read_batches(folder, "evidence", split, ["document_id", "passages"]):
        for row in batch.filter(pc.is_in(batch["document_id"], value_set=names)).to_pylist():
            if any(passage["text"] for passage in row["passages"] or ()):
                found.add(row["document_id"])
    return sorted(found)


def _personal_data(folder: Path, record: ReleaseRecord) -> Iterator[Finding]:
    public = {key(value) for value in (*record.reviewed, *record.contacts)}
    places: dict[tuple[str, str, str], list[str]] = {}
    for suspect in suspects(folder, record.rows):
        if key(suspect.value) not in public:
            place = (f"{suspect.config}/{suspect.split}", suspect.kind, suspect.value)
            places.setdefault(place, []).append(suspect.unit)
    for (table, kind, value), units in places.items():
        more = f" and {len(units) - 1:,} more" if len(units) > 1 else ""
        yield Finding("personal data", f"{table}, {units[0]}{more}", f"{kind} {value[:80]!r}")


def _judges(folder: Path, record: ReleaseRecord) -> Iterator[Finding]:
    for split in record.systems:
        if not record.waiver and "judge_kappa" not in numbers(manifest_of(folder, split).get("metrics")):
            yield Finding("judge", split, "its judge was not validated against people, and there is no waiver")


def _failures(folder: Path, record: ReleaseRecord) -> Iterator[Finding]:
    for split in record.systems:
        rate = numbers(manifest_of(folder, split).get("metrics")).get("failure_rate", 0.0)
        if rate > record.max_failure_rate:
            limit = record.max_failure_rate
            yield Finding("failures", split, f"{rate:.1%} of its units failed, more than {limit:.1%}")


def _secrets(folder: Path, record: ReleaseRecord) -> Iterator[Finding]:
    for place in secret_places(folder, record):
        yield Finding("secrets", place, "something in it looks like a token or a password")
