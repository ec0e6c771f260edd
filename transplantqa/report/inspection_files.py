"""Inspection pages as files: one a document, and a table of all."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from transplantqa.corpus.protocols import Corpus
from transplantqa.report.console import stage_progress
from transplantqa.report.inspection import index_page, inspection_page
from transplantqa.store.atomic import write_atomically
from transplantqa.store.hashing import digest, text_sha256

PAGE_VERSION = 3
"""Raised when pages look different for the same rows."""
MAX_PICTURES = 500
"""Pages of one document that get a picture. Ours: 500 of them are 5 MB."""


def write_inspection(rows: Sequence[Mapping[str, Any]], corpus: Corpus, folder: Path) -> Path:
    """Write each document's page, if it isn't there already, and the table of all; return the table's path.

    Args:
        rows: of the ingest table.
        corpus: draws the pictures; it is closed at the end.
        folder: where the files go; it is made.
    """
    folder.mkdir(parents=True, exist_ok=True)
    sources = {source.document_id: source for source in corpus.sources()}
    names = {row["document_id"]: page_name(row["document_id"]) for row in rows}
    made_from = {row["document_id"]: digest([PAGE_VERSION, row]) for row in rows}
    todo = [row for row in rows if not _is_made(folder / names[row["document_id"]], made_from[row["document_id"]])]
    try:
        with stage_progress("inspect", len(rows), len(rows) - len(todo)) as progress:
            for row in todo:
                name = row["document_id"]
                pictures = corpus.pictures(sources[name], min(row["pages"], MAX_PICTURES)) if name in sources else {}
                page = inspection_page(row, pictures, made_from[name])
                write_atomically(folder / names[name], page.encode("utf-8", "replace"))
                progress()
    finally:
        corpus.close()
    index = folder / "index.html"
    write_atomically(index, index_page(rows, names).encode("utf-8", "replace"))
    return index


def page_name(document_id: str) -> str:
    """Return a file name that is safe on every system and no other document's: readable letters and a hash."""
    bare = unicodedata.normalize("NFKD", document_id).encode("ascii", "ignore").decode().lower()
    readable = re.sub(r"[^a-z0-9]+", "-", bare).strip("-")[:60].strip("-")
    return f"{readable or 'document'}-{text_sha256(document_id)[:8]}.html"


def _is_made(path: Path, inputs_sha256: str) -> bool:
    try:
        with path.open("rb") as file:
            return inputs_sha256.encode() in file.read(1000)
    except OSError:
        return False
