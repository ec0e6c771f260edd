"""What the pipeline asks of a judge."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from transplantqa.models.protocols import Identity
from transplantqa.records import Answer, Judgement, Question

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Pair:
    """Two answers to one question; ``a`` is the answer of the document whose id sorts first."""

    question: Question
    a: Answer
    b: Answer
    shown_first: Literal["a", "b"] = "a"
    replicate: int = 0


class Judge(Protocol):
    """Labels the relation between two answers."""

    def identity(self) -> Identity:
        """Everything that can change a judgement: prompt, schema, model, sampling, order policy, rules."""
        ...

    def orders(self, question_id: str, document_a: str, document_b: str) -> tuple[Literal["a", "b"], ...]:
        """Return which answer is shown first in each judging of a pair, by the judge's order policy."""
        ...

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        """Yield one judgement a pair, in completion order; an unreadable reply is a failure, never a default label."""
        ...

    def close(self) -> None:
        """Release the model's memory."""
        ...


@runtime_checkable
class OrdersColumns(Protocol):
    """A judge that can also give the orders of millions of pairs at once; others are asked pair by pair."""

    def order_columns(self, pairs: "pa.Table") -> "tuple[NDArray[np.int64], pa.Array]":
        """Return what ``presentation_columns`` returns, agreeing with the judge's ``orders``."""
        ...
