"""What fails a unit: a ranker or reranker that raised, or answered with something unusable."""

from collections.abc import Iterator
from contextlib import contextmanager

from transplantqa.errors import TransplantQAError


class RankerError(RuntimeError):
    """A ranking that can't be made; the message says by whom and why. It fails units, never the run."""


@contextmanager
def reported_as(name: str) -> Iterator[None]:
    """Turn what an embedder or reranker raises into a ``RankerError`` that names it.

    Backends raise what they please (ONNX Runtime's errors derive from Exception alone), so everything is caught here
    and only here; problems that the user must mend (a missing model file) pass through and stop the run.
    """
    try:
        yield
    except (TransplantQAError, RankerError):
        raise
    except Exception as error:
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise RankerError(f"{name}: {type(error).__name__}: {reason}") from error
