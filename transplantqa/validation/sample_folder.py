"""A sample's folder: the key, which stays with whoever drew it, and what annotators get."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from transplantqa.errors import InputError
from transplantqa.store import digest
from transplantqa.store.atomic import json_bytes, refusals, write_atomically
from transplantqa.store.hashing import text_sha256
from transplantqa.store.json_record import read_json_record
from transplantqa.store.run_folder import RunFolder
from transplantqa.validation.frame import Frame
from transplantqa.validation.items import answer_texts, items_of, spreadsheet
from transplantqa.validation.page import annotation_page
from transplantqa.validation.sampling import SampleDesign, draw, length_thirds

SAMPLE_FILE, KEY_FILE = "sample.json", "pairs.parquet"
PAGE_FILE, SHEET_FILE = "annotate.html", "annotate.csv"
_ID_CHARACTERS = 12

KEY_SCHEMA = pa.schema(
    [
        *(
            pa.field(name, pa.string(), nullable=False)
            for name in (
                "item",
                "question_id",
                "document_a",
                "document_b",
                "answer_a_sha256",
                "answer_b_sha256",
                "stratum",
            )
        ),
        pa.field("inclusion_probability", pa.float64(), nullable=False),
        pa.field("first", pa.string(), nullable=False),
        pa.field("length_third", pa.int32(), nullable=False),
    ]
)


@dataclass(frozen=True)
class SampleFolder:
    """A drawn sample, read from its folder when asked."""

    path: Path

    @cached_property
    def record(self) -> Mapping[str, Any]:
        """The whole of ``sample.json``.

        Raises:
            InputError: it can't be read.
        """
        return read_json_record(self.path / SAMPLE_FILE, "Draw the sample again.")

    @property
    def sample_id(self) -> str:
        """The hash of the judge, the run, the design and the pairs drawn."""
        return str(self.record["sample_id"])

    @property
    def population(self) -> dict[str, int]:
        """Stratum to the number of its pairs in the run that the sample was drawn from."""
        return {str(name): int(facts["population"]) for name, facts in self.record["strata"].items()}

    @cached_property
    def pairs(self) -> list[dict[str, Any]]:
        """The key: a row a pair, in the order shown."""
        try:
            return list(pq.read_table(self.path / KEY_FILE).to_pylist())
        except (OSError, pa.ArrowException) as error:
            raise InputError(f"{self.path / KEY_FILE}: can't be read ({error}).\nDraw the sample again.") from error


def samples_folder(artifacts: Path) -> Path:
    """Return where samples lie, given the artifacts folder."""
    return artifacts / "validation" / "samples"


def find_sample(artifacts: Path, sample_id: str | None, run_id: str) -> SampleFolder:
    """Return a sample by its id, or the newest drawn from a run.

    Raises:
        InputError: there is none.
    """
    root = samples_folder(artifacts)
    if sample_id is not None and (root / sample_id / SAMPLE_FILE).is_file():
        return SampleFolder(root / sample_id)
    found = [SampleFolder(file.parent) for file in sorted(root.glob(f"*/{SAMPLE_FILE}"))]
    if sample_id is not None:
        names = ", ".join(one.sample_id for one in found) or "none"
        raise InputError(f"sample {sample_id!r}: there is none in {root}.\nThere are: {names}.")
    own = sorted((one for one in found if one.record["run_id"] == run_id), key=lambda one: one.record["created"])
    if not own:
        raise InputError(
            f"{root}: no sample was drawn from run {run_id}.\n"
            f"Draw one: transplantqa validate sample run={run_id}; or name another run's with sample=ID."
        )
    return own[-1]


def write_sample(artifacts: Path, run: RunFolder, population: Frame, design: SampleDesign) -> SampleFolder:
    """Draw a sample and write its folder; the same draw again is written over.

    Raises:
        StoreError: the disk refuses.
    """
    rows = draw(population, design)
    judge = str(run.section("fingerprints")["compare"])
    keys = [list(population.key(row)) for row in rows]
    sample_id = digest([judge, run.run_id, design.identity(), keys])[:_ID_CHARACTERS]
    pairs = _pairs(run, population, rows, sample_id, design)
    folder = samples_folder(artifacts) / sample_id
    items = items_of(run, pairs, design.identity())
    with refusals("write", folder):
        folder.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_pylist(pairs, schema=KEY_SCHEMA), folder / KEY_FILE, compression="zstd")
    write_atomically(folder / PAGE_FILE, annotation_page(items, sample_id, run.config))
    write_atomically(folder / SHEET_FILE, spreadsheet(items, sample_id))
    record = {
        "sample_id": sample_id,
        "run_id": run.run_id,
        "system": run.system,
        "judge": judge,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "design": design.identity(),
        "strata": _strata(population, pairs),
        "unlabelled_pairs": population.unlabelled,
    }
    write_atomically(folder / SAMPLE_FILE, json_bytes(record))
    return SampleFolder(folder)


def _pairs(run: RunFolder, population: Frame, rows: Any, sample_id: str, design: SampleDesign) -> list[dict[str, Any]]:
    """Return the key, in the order shown."""
    keys = [population.key(row) for row in rows]
    cells = {(question, document) for question, *documents in keys for document in documents}
    hashes = {cell: text_sha256(text) for cell, text in answer_texts(run, cells).items()}
    taken = design.sizes(population.sizes)
    lengths = length_thirds(population.length[rows])
    generator = np.random.default_rng([design.seed, int(sample_id, 16)])
    first = generator.integers(0, 2, len(keys))
    found = []
    for place, key in enumerate(keys):
        stratum = population.strata[population.stratum[rows[place]]]
        found.append(
            {
                "item": f"i{digest([sample_id, *key])[:_ID_CHARACTERS]}",  # a letter first: no spreadsheet's number
                **dict(zip(KEY_SCHEMA.names[1:4], key, strict=True)),
                "answer_a_sha256": hashes[key[0], key[1]],
                "answer_b_sha256": hashes[key[0], key[2]],
                "stratum": stratum,
                "inclusion_probability": taken[stratum] / population.sizes[stratum],
                "first": "ab"[first[place]],
                "length_third": int(lengths[place]),
            }
        )
    return [found[place] for place in generator.permutation(len(found))]


def _strata(population: Frame, pairs: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, int]]:
    drawn = [row["stratum"] for row in pairs]
    return {name: {"population": size, "drawn": drawn.count(name)} for name, size in population.sizes.items()}
