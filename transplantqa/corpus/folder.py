"""The corpus component: a folder of documents, ingested one by one."""

from collections.abc import Collection
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, Literal

from pydantic import Field

from transplantqa.corpus.ingested import IngestedDocument, SourceFile, assemble
from transplantqa.corpus.manifest import find_sources
from transplantqa.corpus.paths import located
from transplantqa.corpus.reader import Ocr, Reader
from transplantqa.corpus.tabular import nearest
from transplantqa.errors import ConfigError, InputError
from transplantqa.models.protocols import Identity, Tokenizer

STAGE_VERSION = 4
"""Raised with every change that can give other sections, chunks or verdicts for the same files."""


class Folder:
    """Documents in a folder, described by a manifest or by the folder's own structure.

    Without a manifest the first-level subfolder names the institution, the second-level one the group. Columns of a
    manifest: path and institution, and if known document_id, group, phase, title, year, licence, redistributable. A
    path may be a folder of linked HTML files, which are the pages of one document then.

    Args:
        folder: where the documents are (a path, or ``package:NAME/FOLDER``); paths of the manifest are taken from here.
        tokenizer: what chunk sizes and token counts are measured in.
        manifest: CSV, JSON lines, JSON or YAML; null takes ``manifest.csv`` (or .yaml, .jsonl, .json) in the folder
            if it is there.
        documents: ids of the only documents wanted; all when null.
        chunk_tokens: most tokens a chunk may have (512: TransplantQA).
        timeout_seconds: processor time for reading one document; over it, the document is rejected.
        max_pages: pages above which a document is rejected.
        ocr: what reads pages off their pictures that have no readable text; null leaves them unread. A document with
            such pages is left to a person (review) at best.
        ocr_max_pixels: most pixels of such a picture; larger pages are drawn smaller.
    """

    def __init__(  # noqa: PLR0913 - one parameter a key of the YAML
        self,
        *,
        folder: str,
        tokenizer: Tokenizer,
        manifest: str | None = None,
        documents: list[str] | None = None,
        chunk_tokens: Annotated[int, Field(ge=16, le=8192)] = 512,
        timeout_seconds: Annotated[float, Field(gt=0)] = 30.0,
        max_pages: Annotated[int, Field(ge=1)] = 2000,
        ocr: Literal["rapidocr"] | None = None,
        ocr_max_pixels: Annotated[int, Field(ge=10_000, le=50_000_000)] = 4_000_000,
    ) -> None:
        self.folder = folder
        self.tokenizer = tokenizer
        self.manifest = manifest
        self.documents = documents
        self.chunk_tokens = chunk_tokens
        self.timeout_seconds = timeout_seconds
        self.max_pages = max_pages
        self.ocr = ocr
        self.ocr_max_pixels = ocr_max_pixels
        self._reader: Reader | None = None

    def identity(self) -> Identity:
        """All of the method of ingestion that can change its rows; nothing about which documents there are."""
        return {
            "component": "corpus.Folder",
            "stage_version": STAGE_VERSION,
            "extractor": {"name": "pypdfium2", "version": version("pypdfium2")},
            "tokenizer": dict(self.tokenizer.identity()),
            "chunk_tokens": self.chunk_tokens,
            "timeout_seconds": self.timeout_seconds,
            "max_pages": self.max_pages,
            "ocr": None if self.ocr is None else {**_ocr_identity(), "max_pixels": self.ocr_max_pixels},
        }

    def sources(self) -> list[SourceFile]:
        """Return the wanted documents with their metadata and hashes, by id, without reading what is in them.

        Raises:
            InputError: no folder, no documents, or a manifest with faults, all of them at once.
        """
        found = self._all()
        if self.documents is None:
            return found
        by_id = {source.document_id: source for source in found}
        missing = [name for name in dict.fromkeys(self.documents) if name not in by_id]
        if missing:
            raise InputError(
                "\n\n".join(
                    f'corpus.documents: there is no document "{name}" in {self.folder}.{nearest(name, by_id)}\n'
                    "Use document ids as `transplantqa ingest` lists them."
                    for name in missing
                )
            )
        return [by_id[name] for name in sorted(set(self.documents))]

    def groups(self) -> Collection[str]:
        """Return the groups of the whole corpus, those of documents not wanted included."""
        return sorted({source.group for source in self._all()})

    def ingest(self, source: SourceFile) -> IngestedDocument:
        """Read, judge and cut one document; a file that can't be read becomes a rejected document with its reason."""
        return assemble(source, self._started().read(source.path), self.tokenizer, self.chunk_tokens)

    def pictures(self, source: SourceFile, pages: int) -> dict[int, str]:
        """Return small pictures (base64 PNG) of a PDF's first pages by page number, where they can be drawn."""
        if source.path.suffix.lower() != ".pdf":
            return {}
        return self._started().pictures(source.path, pages)

    def close(self) -> None:
        """End the reading process; the next ``ingest`` starts another."""
        if self._reader is not None:
            self._reader.close()

    def _started(self) -> Reader:
        if self._reader is None:
            ocr = None if self.ocr is None else Ocr(self.ocr_max_pixels)
            self._reader = Reader(timeout_seconds=self.timeout_seconds, max_pages=self.max_pages, ocr=ocr)
        return self._reader

    def _all(self) -> list[SourceFile]:
        return find_sources(located(self.folder), None if self.manifest is None else located(self.manifest))


def _ocr_identity() -> dict[str, str]:
    try:
        return {"name": "rapidocr", "version": version("rapidocr"), "onnxruntime": version("onnxruntime")}
    except PackageNotFoundError:
        raise ConfigError(
            "corpus.ocr=rapidocr: RapidOCR is not installed.\n"
            "Install the extra: pip install 'transplantqa[ocr]', or leave corpus.ocr=null."
        ) from None
