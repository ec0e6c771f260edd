"""Passage vectors stored once by content in the ledger and shared by every retriever, run and sweep."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from transplantqa.models.protocols import Embedder, Identity, Vectors
from transplantqa.records import Outcome
from transplantqa.store.hashing import text_sha256
from transplantqa.store.ledger import Ledger
from transplantqa.store.locks import Waiting
from transplantqa.store.matching import Unit
from transplantqa.store.method import Method
from transplantqa.store.tables import EMBED

STAGE = "embed"
WAIT_SECONDS = 3600.0
"""Another process that embeds is waited for this long; its vectors then serve here too. Ours."""


class CachedEmbedder:
    """An embedder that looks passages up in the ledger before embedding them.

    Args:
        embedder: what embeds those that aren't there.
        root: the artifacts folder.
    """

    def __init__(self, embedder: Embedder, root: Path) -> None:
        self._embedder = embedder
        self._ledger = Ledger(root, EMBED, Method(STAGE, dict(embedder.identity())))

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
        """
        if not texts:
            return self._embedder.embed_passages(texts)
        by_hash = {text_sha256(text): text for text in texts}
        units = [Unit((name,), name) for name in by_hash]
        if self._ledger.pending(units):
            with self._ledger.writer(waiting=Waiting(WAIT_SECONDS)) as writer:
                missing = [str(unit.key[0]) for unit in self._ledger.pending(units)]
                vectors = self._embedder.embed_passages([by_hash[name] for name in missing])
                for name, vector in zip(missing, vectors, strict=True):
                    writer.append(
                        {"text_sha256": name, "vector": vector.tolist(), "outcome": Outcome.OK, "inputs_sha256": name}
                    )
        table = self._ledger.current(units, ["text_sha256", "vector"])
        position = {name: place for place, name in enumerate(table["text_sha256"].to_pylist())}
        flat: Vectors = table["vector"].combine_chunks().flatten().to_numpy(zero_copy_only=False).astype(np.float32)
        vectors = flat.reshape(len(position), -1)
        return vectors[[position[text_sha256(text)] for text in texts]]
