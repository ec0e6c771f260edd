"""Which answer of a pair is shown first, and in what order pairs are judged."""

import hashlib
from collections.abc import Iterable
from typing import Literal

from transplantqa.judging.protocols import Pair

Side = Literal["a", "b"]
OrderPolicy = Literal["fixed", "random", "both"]


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
    key = "\x1f".join((str(seed), question_id, document_a, document_b)).encode("utf-8", "surrogatepass")
    return ("b",) if hashlib.sha256(key).digest()[0] & 1 else ("a",)


def judging_order(pairs: Iterable[Pair]) -> list[Pair]:
    """Order pairs so that neighbours share the longest prompt prefix: question, answer shown first, then the other."""
    return sorted(pairs, key=_prefix_key)


def _prefix_key(pair: Pair) -> tuple[str, str, str, int]:
    first, second = shown(pair)
    return (pair.question.question_id, first, second, pair.replicate)


def shown(pair: Pair) -> tuple[str, str]:
    """Return the document ids of the answers in the order shown."""
    ids = (pair.a.document_id, pair.b.document_id)
    return ids if pair.shown_first == "a" else (ids[1], ids[0])
