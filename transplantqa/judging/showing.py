"""How a judge that calls a model is shown its pairs, and what is done with what it says of one pair more than once."""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import Field

from transplantqa.generation import citations
from transplantqa.judging.presentation import OrderPolicy, Side, presentation_columns, presentations
from transplantqa.judging.protocols import DisagreementPolicy, Pair
from transplantqa.models.protocols import Identity, LanguageModel
from transplantqa.records import Answer

CitationView = Literal["keep", "strip"]
Replicates = Annotated[int, Field(ge=1, le=100)]


@dataclass(frozen=True, slots=True)
class Showing:
    """What of a pair is shown, and in what order.

    Args:
        order: which answer comes first: that of the document whose id sorts first, one by seeded hash, or each once.
        seed: of the ``random`` order.
        citations: whether the answers' citations are shown; they tell sources apart but are not content.
    """

    order: OrderPolicy = "random"
    seed: int = 0
    citations: CitationView = "strip"

    def identity(self) -> Identity:
        """Everything; the seed only where it decides."""
        seed = self.seed if self.order == "random" else None
        return {"order": self.order, "seed": seed, "citations": self.citations}

    def texts(self, pair: Pair) -> tuple[str, str]:
        """Return the texts of the answers of a pair in the order shown."""
        first, second = (pair.a, pair.b) if pair.shown_first == "a" else (pair.b, pair.a)
        return self._text(first), self._text(second)

    def _text(self, answer: Answer) -> str:
        return citations.strip(answer.text) if self.citations == "strip" else answer.text.strip()


class ModelJudge:
    """What judges that call a language model have in common.

    Args:
        model: the language model.
        showing: what of a pair is shown.
        disagreement: what is done where the two orders of a pair get different labels.
        replicates: times each order is judged; the first decides, the others measure the noise.
    """

    group_size = 1

    def __init__(
        self, model: LanguageModel, showing: Showing, disagreement: DisagreementPolicy, replicates: int
    ) -> None:
        self._model = model
        self._showing = showing
        self.disagreement: DisagreementPolicy = disagreement
        self.replicates = replicates

    def orders(self, question_id: str, document_a: str, document_b: str) -> tuple[Side, ...]:
        """Return which answer is shown first in each judging of a pair, by this judge's policy."""
        return presentations(self._showing.order, question_id, document_a, document_b, seed=self._showing.seed)

    def order_columns(self, pairs: pa.Table) -> tuple[NDArray[np.int64], pa.Array]:
        """Return the same for a whole table of pairs."""
        return presentation_columns(self._showing.order, pairs, seed=self._showing.seed)

    def close(self) -> None:
        """Release the model's memory."""
        self._model.close()


def request_id(pair: Pair) -> str:
    """Return what tells the judging of a pair from all others of its run."""
    names = (pair.question.question_id, pair.a.document_id, pair.b.document_id)
    return "\x1f".join((*names, pair.shown_first, str(pair.replicate)))
