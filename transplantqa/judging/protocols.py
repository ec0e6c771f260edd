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


DisagreementPolicy = Literal["a_first", "milder", "severer", "exclude"]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two answers to one question; ``a`` is the answer of the document whose id sorts first.

    ``group`` numbers the pairs that a judge of groups judges in one call, counted from 1; 0 where there are no groups.
    """

    question: Question
    a: Answer
    b: Answer
    shown_first: Literal["a", "b"] = "a"
    replicate: int = 0
    group: int = 0


class Judge(Protocol):
    """Labels the relation between two answers.

    Attributes:
        group_size: the most pairs judged in one call; the plan makes the groups.
        replicates: times each order of a pair is judged; the first decides, the others measure the noise.
        disagreement: what is done where two orders of a pair get different labels.
    """

    group_size: int
    replicates: int
    disagreement: DisagreementPolicy

    def identity(self) -> Identity:
        """Everything that can change a judgement: prompt, schema, model, sampling, order policy, rules."""
        ...

    def orders(self, question_id: str, document_a: str, document_b: str) -> tuple[Literal["a", "b"], ...]:
        """Return which answer is shown first in each judging of a pair, by the judge's order policy."""
        ...

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        """Yield one judgement a pair, in completion order; an unreadable reply is a failure, never a default label."""
        ...

    def reread(self, judgement: Judgement, place: int = 1) -> Judgement:
        """Read a kept reply again without a call; ``place`` is the pair's in its group. Engine failures stay."""
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


class Prescreen(Protocol):
    """Decides the pairs that need no judge."""

    def identity(self) -> Identity:
        """Everything that can change what is decided."""
        ...

    def pairs(self, answers: "pa.Table") -> "pa.Table":
        """Return every pair of the answers with what is decided of it: a table of schema ``judging.PAIRS``."""
        ...

    def audit(self, answers: "pa.Table", pairs: "pa.Table") -> dict[str, float]:
        """Return flat figures of what was decided, each with its denominator ``_n``."""
        ...
