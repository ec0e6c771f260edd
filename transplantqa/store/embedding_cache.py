"""Passage vectors stored once by content in the ledger and shared by every retriever, run and sweep."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa

from transplantqa.models.protocols import Embedder, Identity, Vectors
from transplantqa.records import Outcome
from transplantqa.store.hashing import text_sha256
from transplantqa.store.ledger import Ledger
from transplantqa.store.locks import Waiting
from transplantqa.store.matching import Unit
from transplantqa.store.method import Method
from transplantqa.store.stored import read_index
from transplantqa.store.tables import EMBED

STAGE = "embed"
WAIT_SECONDS = 3600.0
"""Another process that embeds is waited for this long; its vectors then serve here too. Ours."""
BATCH_TEXTS = 256
"""Passages embedded and stored together: what a kill loses. Ours."""


class CachedEmbedder:
    """An embedder that looks passages up in the ledger before embedding them.

    What the ledger has is read once and kept in memory: 1.5 kB a passage at 384 dimensions.

    Args:
        embedder: what embeds those that aren't there.
        root: the artifacts folder.
    """

    def __init__(self, embedder: Embedder, root: Path) -> None:
        self._embedder = embedder
        self._root = root

    def identity(self) -> Identity:
        """The embedder's own: where vectors are kept changes none."""
        return self._embedder.identity()

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed questions; they aren't kept, being few."""
        return self._embedder.embed_queries(texts)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one vector a text, in the order given, embedding only texts never seen before.

        Raises:
            StoreError: the ledger can't be read or written.
            ValueError: the embedder returned another number of vectors, or one that isn't finite; none is kept.
        """
        if not texts:
            return self._embedder.embed_passages(texts)
        names = [text_sha256(text) for text in texts]
        missing = {name: text for name, text in zip(names, texts, strict=True) if name not in self._known}
        if missing:
            self._embed(missing)
        return np.stack([self._known[name] for name in names])

    def _embed(self, missing: Mapping[str, str]) -> None:
        """Embed and store texts by hash, but for those that another process has stored in the meantime."""
        units = [Unit((name,), name) for name in missing]
        with self._ledger.writer(waiting=Waiting(WAIT_SECONDS)) as writer:
            left = iter([str(unit.key[0]) for unit in self._ledger.pending(units)])
            while names := list(islice(left, BATCH_TEXTS)):
                vectors = np.asarray(self._embedder.embed_passages([missing[name] for name in names]), np.float32)
                if vectors.ndim != 2 or len(vectors) != len(names):
                    raise ValueError(f"returned shape {vectors.shape} for {len(names)} texts")
                if not np.isfinite(vectors).all():
                    raise ValueError("a passage vector has values that are not finite")
                writer.append_batch(_rows(names, vectors))
                self._known.update(zip(names, vectors, strict=True))
        others = [unit for unit in units if unit.key[0] not in self._known]
        if others:
            self._known.update(_by_name(self._ledger.current(others, ["text_sha256", "vector"])))

    @cached_property
    def _ledger(self) -> Ledger:
        """Found at first use: naming the embedder needs its library, which a plan does without."""
        return Ledger(self._root, EMBED, Method(STAGE, dict(self._embedder.identity())))

    @cached_property
    def _known(self) -> dict[str, Vectors]:
        hashes = read_index(self._ledger.folder, EMBED).index["inputs_sha256"]
        stored = pa.table([hashes, hashes], names=["text_sha256", "inputs_sha256"])
        return _by_name(self._ledger.current(stored, ["text_sha256", "vector"]))


def _rows(names: Sequence[str], vectors: Vectors) -> pa.RecordBatch:
    starts = pa.array(np.arange(len(names) + 1, dtype=np.int32) * vectors.shape[1])
    columns = {
        "text_sha256": pa.array(names, pa.string()),
        "vector": pa.ListArray.from_arrays(starts, pa.array(vectors.ravel())),
        "outcome": pa.array([str(Outcome.OK)] * len(names), pa.string()),
        "inputs_sha256": pa.array(names, pa.string()),
    }
    return pa.RecordBatch.from_pydict(columns)


def _by_name(table: pa.Table) -> dict[str, Vectors]:
    if not len(table):
        return {}
    names = table["text_sha256"].to_pylist()
    flat: Vectors = table["vector"].combine_chunks().flatten().to_numpy(zero_copy_only=False).astype(np.float32)
    return dict(zip(names, flat.reshape(len(names), -1), strict=True))
