"""The population a sample is drawn from: every labelled pair of a run, with what the draw balances."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from transplantqa.errors import InputError
from transplantqa.store.run_folder import RunFolder
from transplantqa.validation.ratings import Codes

KEY = ("question_id", "document_a", "document_b")

_LABELLED = """
    SELECT c.question_id, c.document_a, c.document_b, c.label, c.significance, c.decided_by,
           length(a.text) + length(b.text) AS length,
           least(da.institution, db.institution) AS institution_1,
           greatest(da.institution, db.institution) AS institution_2
    FROM read_parquet(?) c
    JOIN read_parquet(?) a ON a.question_id = c.question_id AND a.document_id = c.document_a AND a.variant = 'default'
    JOIN read_parquet(?) b ON b.question_id = c.question_id AND b.document_id = c.document_b AND b.variant = 'default'
    JOIN read_parquet(?) da ON da.document_id = c.document_a
    JOIN read_parquet(?) db ON db.document_id = c.document_b
    WHERE c.outcome = 'ok' AND c.label IS NOT NULL
    ORDER BY c.question_id, c.document_a, c.document_b
"""


@dataclass(frozen=True)
class Frame:
    """Labelled pairs in order of their key.

    Args:
        pairs: columns question_id, document_a, document_b, label, significance, decided_by, length (characters of
            both answers), institution_1, institution_2.
        unlabelled: pairs of the run without a label: they failed and can't be drawn.
    """

    pairs: pa.Table
    unlabelled: int

    @cached_property
    def strata(self) -> tuple[str, ...]:
        """Names of the strata, what decided and the label, sorted."""
        return tuple(sorted(pc.unique(self._stratum_column()).to_pylist()))

    @cached_property
    def stratum(self) -> Codes:
        """Each pair's place in ``strata``."""
        places = pc.index_in(self._stratum_column(), value_set=pa.array(self.strata, pa.string()))
        return np.asarray(places, dtype=np.int64)

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Stratum to its number of pairs."""
        counted = np.bincount(self.stratum, minlength=len(self.strata))
        return {name: int(count) for name, count in zip(self.strata, counted, strict=True)}

    def _stratum_column(self) -> pa.ChunkedArray:
        return pc.binary_join_element_wise(self.pairs["decided_by"], self.pairs["label"], "/")


def frame(run: RunFolder) -> Frame:
    """Read the labelled pairs of a run.

    Raises:
        InputError: there are none, or the run isn't finished.
    """
    import duckdb  # noqa: PLC0415

    for name in ("comparisons", "answers", "documents"):
        run.table(name, [])  # says what is missing, in our words
    comparisons, answers, documents = (str(run.table_path(name)) for name in ("comparisons", "answers", "documents"))
    with duckdb.connect(":memory:") as connection:
        given = [comparisons, answers, answers, documents, documents]
        pairs: pa.Table = connection.sql(_LABELLED, params=given).to_arrow_table()
        whole = connection.execute("SELECT count(*) FROM read_parquet(?)", [comparisons]).fetchone()
    total = 0 if whole is None else int(whole[0])
    if not len(pairs):
        raise InputError(
            f"{run.path}: none of its {total} pairs has a label, so there is nothing to validate.\n"
            "Look at the run's failures, or take another run."
        )
    return Frame(pairs, total - len(pairs))


def stratum_of(decided_by: str, label: str) -> str:
    """Return the stratum of a pair."""
    return f"{decided_by}/{label}"
