"""Shards: a deterministic share of a stage's work, in whole prefix groups, so that prompt prefixes stay reusable."""

import hashlib
from dataclasses import dataclass

import pyarrow as pa


def shard_of(prefix_group: str, count: int) -> int:
    """Return which of ``count`` shards a prefix group belongs to: the same on every machine and in every release."""
    head = hashlib.sha256(prefix_group.encode("utf-8", "surrogatepass")).digest()[:8]
    return int.from_bytes(head, "big") % count


def shard_column(prefix_groups: pa.Array | pa.ChunkedArray, count: int) -> pa.Array:
    """Return ``shard_of`` for a column of prefix groups, hashing each distinct group once; int32, same order."""
    column = prefix_groups.combine_chunks() if isinstance(prefix_groups, pa.ChunkedArray) else prefix_groups
    encoded = column.dictionary_encode()
    shards = pa.array([shard_of(group, count) for group in encoded.dictionary.to_pylist()], pa.int32())
    return shards.take(encoded.indices)


@dataclass(frozen=True, slots=True)
class Shard:
    """Share ``index`` (from 0) of ``count``. Shards may be uneven or empty; together they hold each group once."""

    index: int
    count: int

    def __post_init__(self) -> None:
        """Refuse a share that doesn't exist."""
        if self.count < 1 or not 0 <= self.index < self.count:
            raise ValueError(f"shard {self.index} of {self.count}: the index must be from 0 to count - 1")

    @property
    def label(self) -> str:
        """The shard in a file name, such as ``003-of-020``."""
        return f"{self.index:03d}-of-{self.count:03d}"

    def owns(self, prefix_group: str) -> bool:
        """Say whether the group is this shard's work."""
        return shard_of(prefix_group, self.count) == self.index


WHOLE = Shard(0, 1)
