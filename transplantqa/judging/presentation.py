"""Which answer of a pair is shown first, and in what order pairs are judged."""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from transplantqa.judging.protocols import Pair

Side = Literal["a", "b"]
OrderPolicy = Literal["fixed", "random", "both"]
Words = NDArray[np.uint64]


def presentations(
    policy: OrderPolicy, question_id: str, document_a: str, document_b: str, *, seed: int
) -> tuple[Side, ...]:
    """Return which answer is shown first in each judging of a pair.

    ``fixed`` shows the answer of the document whose id sorts first; ``random`` decides by a hash of seed, question and
    documents, so that a pair's order does not depend on which others are judged; ``both`` judges twice.
    """
    if policy == "fixed":
        return ("a",)
    if policy == "both":
        return ("a", "b")
    return ("b",) if _b_first(*(_words(seed, [name]) for name in (question_id, document_a, document_b)))[0] else ("a",)


def presentation_columns(policy: OrderPolicy, pairs: pa.Table, *, seed: int) -> tuple[NDArray[np.int64], pa.Array]:
    """Do what ``presentations`` does for millions of pairs at once.

    Args:
        policy: the same.
        pairs: dictionary-encoded columns question_id, document_a, document_b.
        seed: of the ``random`` policy.

    Returns:
        One item a judging, those of a pair side by side: the pair's row, and "a" or "b", shown first.
    """
    rows = np.arange(len(pairs))
    if policy == "both":
        return np.repeat(rows, 2), pa.array(["a", "b"]).take(pa.array(np.tile([0, 1], len(pairs))))
    chosen = np.zeros(len(pairs), np.int8)
    if policy == "random":
        columns = [pairs[name].combine_chunks() for name in ("question_id", "document_a", "document_b")]
        words = [_words(seed, column.dictionary.to_pylist())[column.indices.to_numpy()] for column in columns]
        chosen = _b_first(*words).astype(np.int8)
    return rows, pa.array(["a", "b"]).take(pa.array(chosen))


def judging_order(pairs: Iterable[Pair]) -> list[Pair]:
    """Order pairs so that neighbours share the longest prompt prefix: question, answer shown first, then the other.

    The pairs of a group stay together.
    """
    return sorted(pairs, key=_prefix_key)


def _prefix_key(pair: Pair) -> tuple[str, str, int, str, int]:
    first, second = shown(pair)
    return (pair.question.question_id, first, pair.group, second, pair.replicate)


def shown(pair: Pair) -> tuple[str, str]:
    """Return the document ids of the answers in the order shown."""
    ids = (pair.a.document_id, pair.b.document_id)
    return ids if pair.shown_first == "a" else (ids[1], ids[0])


def _words(seed: int, names: Sequence[str]) -> Words:
    """Return the first 64 bits of the SHA-256 of the seed and each name."""
    keys = (f"{seed}\x1f{name}".encode("utf-8", "surrogatepass") for name in names)
    return np.array([int.from_bytes(hashlib.sha256(key).digest()[:8], "big") for key in keys], np.uint64)


def _b_first(question: Words, a: Words, b: Words) -> NDArray[np.bool_]:
    """Draw a fair coin a pair, by the top bit of its names' words absorbed one after another."""
    state = _mixed(question)
    for word in (a, b):
        state = _mixed(state ^ word)
    return (state >> np.uint64(63)).astype(np.bool_)


def _mixed(word: Words) -> Words:
    """Mix the bits of each word: the step and finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014)."""
    word = word + np.uint64(0x9E3779B97F4A7C15)
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))
