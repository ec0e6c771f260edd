"""The ledger: content-addressed, crash-safe tables of what each method made; and the record of each run."""

from transplantqa.store.atomic import json_bytes, write_atomically
from transplantqa.store.hashing import canonical_json, digest, file_sha256, text_sha256
from transplantqa.store.ledger import MAX_ATTEMPTS, Ledger
from transplantqa.store.locks import Waiting
from transplantqa.store.matching import Hashed, Unit, joined_sha256, units_table
from transplantqa.store.merge import MergeReport
from transplantqa.store.method import ABSENT, Difference, Method, explain
from transplantqa.store.prune import Unreferenced, delete_unreferenced, unreferenced
from transplantqa.store.runs import Run, find_run, list_runs, run_id_of
from transplantqa.store.shards import WHOLE, Shard, shard_column, shard_of
from transplantqa.store.tables import TableSpec
from transplantqa.store.writer import Writer

__all__ = [
    "ABSENT",
    "MAX_ATTEMPTS",
    "WHOLE",
    "Difference",
    "Hashed",
    "Ledger",
    "MergeReport",
    "Method",
    "Run",
    "Shard",
    "TableSpec",
    "Unit",
    "Unreferenced",
    "Waiting",
    "Writer",
    "canonical_json",
    "delete_unreferenced",
    "digest",
    "explain",
    "file_sha256",
    "find_run",
    "joined_sha256",
    "json_bytes",
    "list_runs",
    "run_id_of",
    "shard_column",
    "shard_of",
    "text_sha256",
    "units_table",
    "unreferenced",
    "write_atomically",
]
