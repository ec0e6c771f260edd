"""A finished run, read from its folder: ``run.json``, ``metrics.json`` and one Parquet file a table."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from transplantqa.errors import ConfigError, InputError
from transplantqa.store.json_record import read_json_record
from transplantqa.store.runs import RUN_FILE, find_run, list_runs, run_folder

METRICS_FILE = "metrics.json"


@dataclass(frozen=True)
class RunMetrics:
    """What analysis found: flat measures, figures against gold, and sentences for the reader.

    ``not_an_instrument`` gives the reasons why the findings can't be taken as measurements; empty means none is known.
    """

    metrics: Mapping[str, float]
    gold: Mapping[str, float]
    not_an_instrument: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class RunFolder:
    """Lazy access to one run's files; nothing is read before it is asked for.

    Raises:
        InputError: here, when the folder has no ``run.json``; later, when a file asked for is missing or unreadable.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        if not (self.path / RUN_FILE).is_file():
            raise InputError(
                f"{self.path}: not a run folder (it has no {RUN_FILE}).\n"
                "Give the path of a finished run, for example artifacts/runs/<run_id>."
            )

    @cached_property
    def record(self) -> Mapping[str, Any]:
        """The whole of ``run.json``."""
        return _read_json(self.path / RUN_FILE, self.path)

    @property
    def run_id(self) -> str:
        """The run's own hash; the folder's name where ``run.json`` gives none."""
        return str(self.record.get("run_id") or self.path.name)

    @property
    def system(self) -> str:
        """The name given to the composition that ran; the run id where it has none."""
        return str(self.record.get("system") or self.run_id)

    @property
    def sweep_id(self) -> str | None:
        """The sweep the run belongs to, if any."""
        sweep = self.record.get("sweep_id")
        return None if sweep is None else str(sweep)

    @property
    def config(self) -> Mapping[str, Any]:
        """The resolved configuration."""
        return _mapping(self.record.get("config"))

    @cached_property
    def measures(self) -> RunMetrics:
        """The content of ``metrics.json``; figures without a value are left out."""
        content = _read_json(self.path / METRICS_FILE, self.path)
        return RunMetrics(
            metrics=_figures(content.get("metrics")),
            gold=_figures(content.get("gold")),
            not_an_instrument=tuple(map(str, content.get("not_an_instrument") or ())),
            notes=tuple(map(str, content.get("notes") or ())),
        )

    def section(self, name: str) -> Mapping[str, Any]:
        """Return one mapping of ``run.json`` (``fingerprints``, ``outcomes``, …), empty where it has none."""
        return _mapping(self.record.get(name))

    def tables(self) -> tuple[str, ...]:
        """Return the names of the tables the folder has, sorted."""
        return tuple(sorted(file.stem for file in self.path.glob("*.parquet")))

    def has_table(self, name: str) -> bool:
        """Whether the folder has a table of that name."""
        return self.table_path(name).is_file()

    def table_path(self, name: str) -> Path:
        """Return where the table is, or would be."""
        return self.path / f"{name}.parquet"

    def table(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Read a table, or only some of its columns.

        Raises:
            InputError: if the file or a column is missing, or it can't be read.
        """
        with self._open(name, columns) as file:
            return file.read(columns=columns)

    def rows(self, name: str) -> list[dict[str, Any]]:
        """Read a table as plain rows; for tables small enough to be shown or looked up."""
        return list(self.table(name).to_pylist())

    def batches(self, name: str, size: int = 65_536, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Read a table, or some columns, in batches of at most ``size`` rows: millions of rows need little memory."""
        with self._open(name, columns) as file:
            yield from file.iter_batches(batch_size=size, columns=columns)

    def _open(self, name: str, columns: Sequence[str] | None) -> pq.ParquetFile:
        path = self.table_path(name)
        if not path.is_file():
            raise _missing(path, self.path)
        try:
            file = pq.ParquetFile(path)
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"{path}: can't be read as Parquet ({error}).\n{_remedy(self.path)}") from error
        absent = sorted(set(columns or ()) - set(file.schema_arrow.names))
        if absent:
            raise InputError(f"{path}: has no column {', '.join(absent)}.\n{_remedy(self.path)}")
        return file


def open_run(artifacts: Path, reference: str) -> RunFolder:
    """Open the run that a user means: a path, a run id or its beginning, or a system's name (see ``find_run``).

    Raises:
        InputError: if no run, or more than one, is meant.
    """
    given = Path(reference)
    if (given / RUN_FILE).is_file():
        return RunFolder(given)
    if given.is_file() and given.name == RUN_FILE:
        return RunFolder(given.parent)
    return RunFolder(run_folder(artifacts, find_run(artifacts, reference).run_id))


def newest_run(artifacts: Path) -> RunFolder:
    """Open the newest run under an artifacts folder.

    Raises:
        InputError: if there is none.
    """
    runs = list_runs(artifacts)
    if not runs:
        raise InputError(
            f"{artifacts}: there are no runs here yet.\nMake one with `transplantqa run`, or name artifacts=…."
        )
    return RunFolder(run_folder(artifacts, runs[0].run_id))


def _read_json(path: Path, folder: Path) -> Mapping[str, Any]:
    if not path.is_file():
        raise _missing(path, folder)
    return read_json_record(path, _remedy(folder))


def _missing(path: Path, folder: Path) -> InputError:
    return InputError(f"{path}: is missing, so run {folder.name} is not finished.\n{_remedy(folder)}")


def _remedy(folder: Path) -> str:
    return f"Run the same command again: finished work is reused, and {folder} is written anew."


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _figures(value: object) -> dict[str, float]:
    return {str(name): float(figure) for name, figure in _mapping(value).items() if isinstance(figure, int | float)}


def open_named(arguments: Sequence[str], usage: str) -> list[RunFolder]:
    """Open every run that a command's arguments name: ``RUN`` or ``run=RUN``, with ``artifacts=DIR`` among them.

    Raises:
        ConfigError: if no run is named.
        InputError: if one isn't found or isn't finished.
    """
    artifacts = Path("artifacts")
    references = []
    for argument in arguments:
        if argument.startswith("artifacts="):
            artifacts = Path(argument.removeprefix("artifacts="))
        else:
            references.append(argument.removeprefix("run="))
    if not references:
        raise ConfigError(f"Name at least one run.\nUsage: {usage}")
    return [open_run(artifacts, reference) for reference in references]
