from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pytest

from transplantqa.errors import InputError
from transplantqa.records import Label
from transplantqa.release.features import LABELS, features
from transplantqa.release.names import DocumentNames
from transplantqa.release.publish import Publisher, mapped, within
from transplantqa.store.tables import COMPARISONS


@dataclass(frozen=True)
class _Reversed(DocumentNames):
    """Names that sort the other way round."""

    def document(self, document_id: str) -> str:
        return {"a": "z", "b": "y"}[document_id]


def _comparison(**facts: object) -> pa.RecordBatch:
    row = dict.fromkeys(COMPARISONS.schema.names)
    row |= {"question_id": "q", "document_a": "a", "document_b": "b", "outcome": "ok", **facts}
    return pa.RecordBatch.from_pylist([row], schema=COMPARISONS.schema)


def _published(names: DocumentNames, batch: pa.RecordBatch) -> dict[str, Any]:
    schema = features()["comparisons"].arrow_schema
    (row,) = Publisher(names, {}).publish("comparisons", batch, schema).to_pylist()
    return dict(row)


def test_the_order_of_class_names_is_fixed() -> None:
    assert LABELS == ("ABSENT", "CONSISTENT", "COMPLEMENTARY", "DIVERGENT", "CONTRADICTORY")


@pytest.mark.parametrize("label", Label)
def test_a_label_is_published_as_its_place_in_the_class_names(label: Label) -> None:
    assert LABELS[_published(DocumentNames(), _comparison(label=label))["label"]] == label


def test_a_failed_comparison_has_no_label() -> None:
    assert _published(DocumentNames(), _comparison(outcome="parse_failed"))["label"] is None


def test_a_word_that_is_no_label_is_refused() -> None:
    with pytest.raises(InputError, match="CONFLICTING is not a label"):
        _published(DocumentNames(), _comparison(label="CONFLICTING"))


def test_a_pair_turned_round_by_new_names_keeps_its_order_and_its_silent_side() -> None:
    row = _published(_Reversed(), _comparison(label="ABSENT", silent_side="a"))
    assert (row["document_a"], row["document_b"], row["silent_side"]) == ("y", "z", "b")


def test_both_sides_silent_stay_both_when_a_pair_is_turned() -> None:
    assert _published(_Reversed(), _comparison(label="ABSENT", silent_side="both"))["silent_side"] == "both"


def test_nulls_stay_null_when_values_are_renamed() -> None:
    assert mapped(pa.array([None, "x", "x"]), str.upper).to_pylist() == [None, "X", "X"]


def test_lists_keep_their_lengths_when_their_fields_change() -> None:
    lists = pa.array([[], [{"n": 1}, {"n": 2}], None, [{"n": 3}]], pa.list_(pa.struct([("n", pa.int32())])))
    changed = within(lists.slice(1), lambda fields: {"n": pa.array([10 * n for n in fields["n"].to_pylist()])})
    assert changed.to_pylist() == [[{"n": 10}, {"n": 20}], [], [{"n": 30}]]
