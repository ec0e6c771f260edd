"""Records of a Parquet file, in the form that files people write are read in."""

from pathlib import Path

from transplantqa.corpus.tabular import Problems, TableRow
from transplantqa.errors import InputError


def read_parquet(path: Path, what: str) -> tuple[list[TableRow], Problems]:
    """Read the records of a Parquet file; a record's line is its place, counted from 1.

    Raises:
        InputError: there is no such file, it isn't Parquet, or it has no rows.
    """
    import pyarrow as pa  # noqa: PLC0415 - heavy
    import pyarrow.parquet as pq  # noqa: PLC0415

    problems = Problems(path, "row")
    try:
        table = pq.ParquetFile(path).read()
    except FileNotFoundError:
        raise InputError(
            f"{path}: there is no such file of {what}.\nCheck the path; it is taken from {Path.cwd()}."
        ) from None
    except (pa.ArrowException, OSError) as error:
        raise InputError(
            f"{path}: can't be read as Parquet ({error}).\nWas the file cut short? Fetch it again."
        ) from None
    if not table.num_rows:
        problems.add(0, f"no {what}: the file has no rows.", f"Give it one row for each of the {what}.")
        problems.raise_any()
    return [TableRow(place, row) for place, row in enumerate(table.to_pylist(), start=1)], problems
