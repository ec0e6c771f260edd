"""Every unordered pair of documents that answered a question, each once, with what the pre-screen decides of it."""

from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from transplantqa.judging.prescreen import SILENT_SIDES, screen
from transplantqa.records import Label, Outcome

NAME = pa.dictionary(pa.int32(), pa.string())
WORD = pa.dictionary(pa.int8(), pa.string())
PAIRS = pa.schema(
    [
        pa.field("question_id", NAME, nullable=False),
        pa.field("document_a", NAME, nullable=False),
        pa.field("document_b", NAME, nullable=False),
        pa.field("outcome", WORD),
        pa.field("label", WORD),
        pa.field("silent_side", WORD),
        pa.field("decided_by", WORD),
    ]
)
"""Dictionary-encoded: millions of pairs are tens of megabytes. ``outcome`` is null where a judge must decide."""

IdenticalPolicy = Literal["judge", "consistent"]
Codes = NDArray[np.int64]

_OUTCOMES = tuple(Outcome)
_LABELS = tuple(Label)
_DECIDERS = ("prescreen", "identical")


def enumerate_pairs(answers: pa.Table, *, identical: IdenticalPolicy = "judge", variant: str = "default") -> pa.Table:
    """List the pairs of every question, sorted by question, document_a, document_b (``document_a < document_b``).

    A pair with a failed side has that outcome and no label; with a silent side and none failed it is ABSENT by the
    pre-screen; under ``identical="consistent"`` two answers of the same words (blanks and case apart) are CONSISTENT.
    All others have a null ``outcome``: they are to be judged.

    Args:
        answers: columns question_id, document_id, variant, outcome, text; one row a cell and variant.
        identical: what is done with answers of the same words.
        variant: the answers compared.

    Returns:
        A table of schema ``PAIRS``; n answers to a question make n(n-1)/2 rows.

    Raises:
        ValueError: a cell has two answers of the variant.
    """
    rows = answers.filter(pc.equal(answers["variant"], variant))
    question, questions = _codes(rows["question_id"])
    document, documents = _codes(rows["document_id"])
    order = np.lexsort((document, question))
    question, document = question[order], document[order]
    if np.any((np.diff(question) == 0) & (np.diff(document) == 0)):
        raise ValueError("answers hold a cell twice; keep the last attempt of each")
    left, right = _within_blocks(question)
    outcome = _positions(rows["outcome"], _OUTCOMES)[order].astype(np.int8)
    decided = _decide(outcome[left], outcome[right])
    if identical == "consistent":
        _mark_identical(decided, _text_codes(rows["text"])[order], left, right)
    return pa.table(
        [
            _encoded(question[left].astype(np.int32), questions),
            _encoded(document[left].astype(np.int32), documents),
            _encoded(document[right].astype(np.int32), documents),
            _encoded(decided["outcome"], pa.array([str(item) for item in _OUTCOMES])),
            _encoded(decided["label"], pa.array([str(item) for item in _LABELS])),
            _encoded(decided["silent_side"], pa.array(SILENT_SIDES[1:])),
            _encoded(decided["decided_by"], pa.array(_DECIDERS)),
        ],
        schema=PAIRS,
    )


def to_judge(pairs: pa.Table) -> pa.Table:
    """Return the pairs that a judge must decide."""
    return pairs.filter(pc.is_null(pairs["outcome"]))


def _codes(column: pa.ChunkedArray) -> tuple[Codes, pa.Array]:
    """Number the values of ``column`` in their sort order."""
    encoded = column.combine_chunks().dictionary_encode()
    names = encoded.dictionary
    by_name = pc.sort_indices(names).to_numpy()
    rank = np.empty(len(names), dtype=np.int64)
    rank[by_name] = np.arange(len(names))
    return rank[encoded.indices.to_numpy()], names.take(pa.array(by_name))


def _positions(column: pa.ChunkedArray, values: tuple[str, ...]) -> Codes:
    found = pc.index_in(column.combine_chunks(), value_set=pa.array([str(value) for value in values]))
    return np.asarray(pc.fill_null(found, -1), dtype=np.int64)


def _text_codes(column: pa.ChunkedArray) -> Codes:
    folded = pc.utf8_lower(pc.utf8_trim_whitespace(pc.replace_substring_regex(column, r"\s+", " ")))
    return np.asarray(folded.combine_chunks().dictionary_encode().indices, dtype=np.int64)


def _within_blocks(question: Codes) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Row numbers of both members of every pair inside each run of equal ``question``."""
    starts = np.flatnonzero(np.diff(question, prepend=-1)) if len(question) else np.empty(0, dtype=np.int64)
    sizes = np.diff(starts, append=len(question))
    triangles = {size: np.triu_indices(size, k=1) for size in set(sizes.tolist())}
    total = int((sizes * (sizes - 1) // 2).sum())
    left, right = np.empty(total, dtype=np.int32), np.empty(total, dtype=np.int32)
    at = 0
    for start, size in zip(starts.tolist(), sizes.tolist(), strict=True):
        rows, columns = triangles[size]
        left[at : at + len(rows)] = rows + start
        right[at : at + len(rows)] = columns + start
        at += len(rows)
    return left, right


def _decide(a: NDArray[np.int8], b: NDArray[np.int8]) -> dict[str, NDArray[np.int8]]:
    """Apply ``screen`` to every pair through a table of its results over all pairs of outcomes; -1 is null."""
    columns = ("outcome", "label", "silent_side", "decided_by")
    table = {name: np.full((len(_OUTCOMES), len(_OUTCOMES)), -1, dtype=np.int8) for name in columns}
    for i, first in enumerate(_OUTCOMES):
        for j, second in enumerate(_OUTCOMES):
            screened = screen(first, second)
            if screened.failure is not None:
                table["outcome"][i, j] = _OUTCOMES.index(screened.failure)
            elif screened.silent_side is not None:
                table["outcome"][i, j] = _OUTCOMES.index(Outcome.OK)
                table["label"][i, j] = _LABELS.index(Label.ABSENT)
                table["silent_side"][i, j] = SILENT_SIDES.index(screened.silent_side) - 1
                table["decided_by"][i, j] = _DECIDERS.index("prescreen")
    return {name: values[a, b] for name, values in table.items()}


def _mark_identical(
    decided: dict[str, NDArray[np.int8]], text: Codes, left: NDArray[np.int32], right: NDArray[np.int32]
) -> None:
    same = (decided["outcome"] == -1) & (text[left] == text[right])
    decided["outcome"][same] = _OUTCOMES.index(Outcome.OK)
    decided["label"][same] = _LABELS.index(Label.CONSISTENT)
    decided["decided_by"][same] = _DECIDERS.index("identical")


def _encoded(codes: NDArray[np.int8] | NDArray[np.int32], values: pa.Array) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), values)
